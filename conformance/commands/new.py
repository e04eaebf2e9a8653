"""`new`: a small candidate to start from."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from conformance.exit_codes import HARNESS, PASSED
from conformance.paths import CUDA, EXAMPLES

from .options import add_command

BESIDE = {"graphs": (CUDA / "include" / "assayer_graph.h",)}  # what a kind is compiled with
KINDS = {
    "c": "a shared library in C",
    "rust": "a shared library in Rust, without crates",
    "python": "a module of Python",
    "cuda": "kernels in CUDA, and a map that names them",
    "offline": "a program that reads files and writes files",
    "framework": "the backend of a framework of strided tensors, in C and in CUDA, and a map of its entry points",
    "graphs": "an engine that runs lists of operation records, in Python and in C",
}
_EXAMPLES = """\
  new --kind c mine              mine/rmsnorm.c, and mine/README.md with the commands that judge it
  new --kind cuda kernels        CUDA, which needs no GPU
"""
_EXIT = "exit code: 0 written; 2 the folder holds something, or cannot be written"


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "new", "write a small candidate to start from", run, _EXAMPLES, _EXIT)
    which = "; ".join(f"{kind}: {what}" for kind, what in KINDS.items())
    parser.add_argument("--kind", choices=KINDS, required=True, help=which)
    parser.add_argument("folder", type=Path, metavar="DIR", help="where: a folder that is empty, or not there yet")


def run(options: argparse.Namespace) -> int:
    """Write the files, print what they are and how to judge them, and return the exit code."""
    try:
        written = write(options.kind, options.folder)
    except OSError as error:
        print(error, file=sys.stderr)
        return HARNESS
    print(f"wrote {', '.join(map(str, written))}")
    readme = (options.folder / "README.md").read_text(encoding="utf-8")
    print(f"judge it, in {options.folder}:\n\n    " + "\n    ".join(first_commands(readme)))
    return PASSED


def write(kind: str, folder: Path) -> list[Path]:
    """Write the example of a kind to a folder and return its files.

    Raises FileExistsError or NotADirectoryError where something is in the way, and what writing raises.
    """
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder}: expected a folder that is empty or not there yet, got a file")
    if folder.is_dir() and (held := sorted(path.name for path in folder.iterdir())):
        raise FileExistsError(
            f"{folder}: expected a folder that is empty or not there yet, got one that holds {held[0]}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    files = (path for path in (EXAMPLES / kind).iterdir() if path.is_file())
    for source in sorted([*files, *BESIDE.get(kind, ())], key=lambda path: path.name):
        with (folder / source.name).open("xb") as file:  # nothing is written over, whoever else writes here
            file.write(source.read_bytes())
        written.append(folder / source.name)
    return written


def first_commands(readme: str) -> list[str]:
    """Return the lines of a page's first block of shell."""
    block = readme.partition("```sh\n")[2].partition("```")[0]
    return block.splitlines()
