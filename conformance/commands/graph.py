"""`graph`: judge an engine that runs lists of operation records, record by record."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bindings import BindingError, NoDevice
from conformance.builds import BuildError, build
from conformance.candidates.candidate import Candidate, CandidateError, module_candidates, worker_of
from conformance.candidates.module.graph import FUNCTION
from conformance.candidates.module.source import find
from conformance.candidates.sandbox.restrictions import described
from conformance.candidates.worker.begun import THREADS
from conformance.commands.run.judgement import handed as handed_as
from conformance.commands.run.judgement import today
from conformance.exit_codes import HARNESS, NO_DEVICE, PASSED
from conformance.graphs.data import settled
from conformance.graphs.engines import Engine, engine_of
from conformance.graphs.files import GRAPH, RESULTS, read_document, read_results, read_task, write_task
from conformance.graphs.handed import Handed, handed
from conformance.graphs.judge import Judged, judge_step
from conformance.graphs.task import Settings, Task, TaskError
from conformance.graphs.tasks import TASKS, shipped
from conformance.judging.evidence_selection import EvidenceSelector
from conformance.judging.results import Result
from conformance.report.files import ReportError, write_jsonl
from conformance.report.graphs import GraphRun, show
from conformance.report.record import Run
from conformance.report.screen import Screen, say
from conformance.report.writing import write_whole
from graph import GraphError, read

from .candidates import add_framework
from .options import add_command

_EXAMPLES = """\
  graph mine                                   write a task to the folder: graph.json, inputs.safetensors
  graph mine --task sequences                  another one
  graph mine --list mine.json --shape x=8,1,8,8 --shape label=8    a list of your own
  graph mine --results mine/results.safetensors        judge what your engine wrote
  graph --module mine.py                       a function of Python, graph_step(graph, arrays, settings), on every task
  graph --library libmine.so                   a library with assayer_graph_step, or with the header's operations
  graph --on reference --on stub               this project's own graph
