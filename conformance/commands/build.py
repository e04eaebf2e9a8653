"""`build`: compile this project's own libraries."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from conformance.builds import TARGETS, BuildError, build, nvcc
from conformance.exit_codes import HARNESS, PASSED

from .options import add_command

_EXAMPLES = """\
  build stub                                        the C library; its path is printed
  build emulated                                    the kernels, on the emulated GPU
  build cuda -D ASSAYER_ARCHITECTURES=90-real       the kernels, for one architecture; needs nvcc
  build stub --folder build/debug -D CMAKE_BUILD_TYPE=RelWithDebInfo
"""
_WHERE = "where (default: build/TARGET of a checkout, or a folder of the user's cache)"
_EXIT = "exit code: 0 built; 2 something is missing, or the compiler has refused"


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "build", "compile this project's own libraries", run, _EXAMPLES, _EXIT)
    which = "; ".join(f"{name}: {what}" for name, what in TARGETS.items())
    parser.add_argument("target", choices=TARGETS, metavar="TARGET", help=which)
    parser.add_argument("--folder", type=Path, metavar="DIR", help=_WHERE)
    what = "an option of cuda/CMakeLists.txt, or CMake's own (repeatable)"
    parser.add_argument(
        "-D", dest="defines", action="append", default=[], type=_define, metavar="NAME=VALUE", help=what
    )


def _define(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    return name, value


def run(options: argparse.Namespace) -> int:
    """Build, print the library's path, and return the exit code."""
    try:
        compiler = {"CUDACXX": nvcc()} if options.target == "cuda" else {}
        print(build(options.target, options.folder, dict(options.defines), compiler))
    except BuildError as error:
        print(error, file=sys.stderr)
        return HARNESS
    return PASSED
