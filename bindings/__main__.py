"""The command: `python -m bindings check LIBRARY`, `python -m bindings declarations --language rust`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .declarations import LANGUAGES, write
from .declarations.examine import examine
from .errors import BindingError
from .header.read import read_header


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}", description="The header and what follows from it."
    )
    commands = parser.add_subparsers(required=True)
    check = commands.add_parser("check", help="what a library lacks, has too much or declares otherwise")
    check.add_argument("library", type=Path)
    check.add_argument("--declarations", type=Path, metavar="FILE", help="C, Rust, Go, ctypes, or a library with -g")
    check.set_defaults(run=_check)
    declarations = commands.add_parser("declarations", help="print the header's declarations in another language")
    declarations.add_argument("--language", choices=LANGUAGES, required=True)
    declarations.set_defaults(run=_declarations)
    return parser


def _check(options: argparse.Namespace) -> int:
    found = examine(options.library, options.declarations)
    for sentence in found:
        print(sentence)
    if not found:
        print(f"{options.library}: exports what the header declares")
    return 1 if found else 0


def _declarations(options: argparse.Namespace) -> int:
    print(write(read_header(), options.language), end="")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 nothing wrong, 1 differences, 2 a file that cannot be read."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except BindingError as error:
        print(error, file=sys.stderr)
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
