"""`watch`: judge a library, module or step again as often as its file changes."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from bindings import BindingError
from conformance.candidates.candidate import Candidate, CandidateError, ask, close_idle_workers, read_schedule
from conformance.candidates.exports import files
from conformance.candidates.module.source import Module, find, find_step
from conformance.catalogue.prepared import Store, kept_between_runs
from conformance.commands.candidates import add_framework
from conformance.commands.options import (
    add_command,
    add_contract,
    add_exported,
    add_selection,
    cores,
    nothing,
    positive,
)
from conformance.commands.run.command import judgements
from conformance.exit_codes import HARNESS, PASSED
from conformance.limits import ContractError
from conformance.report.lines import printed
from conformance.report.record import Run, verdict
from conformance.report.screen import Screen
from conformance.report.terminal import show
from conformance.steps import RUN_LENGTH

from .files import Stamps, stamp, stamps, wait
from .rounds import judged
from .warm import WarmStore

_EXAMPLES = """\
  watch --library libyours.so -k rmsnorm      one operation, whenever the library is linked anew
  watch --library libyours.so --exported      all that it has
  watch --module mine.py -o rmsnorm,silu      functions of Python, whenever a file of theirs is saved
  watch --step mine.py:step                   a whole training step
"""
_EXIT = "Ctrl-C ends it.  exit code: that of the last verdict; 2 there was none"
# Options of `run` that a watched candidate has not.
_ABSENT = (
    *("outputs", "inputs", "declarations", "repro", "report", "jsonl", "on", "ratchet", "waivers"),
    *("last_failed", "exitfirst"),
)


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "watch", "judge again whenever a file changes", run, _EXAMPLES, _EXIT)
    candidate = parser.add_mutually_exclusive_group(required=True)
    candidate.add_argument("--library", type=Path, metavar="PATH", help="the shared library to judge")
    candidate.add_argument("--module", metavar="FILE.py", help="or a module of Python, or package.module")
    candidate.add_argument("--step", metavar="FILE.py:FUNCTION", help="or a whole training step as one function")
    add_framework(parser)
    add_contract(parser)
    add_selection(parser)
    add_exported(parser)
    parser.add_argument("-n", type=positive, default=cores(), metavar="N", help="processes (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="another draw of every case's data (default: 0)")
    parser.add_argument(
        "--limit",
        type=float,
        default=20.0,
        metavar="S",
        help="seconds a call may take, a --step ten times (default: 20)",
    )
    orders = "in which order an emulated device runs threads: forward, reverse, random:SEED"
    parser.add_argument("--schedule", type=read_schedule, action="append", default=[], metavar="ORDER", help=orders)
    parser.set_defaults(**dict.fromkeys(_ABSENT), arch=[], run_length=RUN_LENGTH)


def run(options: argparse.Namespace) -> int:
    """Watch until the user ends it; return the exit code of the last verdict."""
    console, code = Screen(), HARNESS
    try:
        watched = Watched(options)
        with kept_between_runs() as store:
            code = watched.go(console, WarmStore(store))
    except (BindingError, CandidateError, ContractError, ValueError, OSError) as error:
        printed(console, escape(str(error)))
    finally:
        close_idle_workers()
    return code


class Watched:
    """A candidate, what its last verdict was, and which files it is made of."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.code = HARNESS
        self._failed: Sequence[str] = ()
        self._paths = [self._path()]

    def go(self, console: Console, store: Store) -> int:
        """Judge until the user ends it; return the exit code of the last verdict."""
        try:
            return self._rounds(console, store)
        except KeyboardInterrupt:
            printed(console, "\nended")
            return self.code

    def _rounds(self, console: Console, store: Store) -> int:
        """Judge, again and again; return where nothing was chosen to be judged."""
        seen: Stamps | None = None
        while True:
            is_library = self.options.library is not None
            seen = wait(self._paths, seen, lambda said: printed(console, escape(said)), is_library)
            printed(console, escape(f"{time.strftime('%H:%M:%S')} {self._paths[0].name}"))
            began = time.monotonic()
            close_idle_workers()  # which hold what the file was before
            try:
                [judgement] = judgements(console, self._asked(), [], store)
            except (BindingError, CandidateError) as error:  # as of a file that cannot be imported just now
                printed(console, f"[red]{escape(str(error))}[/]")
                self.code = HARNESS
                continue
            if not judgement.selection:
                return nothing(console, self.options)
            finished = judged(judgement, console, self._failed, partial(_differ, tuple(self._paths), seen))
            if finished is None:
                printed(console, "changed meanwhile")
                continue
            self._show(console, finished, time.monotonic() - began)
            seen = self._with_imports(judgement.candidate, seen)

    def _show(self, console: Console, finished: Run, seconds: float) -> None:
        """Show the verdict, in a line where it is a good one; remember what failed."""
        self.code = finished.code
        self._failed = [result.id for result in finished.results if result.has_failed]
        if finished.code == PASSED:
            printed(console, f"[bold green]{escape(verdict(finished))}[/]")
        else:
            show(console, [finished])
        printed(console, f"{seconds:.1f} s")

    def _with_imports(self, candidate: Candidate, seen: Stamps) -> Stamps:
        """Watch the files that a module has imported, too; return what has been seen of all."""
        if candidate.module is None:
            return seen
        known = dict(zip(self._paths, seen, strict=True))
        own = self._paths[0]
        self._paths = [own, *(path for path in map(Path, ask(candidate, files)) if path != own)]
        return tuple(known.get(path) or stamp(path) for path in self._paths)

    def _asked(self) -> argparse.Namespace:
        """The options as `run` has them: it takes several candidates."""
        library, module, step = (getattr(self.options, name) for name in ("library", "module", "step"))
        several = {
            "library": library and [("", library)],
            "module": module and [("", module)],
            "step": step and [("", step)],
        }
        return argparse.Namespace(**vars(self.options) | several)

    def _path(self) -> Path:
        """Return the file of the candidate.  Raises LibraryError for a module by name that is not there."""
        if self.options.library:
            path: Path = self.options.library
            return path.absolute()
        return self._module().path

    def _module(self) -> Module:
        if self.options.step:
            return find_step(self.options.step, self.options.framework)
        return find(self.options.module, self.options.framework)


def _differ(paths: Sequence[Path], seen: Stamps) -> bool:
    """Whether the files are no longer what was seen of them."""
    return stamps(paths) != seen
