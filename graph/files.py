"""Graphs in JSON files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .errors import GraphError
from .reading import Graph
from .reading import read as read_graph


def to_json(graph: Graph) -> dict[str, Any]:
    """Return the graph as what JSON holds: records with their attributes beside the other fields, and the inputs."""
    records = [
        {
            "kind": record.kind,
            "inputs": [*record.inputs],
            "parameters": [*record.parameters],
            "output": record.output,
            **{name: [*value] if isinstance(value, tuple) else value for name, value in record.attributes.items()},
        }
        for record in graph.records
    ]
    return {"inputs": [*graph.inputs], "records": records}


def dumps(graph: Graph) -> str:
    """Return the graph as JSON text, a record a line: `graph.read` of it gives the same graph."""
    whole = to_json(graph)
    records = ",\n".join(f"    {json.dumps(record)}" for record in whole["records"])
    return f'{{\n  "inputs": {json.dumps(whole["inputs"])},\n  "records": [\n{records}\n  ]\n}}\n'


def write(graph: Graph, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write the graph to a file, whole or not at all. Raises GraphError where there is one, unless it may go."""
    place = Path(path)
    if place.exists() and not overwrite:
        raise GraphError(f"{place}: expected a path where nothing lies yet, got a file; overwrite=True replaces it")
    partial = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        partial.write_text(dumps(graph), encoding="utf-8")
        partial.replace(place)
    finally:
        partial.unlink(missing_ok=True)


def read(path: str | os.PathLike[str]) -> Graph:
    """Return the graph of a JSON file. Raises GraphError that names the file, and the record where one is wrong."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GraphError(f"{path}: expected a file of JSON text, got none that can be read: {error}") from error
    try:
        return read_graph(text)
    except GraphError as error:
        raise GraphError(f"{path}: {error}") from error