"""
_ERRORS = (BindingError, BuildError, CandidateError, GraphError, TaskError, ReportError, OSError, ValueError)
_NOTE = "a whole step of an engine: single operations, memory and refused calls were not judged"


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "graph", "judge an engine that runs lists of operation records", run, _EXAMPLES)
    parser.add_argument("folder", type=Path, nargs="?", metavar="DIR", help="where the task is, or is to be written")
    candidate = parser.add_mutually_exclusive_group()
    candidate.add_argument("--results", type=Path, metavar="FILE", help=f"what an engine has written ({RESULTS})")
    candidate.add_argument("--module", metavar="FILE.py", help=f"a module of Python with {FUNCTION}")
    library = "a library that exports assayer_graph_step (assayer_graph.h), or the header's operations"
    candidate.add_argument("--library", type=Path, metavar="PATH", help=library)
    own = "our own graph on a build of this project's own, or on the reference (repeatable)"
    candidate.add_argument("--on", action="append", choices=("reference", "stub", "emulated"), help=own)
    add_framework(parser)
    parser.add_argument(
        "--task", action="append", choices=TASKS, default=[], help="of the shipped tasks (default: all)"
    )
    parser.add_argument("--list", type=Path, metavar="FILE", help="a list of records to make the task of, as JSON")
    shape = "the shape of an input of that list, NAME=4,6,3 (repeatable)"
    parser.add_argument("--shape", type=_shape, action="append", default=[], metavar="NAME=N,N", help=shape)
    parser.add_argument("--partial", action="store_true", help="judge what was handed in, and list the rest")
    parser.add_argument("--seed", type=int, default=0, help="another draw of the arrays (default: 0)")
    parser.add_argument("--limit", type=float, default=60.0, metavar="S", help="seconds a step may take (default: 60)")
    parser.add_argument("-q", "--quiet", action="store_true", help="the verdict only")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a page that a browser shows (HTML)")
    parser.add_argument("--jsonl", type=Path, metavar="FILE", help="write a line of JSON for each result")
    parser.add_argument("--draw", type=Path, metavar="FILE", help="draw the graph (SVG)")


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    """Read the value of --shape for argparse."""
    name, equals, lengths = text.partition("=")
    parts = lengths.split(",")
    if not (name and equals and all(part.isdigit() and int(part) for part in parts)):
        raise argparse.ArgumentTypeError(f"expected NAME=4,6,3, got {text!r}")
    return name, tuple(map(int, parts))


def run(options: argparse.Namespace) -> int:
    """Write a task, or judge an engine; return the exit code."""
    try:
        return _carried_out(options)
    except NoDevice as error:
        say(error, wrong=True)
        return NO_DEVICE
    except _ERRORS as error:
        say(error, wrong=True)
        return HARNESS


def _carried_out(options: argparse.Namespace) -> int:
    _check(options)
    tasks = _tasks(options)
    if options.draw:
        _draw(options.draw, tasks[0])
    asked = options.results or options.module or options.library or options.on
    if not asked:
        return PASSED
    code = PASSED
    for number, (name, candidate, named) in enumerate(_candidates(options)):
        found = _judged(options, tasks, name, candidate, named)
        show(Screen(), found, options.quiet)
        _write(options, found, number if options.on and len(options.on) > 1 else None)
        code = max(code, found.run.code)
    return code


def _check(options: argparse.Namespace) -> None:
    """Raise TaskError on options that do not fit each other."""
    if options.results and not options.folder:
        raise TaskError("--results: expected the folder of its task beside it: graph DIR --results FILE")
    if options.framework and not options.module:
        raise TaskError("--framework is of a module of Python; expected --module beside it")
    if options.list and not options.folder:
        raise TaskError("--list: expected a folder to write the task to: graph DIR --list FILE")
    if options.shape and not options.list:
        raise TaskError("--shape: expected a list of records beside it: --list FILE")
    if options.folder and (options.folder / GRAPH).exists():
        for name in ("task", "list", "seed"):
            if getattr(options, name):
                raise TaskError(f"--{name}: expected a folder without a task, got {options.folder / GRAPH}")
    if not (options.folder or options.results or options.module or options.library or options.on or options.draw):
        raise TaskError(
            "expected a folder to write a task to, or an engine to judge: graph DIR, graph --module FILE.py"
        )


def _tasks(options: argparse.Namespace) -> list[Task]:
    """What is judged: the folder's task, which is written first where there is none, or shipped ones."""
    folder = options.folder
    if folder is None:
        return [shipped(name, options.seed) for name in options.task or TASKS]
    if not (folder / GRAPH).exists():
        if options.results or options.module or options.library or options.on:
            raise TaskError(f"{folder / GRAPH}: expected a task, got none; `graph {folder}` alone writes one")
        task = _own(options) if options.list else shipped((options.task or ["images"])[0], options.seed)
        _tell(task, write_task(task, folder))
        return [task]
    return [read_task(folder)]


def _own(options: argparse.Namespace) -> Task:
    """The task of somebody's own list."""
    document = read_document(options.list)
    graph = read(document.get("records", document))
    shapes = dict(options.shape)
    if unknown := [name for name in shapes if name not in graph.inputs]:
        raise TaskError(f"--shape {unknown[0]}: expected one of the inputs {', '.join(graph.inputs)}")
    settings = Settings.read(document.get("settings", {"optimizer": "sgd"}))
    return settled(graph, shapes, settings, options.list.stem, options.seed)


def _tell(task: Task, paths: Sequence[Path]) -> None:
    """Say what was written, and what is wanted."""
    say(f"wrote {' and '.join(map(str, paths))}")
    kinds: dict[str, int] = {}
    for name in task.wanted:
        kinds[name.partition(".")[0]] = kinds.get(name.partition(".")[0], 0) + 1
    counts = ", ".join(f"{count} {kind}.NAME" for kind, count in kinds.items())
    say(f"your engine writes {paths[0].parent / RESULTS}, float32: {counts} (graph.json lists them as wanted)")
    say(f"judge it: assayer graph {paths[0].parent} --results {paths[0].parent / RESULTS}")


