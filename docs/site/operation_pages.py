"""A page for each operation, made of the header, the reference, the wrong readings and the cases."""

from __future__ import annotations

import inspect
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from words import code, fenced, plain, table

import reference
from bindings import header_path
from bindings.header.records import Function, Parameter
from conformance import operations
from conformance.catalogue.cases import CASES, DESIGNED, REFUSALS, SEQUENCES, Case
from conformance.catalogue.cases.data import DATA
from conformance.ids import operation_of
from conformance.operations import OPERATIONS
from reference.readings import READINGS, Reading

_DIRECTIONS = {"in": "read", "out": "written", "updated": "updated", "workspace": "scratch"}


def write_operations(folder: Path) -> None:
    """Write a page for each operation, and the list of them."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = header_path().read_text(encoding="utf-8").splitlines()
    readings = _by_operation(READINGS)
    for name, function in OPERATIONS.items():
        text = "\n".join(_page(name, function, lines, readings.get(name, ())))
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    (folder / "index.md").write_text("\n".join(_index(readings)), encoding="utf-8")


def _by_operation(readings: Sequence[Reading]) -> Mapping[str, Sequence[Reading]]:
    found: dict[str, list[Reading]] = {}
    for reading in readings:
        found.setdefault(reading.operation, []).append(reading)
    return found


def _index(readings: Mapping[str, Sequence[Reading]]) -> Iterator[str]:
    yield "# Operations\n"
    yield (
        f"The header declares {len(OPERATIONS)} operations. Each page has the formula, the arguments with their shapes,"
        " the reference in NumPy, the wrong readings that the judge knows by name, each with what its author believed,"
        " and the cases that tell them apart. The pages are generated; what they say stands in the header, in"
        " `reference/` and in `conformance/catalogue/`.\n"
    )
    families: dict[str, list[str]] = {}
    for name, function in OPERATIONS.items():
        families.setdefault(function.family, []).append(name)
    for family, names in families.items():
        yield f"## {family[0].upper() + family[1:]}\n"
        rows = (
            (f"[`{name}`]({name}.md)", plain(_first(OPERATIONS[name].doc)), str(len(readings.get(name, ()))))
            for name in names
        )
        yield from table(("operation", "computes", "wrong readings"), rows)


def _first(doc: str) -> str:
    """The first part of a header's comment, as far as a line of a table goes."""
    return textwrap.shorten(doc, 150, placeholder=" ...")


def _page(name: str, function: Function, lines: Sequence[str], readings: Sequence[Reading]) -> Iterator[str]:
    yield "---\norphan: true\n---\n"  # the list of operations leads here; each page's margin would hold all of them
    yield f"# `{name}`\n"
    yield from fenced(
        "text", textwrap.fill(" ".join(function.doc.split()), 100) if "\n" not in function.doc else function.doc
    )
    yield "## Declaration\n"
    yield from fenced("c", _declaration(function, lines))
    yield from table(
        ("argument", "type", "shape", "a call", "what holds of it"),
        (_argument(parameter) for parameter in function.parameters),
    )
    if function.requires:
        conditions = ", ".join(f"`{condition.text}`" for condition in function.requires)
        yield f"A call is refused with `ASSAYER_INVALID` unless {conditions}.\n"
    names = ", ".join(operations.signature(function).names)
    yield f"In Python, on a library and on the reference alike: `{name}({names})`.\n"
    yield from _reference(name)
    yield from _readings(readings)
    yield from _cases(name)


def _declaration(function: Function, lines: Sequence[str]) -> str:
    """The header's own lines, from the symbol to the semicolon; of one that a macro declares, what that expands to."""
    taken: list[str] = []
    start = next((i for i, line in enumerate(lines) if f" {function.symbol}(" in line), None)
    if start is None:
        return function.declaration
    for line in lines[start:]:
        taken.append(line)
        if ";" in line:
            break
    return "\n".join(taken)


def _argument(parameter: Parameter) -> tuple[str, ...]:
    shape = parameter.shape_text if parameter.is_array else ""
    if parameter.each:
        shape = f"{parameter.each[0]} arrays, of {parameter.each[1]}"
    way = "" if parameter.is_scalar or parameter.name == "stream" else _DIRECTIONS[parameter.direction]
    return code(parameter.name), code(parameter.ctype), code(shape), way, "; ".join(_held(parameter))


def _held(parameter: Parameter) -> Iterator[str]:
    if parameter.limit:
        kind, bound = parameter.limit
        yield (
            f"values from 0 and below `{bound.text}`"
            if kind == "WITHIN"
            else f"values below `{bound.text}`; negative ones have a meaning"
        )
    if parameter.read_if:
        yield f"read only where `{parameter.read_if.text}`"
    if parameter.host:
        yield "in host memory on every build"
    if parameter.strided:
        yield f"lies by `{parameter.strided.strides}`"
    if parameter.moving:
        yield "changes from step to step"
    if any(axis.or_zero for axis in parameter.shape):
        yield "may be empty"


def _reference(name: str) -> Iterator[str]:
    function = inspect.unwrap(getattr(reference, name))
    yield "## The reference\n"
    yield "In NumPy; it runs unchanged in float64, in float32, and on numbers that carry their rounding noise.\n"
    yield from fenced("python", textwrap.dedent(inspect.getsource(function)))


def _readings(readings: Sequence[Reading]) -> Iterator[str]:
    yield "## Wrong readings\n"
    if not readings:
        yield "None is stated by hand: what can go wrong here is planted mechanically.\n"
    told = [reading for reading in readings if not reading.equal]
    if told:
        yield "A candidate that computes one of these is told so by its name. Each fails at least one of the cases.\n"
    yield from table(
        ("the report says", "why it is wrong, or where it comes from"), ((plain(r.name), plain(r.why)) for r in told)
    )
    equal = [reading for reading in readings if reading.equal]
    if equal:
        yield "These differ from the formula and from no right result, so that no case can tell them:\n"
    yield from table(("reading", "why it is the same"), ((plain(r.name), plain(r.equal)) for r in equal))


def _cases(name: str) -> Iterator[str]:
    held = [case for id, case in CASES.items() if operation_of(id) == name]
    yield "## Cases\n"
    yield from table(("data", "what it is", "calls", "for example"), _rows(held))
    counts = {
        "calls by design": sum(operation_of(id) == name for id in DESIGNED),
        "that have to be refused": sum(operation_of(id) == name for id in REFUSALS),
        "in a row": sum(operation_of(id) == name for id in SEQUENCES),
    }
    said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    yield f"Beside them stand {said}.\n" if said else ""
    yield from fenced("sh", f"assayer run --library libyours.so -o {name}")


def _rows(cases: Sequence[Case]) -> Iterator[tuple[str, ...]]:
    many = Counter(case.data for case in cases)
    for data, count in many.items():
        first = next(case for case in cases if case.data == data)
        yield code(data), plain(DATA[data].__doc__ or ""), str(count), code(first.id)
