"""The report for machines: JSON lines, which can be read back, and JUnit."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from conformance.candidates.finding import Finding, Misdeed
from conformance.judging.diagnoses import Diagnosis, Kind, Symptom
from conformance.judging.evidence import Evidence
from conformance.judging.results import Result, Status
from conformance.judging.verdict import Verdict
from conformance.limits.measure import MadeOf

from .explanation import explained
from .record import Run

VERSION = 2  # of the lines; 1 had findings and diagnoses as sentences


class ReportError(ValueError):
    """A file that is no report; the message names it and says why."""


def write_jsonl(path: Path, run: Run) -> None:
    """Write a line on the run, then a line for each case.  Numbers that are not finite are strings."""
    head = {field.name: getattr(run, field.name) for field in dataclasses.fields(run) if field.name != "results"}
    lines = [
        {"run": head | {"code": run.code, "version": VERSION}},
        *(dataclasses.asdict(result) for result in run.results),
    ]
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
        if (version := head["run"].get("version", 1)) != VERSION:
            raise ReportError(f"{path}: expected a report of version {VERSION}, got version {version}: judge once more")
        known = {field.name for field in dataclasses.fields(Run)}
        run = {name: value for name, value in head["run"].items() if name in known}
        return Run(results=[_result(line) for line in lines], **run)
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from None
    except ReportError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"{path}: not a report written by `run --jsonl`: {error}") from None


def _result(line: dict[str, Any]) -> Result:
    verdicts = tuple(_verdict(verdict) for verdict in line.pop("verdicts"))
    findings = tuple(Finding(Misdeed(found["kind"]), found["text"]) for found in line.pop("findings"))
    diagnosis, evidence = line.pop("diagnosis"), line.pop("evidence", None)
    shown = _record(Evidence, evidence | {"points": [tuple(p) for p in evidence["points"]]}) if evidence else None
    result: Result = _record(Result, line | {"status": Status(line["status"])})
    said = _diagnosis(diagnosis) if diagnosis else None
    return dataclasses.replace(result, verdicts=verdicts, findings=findings, diagnosis=said, evidence=shown)


def _verdict(held: dict[str, Any]) -> Verdict:
    made_of = held.pop("made_of")
    verdict: Verdict = _record(Verdict, held)
    return dataclasses.replace(verdict, made_of=MadeOf(made_of) if made_of else None)


def _diagnosis(held: dict[str, Any]) -> Diagnosis:
    symptoms = [_record(Symptom, symptom | {"kind": Kind(symptom["kind"])}) for symptom in held.pop("symptoms")]
    said: Diagnosis = _record(Diagnosis, held)
    return dataclasses.replace(said, symptoms=tuple(symptoms))


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
    """Write a JUnit file: one suite, the operation as class name.

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
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


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
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)
