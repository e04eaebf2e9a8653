"""The report for machines: JSON lines and JUnit."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from conformance.results import Result, Status

from .terminal import explained


def write_jsonl(path: Path, results: Iterable[Result], run: dict[str, Any]) -> None:
    """Write a line on the run, then a line for each case.  Numbers that are not finite are strings."""
    lines = [{"run": run}, *(dataclasses.asdict(result) for result in results)]
    path.write_text("".join(json.dumps(_finite(line), allow_nan=False) + "\n" for line in lines), encoding="utf-8")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


_ELEMENT = {Status.FAIL: "failure", Status.NOT_RUN: "skipped"}


def write_junit(path: Path, results: Sequence[Result], seconds: float) -> None:
    """Write a JUnit file: one suite, the operation as class name."""
    bad = [r for r in results if r.status is not Status.PASS]
    failures, skipped = (sum(r.status is s for r in bad) for s in (Status.FAIL, Status.NOT_RUN))
    numbers = {"tests": len(results), "failures": failures, "skipped": skipped}
    numbers["errors"] = len(bad) - failures - skipped
    attributes = {name: str(n) for name, n in numbers.items()} | {"name": "conformance", "time": f"{seconds:.3f}"}
    suite = ElementTree.Element("testsuite", attributes)
    for result in results:
        described = {"classname": result.operation, "name": result.id, "time": f"{result.seconds:.6f}"}
        case = ElementTree.SubElement(suite, "testcase", described)
        if result.status is not Status.PASS:
            kind = _ELEMENT.get(result.status, "error")
            problem = ElementTree.SubElement(case, kind, type=str(result.status), message=_printable(result.reason))
            problem.text = _printable("\n".join(explained(result)))
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def _printable(text: str) -> str:
    """XML holds no control characters; a crashed library may have printed some."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)
