"""Which graphs are judged: shipped ones, that of a folder, or one that is made of somebody's own list."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from conformance.graphs.data import settled
from conformance.graphs.files import GRAPH, RESULTS, read_document, read_task, write_task
from conformance.graphs.task import Settings, Task, TaskError
from conformance.graphs.tasks import TASKS, shipped
from conformance.program import program
from conformance.report.screen import say
from graph import read

_FIRST = "images"  # what is written where no other is asked for
_RECORDS = ("records", "inputs")  # of a document of records, beside the settings


def tasks_of(options: argparse.Namespace, judges: bool) -> list[Task]:
    """Return what is judged; a task is written first where the folder has none, and nothing is to be judged.

    Raises TaskError and GraphError.
    """
    folder: Path | None = options.folder
    if folder is None:
        return [shipped(name, options.seed) for name in options.task or TASKS]
    if (folder / GRAPH).exists():
        return [read_task(folder)]
    if judges:
        raise TaskError(f"{folder / GRAPH}: expected a task, got none; `graph {folder}` alone writes one")
    if len(options.task) > 1 or (options.list and options.task):
        raise TaskError("--task: expected one graph to write to a folder, got several")
    task = _own(options) if options.list else shipped((options.task or [_FIRST])[0], options.seed)
    _tell(task, write_task(task, folder))
    return [task]


def _own(options: argparse.Namespace) -> Task:
    """The task of somebody's own list."""
    document = read_document(options.list)
    settings = Settings.read(document.pop("settings", {"optimizer": "sgd"}))
    if unknown := [name for name in document if name not in _RECORDS]:
        raise TaskError(f"{options.list}: expected records, inputs and settings, got {unknown[0]} too")
    graph, shapes = read(document), dict(options.shape)
    if unknown := [name for name in shapes if name not in graph.inputs]:
        raise TaskError(f"--shape {unknown[0]}: expected one of the inputs {', '.join(graph.inputs)}")
    if lacking := [name for name in graph.inputs if name not in shapes]:
        raise TaskError(f"{options.list}: expected the shape of {lacking[0]}, got none: --shape {lacking[0]}=4,3")
    return settled(graph, shapes, settings, _name(options.list.stem), options.seed)


def _name(stem: str) -> str:
    """A task's name of that of a file: letters, digits, - and _."""
    name = "".join(one if one.isalnum() or one in "-_" else "_" for one in stem)
    return name if any(map(str.isalnum, name)) else "graph"


def _tell(task: Task, paths: Sequence[Path]) -> None:
    """Say what was written, and what is wanted."""
    folder, kinds = paths[0].parent, Counter(name.partition(".")[0] for name in task.wanted)
    counts = ", ".join(f"{count} {kind}.NAME" for kind, count in kinds.items())
    say(f"wrote {' and '.join(map(str, paths))}")
    say(f"your engine writes {folder / RESULTS}, float32: {counts} ({GRAPH} lists them as wanted)")
    say(f"judge it: {program()} graph {folder} --results {folder / RESULTS}")
