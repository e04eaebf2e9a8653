"""`onnx`: write the goldens as ONNX node tests, or hold reference and library to those of the package `onnx`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from conformance.catalogue.goldens import GoldenError
from conformance.exit_codes import HARNESS
from conformance.onnx.export import export
from conformance.onnx.node_cases import judge_node_cases
from conformance.onnx.operators import OPERATORS
from conformance.onnx.table import lines
from graph.onnx_import.package import OnnxMissingError

from .options import add_command, add_operations

_EXAMPLES = """\
  onnx node_tests                            a folder for each golden that ONNX has operators for
  onnx node_tests -o 'gemm*' -o softmax      of these operations
  onnx --node-cases --library libyours.so    what ONNX's own cases say of the reference, and of a library
"""
_EXIT = "exit code: 0 written, or all that applies has passed; 1 a node case failed; 2 nothing was written or judged"


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(
        commands, "onnx", "write cases as ONNX node tests, or judge by ONNX's own", run, _EXAMPLES, _EXIT
    )
    parser.set_defaults(error=parser.error)
    parser.add_argument("folder", type=Path, nargs="?", metavar="DIR", help="where to write; new or empty")
    add_operations(parser)
    parser.add_argument("--node-cases", action="store_true", help="judge by the node cases of the package onnx instead")
    parser.add_argument("--library", type=Path, metavar="PATH", help="judged by the node cases beside the reference")


def run(options: argparse.Namespace) -> int:
    """Carry out the command and return its exit code."""
    if (options.folder is None) != options.node_cases or (options.library and not options.node_cases):
        options.error("expected DIR, or --node-cases, which --library PATH may stand beside")
    try:
        return _judge(options.library) if options.node_cases else _export(options)
    except (OnnxMissingError, GoldenError, OSError) as error:
        print(error, file=sys.stderr)
        return HARNESS


def _export(options: argparse.Namespace) -> int:
    written, left = export(options.folder, options.operation or [*OPERATORS])
    print(f"{written} node tests written to {options.folder}")
    for (operation, reason), count in left.items():
        print(f"not written: {count} of {operation}: {reason}")
    return 0 if written else HARNESS


def _judge(library: Path | None) -> int:
    found = judge_node_cases(library)
    print("\n".join(lines(found)))
    return int(any(case.failure for case in found)) if any(case.operation for case in found) else HARNESS
