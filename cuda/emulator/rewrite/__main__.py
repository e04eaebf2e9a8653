"""Turn a CUDA source file into C++ for the emulator: python cuda/emulator/rewrite INPUT OUTPUT NAME

NAME is what compilers, debuggers and reports call the file.  Every line stays where it was.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from launches import rewrite_launches
from ptx import rewrite_ptx
from shared_memory import rewrite_shared_memory


def rewrite_words(source: str) -> str:
    """Rewrite __noinline__, which cannot be a macro: standard headers write __attribute__((__noinline__))."""
    return re.sub(r"(?<!\()\b__noinline__\b", "__attribute__((noinline))", source)


def main() -> int:
    """Rewrite one file; return the exit status."""
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    source, output, name = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    try:
        given = source.read_text(encoding="utf-8")
        rewritten = rewrite_words(rewrite_shared_memory(rewrite_launches(rewrite_ptx(given))))
    except ValueError as error:
        print(f"{source}: {error}", file=sys.stderr)
        return 1
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(f'#line 1 "{name}"\n{rewritten}', encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
