"""`graph`: judge an engine that runs lists of operation records, record by record."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from bindings import BindingError, NoDevice
from conformance.builds import BuildError
from conformance.candidates.candidate import CandidateError, close_idle_workers
from conformance.candidates.module.graph import FUNCTION
from conformance.commands.candidates import add_framework
from conformance.commands.options import add_command
from conformance.exit_codes import HARNESS, NO_DEVICE, PASSED, gravest
from conformance.graphs.engines import EngineError
from conformance.graphs.files import GRAPH, RESULTS
from conformance.graphs.task import Task, TaskError
from conformance.graphs.tasks import TASKS
from conformance.report.files import ReportError, write_jsonl
from conformance.report.graphs import GraphRun, show
from conformance.report.screen import Screen, say
from conformance.report.writing import write_whole
from graph import GraphError

from .judged import asked, judged
from .tasks import tasks_of

_EXAMPLES = """\
  graph mine                                       write a graph to the folder: graph.json, inputs.safetensors
  graph mine --results mine/results.safetensors    judge what your engine wrote
  graph --module mine.py                           a function of Python, graph_step, on every shipped graph
  graph --library libmine.so --task layers         a library with assayer_graph_step, or with the header's operations
  graph mine --list mine.json --shape x=8,1,8,8 --shape label=8    write a graph of your own
  graph --on reference --on stub                   this project's own graph
"""
_ERRORS = (
    BindingError, BuildError, CandidateError, EngineError, GraphError, TaskError, ReportError, OSError
)  # fmt: skip


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "graph", "judge an engine that runs lists of operation records", run, _EXAMPLES)
    parser.add_argument("folder", type=Path, nargs="?", metavar="DIR", help="where a graph is, or is to be written")
    candidate = parser.add_mutually_exclusive_group()
    candidate.add_argument("--results", type=Path, metavar="FILE", help=f"what an engine has written ({RESULTS})")
    candidate.add_argument("--module", metavar="FILE.py", help=f"a module of Python with {FUNCTION}")
    library = "a library that exports assayer_graph_step (assayer_graph.h), or the header's operations"
    candidate.add_argument("--library", type=Path, metavar="PATH", help=library)
    own = "this project's own graph on the reference or on a build (repeatable)"
    candidate.add_argument("--on", action="append", choices=("reference", "stub", "emulated", "cuda"), help=own)
    add_framework(parser)
    which = "one of the shipped graphs (repeatable; default: all)"
    parser.add_argument("--task", action="append", choices=TASKS, default=[], help=which)
    parser.add_argument("--list", type=Path, metavar="FILE", help="a list of records to make the graph of, as JSON")
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
    """Write a graph, or judge engines; return the exit code."""
    try:
        return _carried_out(options)
    except NoDevice as error:
        say(error, wrong=True)
        return NO_DEVICE
    except _ERRORS as error:
        say(error, wrong=True)
        return HARNESS
    finally:
        close_idle_workers()


def _carried_out(options: argparse.Namespace) -> int:
    judges = bool(options.results or options.module or options.library or options.on)
    _check(options, judges)
    tasks = tasks_of(options, judges)
    if options.draw:
        _draw(options.draw, tasks)
    if not judges:
        return PASSED
    engines, codes = asked(options), []
    for engine in engines:
        found = judged(options, tasks, engine)
        show(Screen(), found, options.quiet)
        _write(options, found, len(engines) > 1)
        codes.append(found.run.code)
    return gravest(codes)


def _check(options: argparse.Namespace, judges: bool) -> None:
    """Raise TaskError on options that do not fit each other."""
    if options.results and not options.folder:
        raise TaskError("--results: expected the folder of its graph beside it: graph DIR --results FILE")
    if options.framework and not options.module:
        raise TaskError("--framework is of a module of Python; expected --module beside it")
    if options.list and not options.folder:
        raise TaskError("--list: expected a folder to write the graph to: graph DIR --list FILE")
    if options.shape and not options.list:
        raise TaskError("--shape: expected a list of records beside it: --list FILE")
    for name in ("report", "jsonl", "partial"):
        if getattr(options, name) and not judges:
            raise TaskError(f"--{name}: expected an engine to judge beside it: --results, --module, --library or --on")
    if options.folder and (options.folder / GRAPH).exists():
        for name in ("task", "list", "seed"):
            if getattr(options, name):
                raise TaskError(f"--{name}: expected a folder without a graph, got {options.folder / GRAPH}")
    if not (options.folder or judges or options.draw):
        raise TaskError(
            "expected a folder to write a graph to, or an engine to judge: graph DIR, graph --module FILE.py"
        )


def _write(options: argparse.Namespace, found: GraphRun, several: bool) -> None:
    """Write the files that were asked for, of several engines each its own.  Raises ReportError."""

    def named(path: Path) -> Path:
        return path.with_stem(f"{path.stem}-{found.run.candidate.replace(', ', '-')}") if several else path

    if options.jsonl:
        write_jsonl(named(options.jsonl), found.run)
    if options.report:
        from conformance.report.page.graphs import page  # here: pictures and templates take long to load

        write_whole(named(options.report), page(found))


def _draw(path: Path, tasks: list[Task]) -> None:
    """Draw the graphs, of several each to a file of its own."""
    from graph.draw import draw  # here: nothing else needs it

    for task in tasks:
        place = path.with_stem(f"{path.stem}-{task.name}") if len(tasks) > 1 else path
        write_whole(place, draw(task.graph, task.checked.shapes))
