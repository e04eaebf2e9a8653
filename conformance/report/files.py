"""The report for machines: JSON lines, which can be read back, and JUnit."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar
from xml.etree import ElementTree

from conformance.decoding import DecodingError, decode
from conformance.judging.results import Result, Status

from .explanation import explained
from .record import Run, counted
from .screen import escaped
from .writing import ReportError, write_whole

__all__ = ["ReportError", "read_jsonl", "write_jsonl", "write_junit"]

_Line = TypeVar("_Line")

VERSION = 2  # of the lines; 1 had findings and diagnoses as sentences


def write_jsonl(path: Path, run: Run) -> None:
    """Write a line on the run, then a line for each case.  Numbers that are not finite are strings.

    The first line says how many cases follow: so that a file that was cut is known.  Raises ReportError.
    """
    head = {field.name: getattr(run, field.name) for field in dataclasses.fields(run) if field.name != "results"}
    head |= {"code": run.code, "version": VERSION, "cases": len(run.results)}
    lines = [{"run": head}, *(dataclasses.asdict(result) for result in run.results)]
    write_whole(path, "".join(json.dumps(_finite(line), allow_nan=False) + "\n" for line in lines))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


@dataclasses.dataclass(frozen=True)
class _Numbers:
    """What the first line says of the others."""

    version: int = 1
    cases: int = 0


@dataclasses.dataclass(frozen=True)
class _Form:
    """The first line of a report, as far as every version has it."""

    run: _Numbers


@dataclasses.dataclass(frozen=True)
class _Head:
    """The first line of a report."""

    run: Run


def read_jsonl(path: Path) -> Run:
    """Read what `write_jsonl` wrote.  Raises ReportError, which names file, line, what was expected and what came."""
    try:
        head, *lines = path.read_bytes().splitlines() or [b""]
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from None
    form = _line(_Form, path, 1, head).run
    if form.version != VERSION:
        raise ReportError(
            f"{path}: expected a report of version {VERSION}, got version {form.version}: judge once more"
        )
    run = _line(_Head, path, 1, head).run
    if form.cases != len(lines):
        cases = counted(form.cases, "case")
        raise ReportError(f"{path}: expected {cases}, got {len(lines)}: the file is not whole, and holds no verdict")
    return dataclasses.replace(run, results=[_line(Result, path, place, line) for place, line in enumerate(lines, 2)])


def _line(kind: type[_Line], path: Path, place: int, line: bytes) -> _Line:
    try:
        return decode(kind, line)
    except DecodingError as error:
        raise ReportError(f"{path}: not a report written by `run --jsonl`: line {place}: {error}") from None


_SKIPPED = (Status.NOT_RUN, Status.WAIVED, Status.TOO_FINE, Status.NOT_SUPPORTED)
_ELEMENT = {Status.FAIL: "failure", **dict.fromkeys(_SKIPPED, "skipped")}


def write_junit(path: Path, run: Run) -> None:
    """Write a JUnit file: one suite, the operation as class name.  Raises ReportError.

    What is wrong beside the cases is a failure in it, and each operation or step that is not there skipped.
    """
    suite = ElementTree.Element("testsuite", _numbers(run))
    for result in run.results:
        described = {"classname": result.operation, "name": result.id, "time": f"{result.seconds:.6f}"}
        case = ElementTree.SubElement(suite, "testcase", described)
        if result.status is not Status.PASS:
            kind = _ELEMENT.get(result.status, "error")
            problem = ElementTree.SubElement(case, kind, type=str(result.status), message=_printable(result.reason))
            problem.text = _printable("\n".join(explained(result, run)))
    for name, kind, message in _beside(run):
        case = ElementTree.SubElement(suite, "testcase", classname=run.candidate, name=name, time="0")
        ElementTree.SubElement(case, kind, type=kind, message=_printable(message))
    write_whole(path, ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))


def _beside(run: Run) -> Iterator[tuple[str, str, str]]:
    """Yield name, kind and message of what a run says beside its cases."""
    for number, problem in enumerate(run.problems, 1):
        yield f"problem {number}", "failure", problem
    for operation in run.absent:
        yield operation, "skipped", "not exported"
    for step, lacks in run.left_out.items():
        yield step, "skipped", f"calls {', '.join(lacks)}, not exported"


def _numbers(run: Run) -> dict[str, str]:
    beside = [kind for _, kind, _ in _beside(run)]
    kinds = [_ELEMENT.get(r.status, "error") for r in run.results if r.status is not Status.PASS] + beside
    numbers = {"tests": len(run.results) + len(beside), "failures": kinds.count("failure")}
    numbers |= {"skipped": kinds.count("skipped"), "errors": kinds.count("error")}
    return {name: str(n) for name, n in numbers.items()} | {"name": run.candidate, "time": f"{run.seconds:.3f}"}


def _printable(text: str) -> str:
    """XML holds no control characters; a crashed library may have printed some."""
    return escaped(text)
