"""`run`: judge a library."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from bindings import BindingError, NoDevice
from conformance.builds import TARGETS, BuildError, DeviceError
from conformance.candidates.candidate import (
    Candidate,
    CandidateError,
    candidates,
    close_idle_workers,
    read_schedule,
)
from conformance.candidates.exports import refuse_strangers
from conformance.catalogue.goldens import GoldenError
from conformance.catalogue.prepared import Store, kept_between_runs
from conformance.commands.candidates import add_framework, add_several, add_steps
from conformance.commands.options import (
    add_command,
    add_contract,
    add_exported,
    add_selection,
    cores,
    nothing,
    positive,
)
from conformance.exit_codes import HARNESS, NO_DEVICE, gravest
from conformance.linking import LinkError, link_exported
from conformance.report.files import ReportError, write_jsonl, write_junit
from conformance.report.markdown import write_summary
from conformance.report.progress import Follower
from conformance.report.record import Run, verdict
from conformance.report.screen import Screen
from conformance.report.terminal import close, show
from conformance.steps import RUN_LENGTH

from .judgement import Judgement, slug
from .kernels import add_kernels, judged_elsewhere
from .modules import check, found
from .own import rounds
from .ratchet import add_ratchet, check_ratchet, held_to_ratchet
from .repeat import add_inputs, add_repro
from .step import StepJudgement, step_candidates
from .waivers import Waiver, WaiverError, read_waivers

_EXAMPLES = """\
  run --library libyours.so                            the whole catalogue and the training steps
  run --library libyours.so -k 'rope and not special'  some of it
  run --library libyours.so --exported                 a port in progress: what it has, the rest in a line
  run --library libyours.so -o rmsnorm,silu            operations by their exact names
  run --library libyours.so --exported --ratchet FILE  and what passed once must pass: for CI
  run --library libyours.so --lf -x                    what failed the last time, up to the first failure
  run --library libyours.so --contract tf32            products in TF32 are what it promises
  run --library libyours.so --report page.html         a page with pictures of what went wrong
  run --library libyours.so --repro failures           what failed, in files: inputs, what came, what should have
  run --library libyours.so --inputs FILE              one of those calls again, or any of yours, at your shapes
  run --library libyours.so --jsonl now.jsonl          a report that `diff` and `report` read
  run --library old=A.so --library new=B.so -k gemm   several side by side
  run --library libemulated.so --schedule reverse      the threads of an emulated device in another order
  run --module mine.py --exported                      functions of Python: NumPy, PyTorch, JAX
  run --step mine.py:step                              a whole training step in Python, tensor by tensor
  run --cuda mine.cu --map mine.toml --exported        CUDA sources, whose functions a map names
  run --library libmine.so --map mine.toml --exported  a framework of strided tensors, whose entry points a map names
  run --on stub --on emulated                          this project's own builds, the kernels in every order
  run --outputs results/                               files of outputs, written from the goldens' inputs
