"""The graph, and how it is read from dicts, as JSON has them: checked, typed, and normalised."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .attributes import read_attributes
from .errors import GraphError, refuse
from .kinds import KINDS
from .older import is_older, normalised
from .records import Record, unwritten


@dataclass(frozen=True, slots=True)
class Graph:
    """Records in any order, and the values that nobody writes: what a run is given, labels among them.

    A record's number is its place in `records`, counted from 0.
    """

    records: tuple[Record, ...]
    inputs: tuple[str, ...]

    @staticmethod
    def read(source: Any) -> Graph:
        """Return the graph of JSON text, of a dict with "records", or of a list of records (see graph.read)."""
        return read(source)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all parameters, in the order in which records name them first."""
        return tuple(dict.fromkeys(name for record in self.records for name in record.parameters))

    @property
    def outputs(self) -> tuple[str, ...]:
        """The values that are written and that no record reads."""
        read = {name for record in self.records for name in record.inputs}
        return tuple(record.output for record in self.records if record.output not in read)


FIELDS = ("kind", "inputs", "parameters", "output", "attributes")


def read(source: Any) -> Graph:
    """Return the graph of JSON text, of a dict with "records" (and "inputs"), or of a list of records.

    A record is a dict with kind, inputs, parameters (none where absent), output and its attributes, beside these or
    below "attributes"; or one of the older form (older.py). Raises GraphError that names the record, what was expected
    and what came.
    """
    if isinstance(source, str | bytes):
        try:
            source = json.loads(source)
        except ValueError as error:
            raise GraphError(f"graph: expected JSON, got text that is none: {error}") from error
    stated = None
    if isinstance(source, Mapping):
        if unknown := [str(name) for name in source if name not in ("records", "inputs")]:
            raise refuse("graph", "records and inputs", f"{unknown[0]} too")
        source, stated = source.get("records"), source.get("inputs")
    if not isinstance(source, Sequence) or isinstance(source, str | bytes):
        raise refuse("graph", "a list of records, or a dict with one as records", _described(source))
    records = tuple(read_record(number, record) for number, record in enumerate(source))
    inputs = None if stated is None else _names("graph: inputs", stated)
    if inputs is not None and len({*inputs}) < len(inputs):
        twice = next(name for name in inputs if inputs.count(name) > 1)
        raise refuse("graph: inputs", "every name once", f"{twice} twice")
    return make(records, inputs)


def make(records: Sequence[Record], inputs: Sequence[str] | None = None) -> Graph:
    """Return the graph of records; inputs: what nobody writes, found here where it is not stated."""
    return Graph(tuple(records), unwritten(records) if inputs is None else tuple(inputs))


def record(
    kind: str, inputs: Any, parameters: Any = (), output: str = "", number: int = 0, **attributes: Any
) -> Record:
    """Return one record, its attributes typed and complete; number: what errors call it by. Raises GraphError."""
    given = {"kind": kind, "inputs": inputs, "parameters": parameters, "output": output, "attributes": attributes}
    return read_record(number, given)


def read_record(number: int, given: Any) -> Record:
    """Return one record of a list, read from a dict."""
    if not isinstance(given, Mapping):
        raise refuse(f"record {number}", "a dict", _described(given))
    where = f"record {number} ({given.get('kind', '?')} -> {given.get('output', '?')})"
    if is_older(given):
        given = normalised(where, given)
    for field in ("kind", "inputs", "output"):
        if field not in given:
            raise refuse(f"{where}: {field}", "one", "nothing")
    name, output = given["kind"], given["output"]
    if not isinstance(name, str) or name not in KINDS:
        raise refuse(f"{where}: kind", f"one of {', '.join(KINDS)}", repr(name))
    if not isinstance(output, str) or not output:
        raise refuse(f"{where}: output", "a name", repr(output))
    inputs = _names(f"{where}: inputs", given["inputs"])
    parameters = _names(f"{where}: parameters", given.get("parameters", ()))
    kind = KINDS[name]
    attributes = kind.complete(where, read_attributes(where, kind.attributes, _attributes(where, given)))
    made = Record(name, inputs, parameters, output, attributes)
    kind.check_counts(where, made)
    return made


def _attributes(where: str, given: Mapping[str, Any]) -> dict[str, Any]:
    beside = {name: value for name, value in given.items() if name not in FIELDS}
    below = given.get("attributes", {})
    if not isinstance(below, Mapping):
        raise refuse(f"{where}: attributes", "a dict", _described(below))
    if twice := beside.keys() & below.keys():
        raise refuse(f"{where}: attribute {min(twice)}", "one value", "two")
    return beside | dict(below)


def _names(where: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise refuse(where, "a list of names", _described(given))
    for name in given:
        if not isinstance(name, str) or not name:
            raise refuse(where, "names", _described(name))
    return tuple(given)


def _described(value: Any) -> str:
    return "nothing" if value is None else f"{type(value).__name__} {value!r}"[:80]
