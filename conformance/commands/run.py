"""`run`: judge a library."""

from __future__ import annotations

import argparse
import datetime
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from bindings import BindingError
from bindings.examine import differences
from conformance import last_failed, offline
from conformance.cases import CASES, REFUSALS
from conformance.gallery import hung
from conformance.goldens import GoldenError, catalogue_floor
from conformance.report.files import write_jsonl, write_junit
from conformance.report.markdown import write_summary
from conformance.report.page import write_page
from conformance.report.record import Run
from conformance.report.terminal import close, followed, show
from conformance.repro import check_new
from conformance.results import HARNESS, Result
from conformance.runner import Setting, judge_all
from conformance.selection import Selection
from conformance.steps import ENVELOPE, RUN_LENGTH, corpus
from conformance.waivers import Waiver, WaiverError, read_waivers, waive

from .options import add_command, add_contract, add_selection, chosen, cores, nothing, positive
from .repeat import add_inputs, add_repro, judged_inputs, kept, setting_of

_EXAMPLES = """\
  run --library libyours.so                            the whole catalogue and the training steps
  run --library libyours.so -k 'rope and not special'  some of it
  run --library libyours.so --lf -x                    what failed the last time, up to the first failure
  run --library libyours.so --contract tf32            products in TF32 are what it promises
  run --library libyours.so --report page.html         a page with pictures of what went wrong
  run --library libyours.so --repro failures           what failed, in files: inputs, what came, what should have
  run --library libyours.so --inputs FILE              one of those calls again
  run --library libyours.so --jsonl now.jsonl          a report that `diff` and `report` read
  run --outputs results/                               files of outputs, written from the goldens' inputs
"""


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "run", "judge a library", run, _EXAMPLES)
    candidate = parser.add_mutually_exclusive_group(required=True)
    candidate.add_argument("--library", type=Path, metavar="PATH", help="the shared library to judge")
    candidate.add_argument("--outputs", type=Path, metavar="DIR", help="or a folder of outputs (golden/OUTPUTS.md)")
    parser.add_argument("--name", help="what reports call it (default: the name of its file)")
    parser.add_argument("--declarations", type=Path, metavar="FILE", help="the library's own declarations, to compare")
    parser.add_argument("--waivers", type=Path, metavar="FILE", help="failures that somebody answers for (TOML)")
    add_contract(parser)
    exact = add_selection(parser)
    add_inputs(exact)
    exact.add_argument("--last-failed", "--lf", action="store_true", help="only what did not pass the last time")
    _add_manner(parser)
    _add_reports(parser)