def _candidates(options: argparse.Namespace) -> list[tuple[str, Candidate | None, str]]:
    """What is judged: its name, the candidate, and how it was named."""
    if options.results:
        return [(options.results.name, None, str(options.results))]
    if options.module:
        module = replace(find(options.module, options.framework), step=FUNCTION)
        [made] = module_candidates([("", module)])
        return [(made.name.removesuffix(f":{FUNCTION}"), made, options.module)]
    if options.library:
        return [(options.library.name, Candidate(options.library), str(options.library))]
    return [
        (name, None if name == "reference" else Candidate(build(name), name), name)
        for name in dict.fromkeys(options.on)
    ]


def _judged(
    options: argparse.Namespace, tasks: Sequence[Task], name: str, candidate: Candidate | None, named: str
) -> GraphRun:
    """Judge an engine on every task."""
    started = time.monotonic()
    judged: list[Judged] = []
    stopped: list[Result] = []
    problems: list[str] = []
    selector = EvidenceSelector() if options.report else None
    isolation = ""
    outcomes: list[Handed | Result]
    if options.results:
        outcomes = [handed(tasks[0], read_results(options.results, tasks[0]))]
    else:
        outcomes, isolation = _ran(engine_of(candidate), tasks, options.limit)
    for task, outcome in zip(tasks, outcomes, strict=True):
        if isinstance(outcome, Result):
            stopped.append(outcome)
            continue
        judged.append(judge_step(task, outcome, options.partial, selector))
        problems += [f"{task.name}: {text}" for text in outcome.beside]
    option = next(f"--{one}" for one in ("results", "module", "library", "on") if getattr(options, one))
    record = Run(
        candidate=name,
        results=[*stopped, *(result for one in judged for result in one.results)],
        library=handed_as(candidate) if candidate and not options.on else named,
        option=option,
        options=str(options.folder) if options.folder else "",
        seed=options.seed,
        seconds=time.monotonic() - started,
        problems=problems,
        whole=not options.task and not options.folder,
        date=today().isoformat(),
        isolation=isolation,
        note=_NOTE,
        notes=_notes(judged, options.partial, problems),
    )
    return GraphRun(record, judged, stopped, options.partial)


def _ran(engine: Engine, tasks: Sequence[Task], limit_s: float) -> tuple[list[Handed | Result], str]:
    """What an engine made of every task, and what its process was kept from."""
    if engine.candidate is None:
        return [engine.run(task, None) for task in tasks], ""
    with worker_of(engine.candidate, THREADS, limit_s) as worker:
        kept = described(worker.process().restricted)
        return [engine.run(task, worker) for task in tasks], kept


def _notes(judged: Sequence[Judged], partial: bool, problems: Sequence[str]) -> list[str]:
    missed = [one for one in judged if partial and one.absent]
    said = [f"{one.task.name}: not handed in, and not judged: {', '.join(one.absent)}" for one in missed]
    return [*problems, *said]


def _write(options: argparse.Namespace, found: GraphRun, number: int | None) -> None:
    """Write the files that were asked for.  Raises ReportError."""

    def named(path: Path) -> Path:
        return path if number is None else path.with_stem(f"{path.stem}-{found.run.candidate}")

    if options.jsonl:
        write_jsonl(named(options.jsonl), found.run)
    if options.report:
        from conformance.report.page.graphs import page  # here: pictures and templates take long to load

        write_whole(named(options.report), page(found))


def _draw(path: Path, task: Task) -> None:
    from graph.draw import draw  # here: nothing else needs it

    write_whole(path, draw(task.graph, task.checked.shapes))
