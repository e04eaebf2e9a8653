"""A task in a folder: graph.json and inputs.safetensors, which an engine reads; and the results that it wrote."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from conformance.catalogue.goldens import GoldenError
from conformance.catalogue.goldens.tensors import read as read_tensors
from graph import read

from .task import Settings, Task, TaskError

GRAPH, INPUTS, RESULTS = "graph.json", "inputs.safetensors", "results.safetensors"
_FIELDS = ("name", "records", "settings", "philox", "given", "wanted", "optional")
_SPARE = 1 << 20  # bytes beside what is due: a file's header, and tensors too many, which are named


def write_task(task: Task, folder: Path) -> list[Path]:
    """Write a task to a folder and return the files.  Raises TaskError where one is there already, or cannot be."""
    paths = [folder / GRAPH, folder / INPUTS]
    if there := next((path for path in paths if path.exists()), None):
        raise TaskError(f"{there}: expected a folder without a task, got one: nothing was written")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths[0].write_text(text_of(task), encoding="utf-8")
        paths[1].write_bytes(safetensors.numpy.save(dict(task.arrays)))
    except OSError as error:
        raise TaskError(f"{folder}: not written: {error.strerror}") from None
    return paths


def text_of(task: Task) -> str:
    """The document, a record in a line."""
    document = task.document
    lines = []
    for key, value in document.items():
        if isinstance(value, list):
            inner = ",\n".join(f"    {json.dumps(one)}" for one in value)
            lines.append(f"  {json.dumps(key)}: [\n{inner}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read_task(folder: Path) -> Task:
    """Read a task.  Raises TaskError and GraphError, which say what was expected and what came."""
    document = read_document(folder / GRAPH)
    if unknown := [name for name in document if name not in _FIELDS]:
        raise TaskError(f"{folder / GRAPH}: expected {', '.join(_FIELDS)}, got {unknown[0]} too")
    if "records" not in document:
        raise TaskError(f"{folder / GRAPH}: records: expected a list, got nothing")
    name = document.get("name", "graph")
    if not isinstance(name, str) or not name.replace("_", "").replace("-", "").isalnum():
        raise TaskError(f"{folder / GRAPH}: name: expected letters, digits, - and _, got {name!r}")
    arrays = read_arrays(folder / INPUTS)
    graph = read({"records": document["records"]})
    inputs, parameters = dict[str, NDArray[Any]](), dict[str, NDArray[Any]]()
    for tensor, array in arrays.items():
        group, _, bare = tensor.partition(".")
        if group not in ("input", "parameter"):
            raise TaskError(f"{folder / INPUTS}: {tensor}: expected input.NAME or parameter.NAME")
        (inputs if group == "input" else parameters)[bare] = array
    task = Task(name, graph, inputs, parameters, Settings.read(document.get("settings", {})))
    for tensor, array in task.arrays.items():
        due = "int32" if tensor.partition(".")[2] in task.checked.integers else "float32"
        if array.dtype.name != due:
            raise TaskError(f"{folder / INPUTS}: {tensor}: expected {due}, got {array.dtype}")
        if not np.isfinite(array).all():
            raise TaskError(
                f"{folder / INPUTS}: {tensor}: expected finite numbers, got {array[~np.isfinite(array)][0]}"
            )
    return task


def read_document(path: Path) -> dict[str, Any]:
    """Read a JSON object, or a list of records alone.  Raises TaskError."""
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise TaskError(f"{path}: expected a graph, got none: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise TaskError(f"{path}: expected JSON, got text that is none: {error}") from None
    if isinstance(found, list):
        return {"records": found}
    if not isinstance(found, Mapping):
        raise TaskError(f"{path}: expected a list of records, or an object that has one, got {found!r:.40}")
    return dict(found)


def read_arrays(path: Path, most: int | None = None) -> dict[str, NDArray[Any]]:
    """Read a safetensors file, of so many bytes at most, if that is said.  Raises TaskError."""
    if not path.exists():
        raise TaskError(f"{path}: expected a safetensors file, got none")
    try:
        return read_tensors(path, most)
    except GoldenError as error:
        raise TaskError(str(error)) from None


def read_results(path: Path, task: Task) -> dict[str, NDArray[Any]]:
    """Read what an engine has written for a task.  Raises TaskError."""
    due = sum(8 * max(1, math.prod(shape)) for shape in task.known.values())
    return read_arrays(path, due + _SPARE)
