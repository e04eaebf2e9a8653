"""The report for machines: JSON lines, which can be read back, and JUnit."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any, TypeVar
from xml.etree import ElementTree

from conformance.decoding import DecodingError, decode
from conformance.judging.results import Result, Status

from .explanation import explained
from .record import Run
from .screen import escaped

_Line = TypeVar("_Line")


class ReportError(ValueError):
    """A file that is no report; the message names it and says why."""


def write_jsonl(path: Path, run: Run) -> None:
    """Write a line on the run, then a line for each case.  Numbers that are not finite are strings."""
    head = {field.name: getattr(run, field.name) for field in dataclasses.fields(run) if field.name != "results"}
    lines = [{"run": head | {"code": run.code}}, *(dataclasses.asdict(result) for result in run.results)]
    path.write_text("".join(json.dumps(_finite(line), allow_nan=False) + "\n" for line in lines), encoding="utf-8")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


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
    run = _line(_Head, path, 1, head).run
    return dataclasses.replace(run, results=[_line(Result, path, place, line) for place, line in enumerate(lines, 2)])


def _line(kind: type[_Line], path: Path, place: int, line: bytes) -> _Line:
    try:
        return decode(kind, line)
    except DecodingError as error:
        raise ReportError(f"{path}: not a report written by `run --jsonl`: line {place}: {error}") from None


_ELEMENT = {Status.FAIL: "failure", Status.NOT_RUN: "skipped", Status.WAIVED: "skipped", Status.TOO_FINE: "skipped"}


def write_junit(path: Path, run: Run) -> None:
    """Write a JUnit file: one suite, the operation as class name."""
    suite = ElementTree.Element("testsuite", _numbers(run))
    for result in run.results:
        described = {"classname": result.operation, "name": result.id, "time": f"{result.seconds:.6f}"}
        case = ElementTree.SubElement(suite, "testcase", described)
        if result.status is not Status.PASS:
            kind = _ELEMENT.get(result.status, "error")
            problem = ElementTree.SubElement(case, kind, type=str(result.status), message=_printable(result.reason))
            problem.text = _printable("\n".join(explained(result, run)))
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def _numbers(run: Run) -> dict[str, str]:
    kinds = [_ELEMENT.get(r.status, "error") for r in run.results if r.status is not Status.PASS]
    numbers = {"tests": len(run.results), "failures": kinds.count("failure")}
    numbers |= {"skipped": kinds.count("skipped"), "errors": kinds.count("error")}
    return {name: str(n) for name, n in numbers.items()} | {"name": run.candidate, "time": f"{run.seconds:.3f}"}


def _printable(text: str) -> str:
    """XML holds no control characters; a crashed library may have printed some."""
    return escaped(text)
