"""Builds the C library with faults in it.

An object is kept under a name made of all that it depends on: its source, the headers and how it is compiled.  So a
build compiles the file that a fault has changed and links the rest as it was; a fault in a header compiles them all.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from bindings import header_path

from .fault import Fault, FaultError

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "cuda" / "src"
FOLDER = ROOT / "build" / "faults"
# Those of cuda/CMakeLists.txt, for the instructions that all processors of a kind have: a fault looks the same on each.
OPTIONS = ("-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-fopenmp", "-ffp-contract=fast", "-fno-math-errno",
           "-fno-trapping-math")  # fmt: skip


def build(*faults: Fault, folder: Path = FOLDER) -> Path:
    """Return the C library with these faults in it, built under `folder`; without any, the library as it is.

    Several processes may build at once.  Raises FaultError where a text does not stand in its file exactly once, and
    where the compiler is missing or refuses.
    """
    sources = read_sources()
    for fault in faults:
        sources = fault.planted(sources)
    name = _name(faults)
    objects = _objects(name, sources, folder / "objects")
    library = folder / name / "libassayer_faulty.so"
    _compile(name, library, "-shared", "-fopenmp", *map(str, objects), "-lm")
    return library


def read_sources() -> dict[str, str]:
    """Return the text of every C file and header of cuda/src, by its path there."""
    files = sorted(path for path in SOURCES.rglob("*") if path.suffix in {".c", ".h"})
    if not files:
        raise FaultError(f"expected the C library's sources in {SOURCES}, found none")
    return {path.relative_to(SOURCES).as_posix(): path.read_text(encoding="utf-8") for path in files}


def _objects(name: str, sources: Mapping[str, str], folder: Path) -> list[Path]:
    """Return an object for every C file, compiled where there is none yet."""
    headers = [text for file, text in sources.items() if file.endswith(".h")]
    shared = [*_compiler(), *OPTIONS, header_path().read_text(encoding="utf-8"), *headers]
    objects = {f: folder / f"{_digest([*shared, f, text])}.o" for f, text in sources.items() if f.endswith(".c")}
    missing = {file: path for file, path in objects.items() if not path.exists()}
    if missing:
        with tempfile.TemporaryDirectory() as tree:
            for file, text in sources.items():
                path = Path(tree) / file
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
            for file, path in missing.items():
                _compile(name, path, *OPTIONS, f"-I{header_path().parent}", "-c", str(Path(tree) / file))
    return list(objects.values())


def _compile(name: str, output: Path, *arguments: str) -> None:
    """Run the compiler; the output appears under its name when it is whole."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent) as folder:
        made = Path(folder) / output.name
        command = [*_compiler(), *arguments, "-o", str(made)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise FaultError(f"{name}: expected a C compiler, got: {error}; set CC to one") from None
        if done.returncode:
            raise FaultError(f"{name}: {shlex.join(command)} failed:\n{done.stderr}")
        made.replace(output)


def _compiler() -> list[str]:
    return shlex.split(os.environ.get("CC", "cc"))


def _name(faults: Iterable[Fault]) -> str:
    """A folder's name: the fault's own, or for several how many and which."""
    names = [fault.name for fault in faults]
    if len(names) > 1:
        return f"{len(names)}-faults-{_digest(names)[:8]}"
    return re.sub(r"\W+", "-", names[0]).strip("-") if names else "no-fault"


def _digest(texts: Iterable[str]) -> str:
    """One number for texts in their order."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