def _add_manner(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how")
    group.add_argument("-n", type=positive, default=cores(), metavar="N", help="processes (default: %(default)s)")
    group.add_argument("-x", "--exitfirst", action="store_true", help="stop at the first case that does not pass")
    group.add_argument("--seed", type=int, default=0, help="another draw of every case's data (default: 0)")
    run_length = "steps of the training run (default: %(default)s; the replicas of a longer one are made first)"
    group.add_argument("--run-length", type=positive, default=RUN_LENGTH, metavar="N", help=run_length)
    group.add_argument("--limit", type=float, default=20.0, metavar="S", help="seconds a call may take (default: 20)")


def _add_reports(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("reports")
    group.add_argument("-v", "--verbose", action="store_true", help="a line for each case as it is judged")
    group.add_argument("-q", "--quiet", action="store_true", help="the closing lines only")
    group.add_argument("--durations", type=int, default=0, metavar="N", help="the slowest N cases")
    group.add_argument("--report", type=Path, metavar="FILE", help="write a page that a browser shows (HTML)")
    group.add_argument("--summary", type=Path, metavar="FILE", help="write a comment for a pull request (Markdown)")
    group.add_argument("--jsonl", type=Path, metavar="FILE", help="write a line of JSON for each case")
    group.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit file")
    add_repro(group)


def run(options: argparse.Namespace) -> int:
    """Judge, report, and return the exit code."""
    console = Console()
    try:
        waivers = read_waivers(options.waivers) if options.waivers else []
        problems = _examined(options)
        floor = catalogue_floor() if options.library else offline.floor()
        setting = setting_of(options)
        selection = _selected(console, options)
        if not selection:
            return nothing(console, options)
        all_of_it = selection.is_whole and not options.inputs
        _say_problems(console, problems, all_of_it)
        started = time.monotonic()
        results, stopped = _judged(console, options, setting, selection, waivers)
        seconds = time.monotonic() - started
    except (BindingError, WaiverError, GoldenError, ValueError, OSError) as error:
        console.print(str(error), markup=False, highlight=False, soft_wrap=True)
        return HARNESS
    whole = all_of_it and not stopped
    judged, stale = waive(kept(options, setting, results), waivers, _today(), whole)
    finished = Run(
        candidate=options.name or _candidate(options).name,
        results=judged,
        library=_shown(_candidate(options)),
        option="--library" if options.library else "--outputs",
        contract=options.contract,
        seed=options.seed,
        seconds=seconds,
        problems=[*stale, *(problems if all_of_it else [])],
        whole=whole,
        floor=floor + sum(result.is_of_step for result in judged) if whole else 1,
        text=corpus()[1] if any(result.is_of_step for result in judged) else "",
        date=_today().isoformat(),
        note="" if options.library else offline.NOTE,
    )
    _report(console, options, finished)
    return finished.code


def _examined(options: argparse.Namespace) -> list[str]:
    """What can be said against the candidate before anything is judged."""
    if options.repro:
        check_new(options.repro)
    if options.library:
        return differences(options.library, options.declarations)
    unfit = next((f"--{name}" for name in ("declarations", "seed", "inputs", "repro") if getattr(options, name)), "")
    if unfit:
        raise ValueError(f"{unfit} is of a library; files are held to the goldens, which have one seed")
    offline.check_folder(options.outputs)
    return offline.strangers(options.outputs)


def _candidate(options: argparse.Namespace) -> Path:
    path: Path = options.library or options.outputs
    return path


def _shown(path: Path) -> str:
    """The path from here, if it lies below, so that it can be pasted."""
    below = Path.cwd() in path.resolve().parents
    return str(path.resolve().relative_to(Path.cwd()) if below else path.resolve())


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def _selected(console: Console, options: argparse.Namespace) -> Selection:
    """What to judge; where nothing failed the last time, all that the keywords leave."""
    if options.last_failed:
        options.case = last_failed.recall(_candidate(options))
        if not options.case:
            console.print("nothing failed the last time: judging everything")
    return chosen(options) if options.library else offline.select_goldens(options.k, options.case)


def _say_problems(console: Console, problems: Sequence[str], whole: bool) -> None:
    if problems and not whole:
        problems = [f"differences from the header: {len(problems)} (`python -m bindings check` lists them)"]
    for line in problems:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _judged(
    console: Console, options: argparse.Namespace, setting: Setting, selection: Selection, waivers: Sequence[Waiver]
) -> tuple[list[Result], bool]:
    """The results in the catalogue's order, and whether the first failure has ended the run."""
    if options.inputs:
        return [judged_inputs(options.inputs, setting)], False
    order = {id: place for place, id in enumerate((*CASES, *REFUSALS))}
    results: list[Result] = []
    stopped = False
    if options.library:
        batches = judge_all(selection.cases, selection.steps, setting, options.n)
    else:
        batches = offline.judge_files(selection.cases, options.outputs, setting.evidence, setting.declared)
    for result in followed(console, batches, selection.expected, options.verbose):
        if selection.wants(result.id):
            results.append(result)
            stopped = options.exitfirst and not result.is_fine and not any(w.covers(result.id) for w in waivers)
            if stopped:
                break
    last_failed.remember(_candidate(options), results)
    return sorted(hung(results), key=lambda r: (order.get(r.id, len(order)), r.part == ENVELOPE, r.id)), stopped


def _report(console: Console, options: argparse.Namespace, finished: Run) -> None:
    if not options.quiet:
        show(console, finished, options.durations)
    close(console, finished)
    if options.report:
        write_page(options.report, [finished])
    if options.summary:
        write_summary(options.summary, [finished])
    if options.jsonl:
        write_jsonl(options.jsonl, finished)
    if options.junit:
        write_junit(options.junit, finished)
