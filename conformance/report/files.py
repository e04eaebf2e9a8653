"""The report for machines: JSON lines, which can be read back, and JUnit."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from conformance.judging.evidence import Evidence
from conformance.judging.results import Result, Status
from conformance.judging.verdict import Verdict

from .explanation import explained
from .record import Run
from .screen import escaped


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


def read_jsonl(path: Path) -> Run:
    """Read what `write_jsonl` wrote.  Raises ReportError."""
    try:
        head, *lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        known = {field.name for field in dataclasses.fields(Run)}
        run = {name: value for name, value in head["run"].items() if name in known}
        return Run(results=[_result(line) for line in lines], **run)
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"{path}: not a report written by `run --jsonl`: {error}") from None


def _result(line: dict[str, Any]) -> Result:
    verdicts = tuple(_record(Verdict, verdict) for verdict in line.pop("verdicts"))
    evidence = line.pop("evidence", None)
    shown = _record(Evidence, evidence | {"points": [tuple(p) for p in evidence["points"]]}) if evidence else None
    result: Result = _record(Result, line | {"status": Status(line["status"])})
    return dataclasses.replace(result, verdicts=verdicts, evidence=shown)


def _record(kind: Any, values: dict[str, Any]) -> Any:
    """A dataclass from its JSON: lists are tuples again, and "inf" and "nan" numbers."""
    made = {}
    for field in dataclasses.fields(kind):
        if field.name in values:
            value = values[field.name]
            made[field.name] = tuple(value) if isinstance(value, list) else value
            if field.type == "float":
                made[field.name] = float(value)
    return kind(**made)


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