"""


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "run", "judge a library", run, _EXAMPLES)
    several = "the shared library to judge (repeatable), and what reports call it (default: its file's name)"
    candidate = parser.add_mutually_exclusive_group(required=True)
    candidate.add_argument("--library", type=library, action="append", metavar="[NAME=]PATH", help=several)
    add_several(candidate)
    add_steps(candidate)
    candidate.add_argument("--outputs", type=Path, metavar="DIR", help="or a folder of outputs (golden/OUTPUTS.md)")
    own = "or a build of this project's own (repeatable)"
    candidate.add_argument("--on", action="append", choices=TARGETS, help=own)
    add_kernels(candidate, parser)
    add_framework(parser)
    compared = "the library's own declarations, to compare; or the library itself, where it was compiled with -g"
    parser.add_argument("--declarations", type=Path, metavar="FILE", help=compared)
    parser.add_argument("--waivers", type=Path, metavar="FILE", help="failures that somebody answers for (TOML)")
    add_contract(parser)
    exact = add_selection(parser)
    add_inputs(exact)
    exact.add_argument("--last-failed", "--lf", action="store_true", help="only what did not pass the last time")
    partial = parser.add_argument_group("a port in progress")
    add_exported(partial)
    add_ratchet(partial)
    _add_manner(parser)
    _add_reports(parser)


def _add_manner(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how")
    group.add_argument("-n", type=positive, default=cores(), metavar="N", help="processes (default: %(default)s)")
    group.add_argument("-x", "--exitfirst", action="store_true", help="stop at the first case that does not pass")
    group.add_argument("--seed", type=int, default=0, help="another draw of every case's data (default: 0)")
    fresh = "prepare all cases anew, and keep nothing of that behind the run"
    group.add_argument("--fresh", action="store_true", help=fresh)
    run_length = "steps of the training run (default: %(default)s; the replicas of a longer one are made first)"
    group.add_argument("--run-length", type=positive, default=RUN_LENGTH, metavar="N", help=run_length)
    orders = "in which order an emulated device runs threads: forward, reverse, random:SEED (repeatable)"
    group.add_argument("--schedule", type=schedule, action="append", default=[], metavar="ORDER", help=orders)
    limits = "which architecture's limits an emulated device has: sm_70 ... (repeatable)"
    group.add_argument("--arch", action="append", default=[], metavar="SM", help=limits)
    group.add_argument(
        "--limit",
        type=float,
        default=20.0,
        metavar="S",
        help="seconds a call may take, a --step ten times (default: 20)",
    )


def _add_reports(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("reports")
    every = "rows and failures of every operation; twice: a line for each case as it is judged, too"
    group.add_argument("-v", "--verbose", action="count", default=0, help=every)
    group.add_argument("-q", "--quiet", action="store_true", help="the closing lines only")
    group.add_argument("--durations", type=int, default=0, metavar="N", help="the slowest N cases")
    group.add_argument("--report", type=Path, metavar="FILE", help="write a page that a browser shows (HTML)")
    group.add_argument("--summary", type=Path, metavar="FILE", help="write a comment for a pull request (Markdown)")
    group.add_argument("--jsonl", type=Path, metavar="FILE", help="write a line of JSON for each case")
    group.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit file")
    add_repro(group)


def library(text: str) -> tuple[str, Path]:
    """Read the value of --library for argparse: a file that is there is one, whatever its name."""
    name, equals, path = text.partition("=")
    return (name, Path(path)) if equals and not Path(text).exists() else ("", Path(text))


def schedule(text: str) -> str:
    """Read the value of --schedule for argparse."""
    try:
        return read_schedule(text)
    except CandidateError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(options: argparse.Namespace) -> int:
    """Judge, report, and return the exit code."""
    console = Screen()
    try:
        check_ratchet(options)
        if (code := judged_elsewhere(options)) is not None:
            return code
        with kept_between_runs(fresh=options.fresh) as store:
            finished = held_to_ratchet(options, _finished(console, options, store))
    except (NoDevice, DeviceError) as error:
        _say(console, error)
        return NO_DEVICE
    except (BindingError, BuildError, CandidateError, WaiverError, GoldenError, ValueError, OSError) as error:
        _say(console, error)
        for sentence in _unresolved(error, options):
            _say(console, f"  {sentence}")
        return HARNESS
    finally:
        close_idle_workers()
    if not finished:
        return nothing(console, options)
    _report(console, options, finished)
    try:
        _write(options, finished)
    except ReportError as error:
        _say(console, error)
        return HARNESS
    return gravest(one.code for one in finished)


def _say(console: Console, said: object) -> None:
    console.print(str(said), markup=False, highlight=False, soft_wrap=True)


def _unresolved(error: Exception, options: argparse.Namespace) -> list[str]:
    """All that a library lacks which cannot be opened: the loader names the first alone."""
    if "undefined symbol" not in str(error) or not options.library:
        return []
    with contextlib.suppress(BindingError, LinkError, OSError):
        return [sentence for _, path in options.library for sentence in link_exported(path).unresolved]
    return []


def _finished(console: Console, options: argparse.Namespace, store: Store) -> list[Run]:
    """The runs of all candidates; none where nothing was chosen."""
    waivers = read_waivers(options.waivers) if options.waivers else []
    follower = Follower(console, every=options.verbose > 1, quiet=options.quiet)
    finished: list[Run] = []
    for asked in rounds(console, options):
        for judgement in judgements(console, asked, waivers, store):
            if not judgement.selection:
                return []
            if judgement.several and not options.quiet:
                _say(console, f"judging {judgement.name}")
            finished.append(judgement.run(follower))
            if judgement.several and not options.quiet:
                _say(console, f"  {verdict(finished[-1])}")
    return finished


def judgements(
    console: Console, options: argparse.Namespace, waivers: Sequence[Waiver], store: Store
) -> list[Judgement | StepJudgement]:
    """Return what is judged in one round: what stands against any of it is said before the first is judged."""
    for _, path in options.library or ():
        refuse_strangers(path)
    asked = _candidates(options)
    several = len(asked) > 1 or len(set(options.on or ())) > 1
    kind: type[Judgement | StepJudgement] = StepJudgement if options.step else Judgement
    return [kind(console, options, candidate, waivers, store, several) for candidate in asked]


def _candidates(options: argparse.Namespace) -> list[Candidate]:
    check(options)
    if options.outputs:
        return [Candidate(options.outputs)]
    if options.module:
        return found(options)
    if options.step:
        return step_candidates(options)
    return candidates(options.library, options.schedule, options.arch, getattr(options, "compiled", None))


def _report(console: Console, options: argparse.Namespace, finished: Sequence[Run]) -> None:
    if not options.quiet:
        show(console, finished, options.verbose > 0, options.durations)
    close(console, finished, alone=options.quiet, every=options.verbose > 0)


def _write(options: argparse.Namespace, finished: Sequence[Run]) -> None:
    """Write the files that were asked for.  Raises ReportError on the first that cannot be, once the others are."""
    several = len(finished) > 1
    writers = [partial(write_jsonl, _named(options.jsonl, one, several), one) for one in finished if options.jsonl]
    writers += [partial(write_junit, _named(options.junit, one, several), one) for one in finished if options.junit]
    if options.report:
        from conformance.report.page import write_page  # here: pictures and templates take long to load

        writers.append(partial(write_page, options.report, finished))
    writers += [partial(write_summary, options.summary, finished)] * bool(options.summary)
    failed: list[ReportError] = []
    for write in writers:
        try:
            write()
        except ReportError as error:
            failed.append(error)
    if failed:
        raise failed[0]


def _named(path: Path, run: Run, several: bool) -> Path:
    """A file that holds one run has its candidate in its name where there are several."""
    return path.with_stem(f"{path.stem}-{slug(run.candidate)}") if several else path
