"""The command line.  A command is a module with `add_parser(commands)`; here is the list of them."""

from __future__ import annotations

import argparse
import importlib
import itertools
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from conformance.candidates.sandbox.restrictions import TRUST, TRUST_OPTION
from conformance.candidates.worker.begun import begin
from conformance.exit_codes import EXIT, HARNESS
from conformance.pool import PoolError, one_thread_each
from conformance.program import program

# By name, in the order of the help.  A module is imported when its command is given: a single case is judged in less
# time than all of them take to load.
MODULES = {
    "run": "run.command",
    "watch": "watch.command",
    "new": "new",
    "list": "listing",
    "explain": "explain",
    "design": "design",
    "hunt": "hunt",
    "probe": "probe",
    "link": "link",
    "positional": "positional",
    "diff": "diff",
    "report": "report",
    "inspect": "inspect",
    "build": "build",
    "golden": "golden",
    "false-alarms": "false_alarms",
    "graph": "graph.command",
    "readings": "readings",
    "faults": "faults",
    "launches": "launches",
    "mutants": "mutants",
    "held-out": "held_out",
    "language": "language",
    "onnx": "onnx",
    "languages": "languages",
}

_WHAT = """Judge a library that exports the operations of cuda/include/assayer.h against the reference.

`run` judges it: every operation by itself, then whole training steps.  Limits are derived from the rounding noise of
the reference itself; no tolerance is chosen."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without one, print the help: nothing was judged."""
    one_thread_each()  # before NumPy is loaded: threads of BLAS take long to start, and forbid to copy this process
    words = sys.argv[1:] if arguments is None else arguments
    if TRUST_OPTION in words:
        os.environ[TRUST] = "1"
    if words[:1] == ["run"]:
        _open_early(words)
    parser = build_parser([words[0]] if words and words[0] in MODULES else MODULES)
    options = parser.parse_args(words, argparse.Namespace(words=[*words]))
    if not hasattr(options, "run"):
        parser.print_help()
        return HARNESS
    try:
        code: int = options.run(options)
    except PoolError as error:  # no failure of the library
        print(error, file=sys.stderr)
        return HARNESS
    return code


def _open_early(words: Sequence[str]) -> None:
    """Begin to open a library that is judged alone, as the rest of the command takes as long to load."""
    named = [word for option, word in itertools.pairwise(words) if option == "--library"]
    paths = [path for word in named for path in map(Path, (word, word.partition("=")[2])) if path.is_file()]
    if len(paths) == 1:
        begin(paths[0])


def build_parser(names: Iterable[str] = MODULES) -> argparse.ArgumentParser:
    """Return a parser that knows these commands."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(program(), description=_WHAT, epilog=EXIT, formatter_class=layout)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name in names:
        importlib.import_module(f".{MODULES[name]}", __package__).add_parser(commands)
    return parser
