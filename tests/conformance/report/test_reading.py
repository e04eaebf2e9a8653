"""Reports and scores of others: each is read, or named with its line, what was expected and what came."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from rich.console import Console

from conformance.commands.cli import main
from conformance.report.difference import lines
from conformance.report.files import ReportError, read_jsonl, write_jsonl, write_junit
from conformance.report.markdown import summary
from conformance.report.page import page
from conformance.report.score import read_score
from conformance.report.terminal import close, show
from tests.conformance.runs import HALF_SPLIT, judged

VALUES: tuple[Any, ...] = (None, True, 0, -1, 2**70, 1.5, "", "nan", "-inf", "x\x1b", [], [[]], [1, "a"], {}, {"a": 1})
DAMAGED = 300


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The lines of a report on a run with failures, and few enough of them to be altered often."""
    path = tmp_path_factory.mktemp("report") / "run.jsonl"
    write_jsonl(path, judged(rope_forward=HALF_SPLIT))
    head, *rest = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    failed = [line for line in rest if line["status"] != "PASS"]
    head["run"]["cases"] = 4
    return [head, *failed[:2], *rest[:2]]


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value; of a long list the first three."""
    yield place
    entries = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from places(inner, (*place, key))


def altered(report: list[dict[str, Any]], random: Random) -> str:
    """The report with another value in one place, or without what was there."""
    copied: Any = json.loads(json.dumps(report))
    place = random.choice([p for p in places(copied) if p])
    holder = copied
    for key in place[:-1]:
        holder = holder[key]
    if random.random() < 0.1:
        del holder[place[-1]]
    else:
        holder[place[-1]] = random.choice(VALUES)
    return "".join(json.dumps(line) + "\n" for line in copied)


@pytest.mark.slow
def test_a_report_with_other_values_is_shown_or_refused(report: list[dict[str, Any]], tmp_path: Path) -> None:
    random, path, refused = Random(1), tmp_path / "run.jsonl", 0
    for _ in range(DAMAGED):
        path.write_text(altered(report, random), encoding="utf-8")
        try:
            run = read_jsonl(path)
        except ReportError as error:
            refused += str(error).startswith(f"{path}: not a report written by `run --jsonl`: line ")
            continue
        console = Console(file=io.StringIO())
        show(console, [run])
        close(console, [run])
        assert all(isinstance(line, str) for line in (*lines(run, run), *summary(run)))
        assert page([run]).startswith("<!doctype html>")
        write_junit(tmp_path / "run.xml", run)
    assert DAMAGED / 4 < refused < DAMAGED


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"run": {"candidate": 3, "version": 2}}', "line 1: run.candidate: expected str, got int"),
        (b'{"run": {"version": 2}}', "line 1: run: object missing required field `candidate`"),
        (b"[]", "line 1: expected object, got array"),
        (b"", "line 1: expected JSON, got damage: "),
        (b"\xff", "line 1: expected JSON, got damage: "),
        (b'{"a":' * 100_000, "line 1: expected values a few levels deep"),
        (b'{"run": {"candidate": "a", "version": 2, "cases": 1}}\n{"id": []}', "line 2: id: expected str, got array"),
        (
            b'{"run": {"candidate": "a", "version": 2, "cases": 1}}\n{"id": "a", "operation": "a", "status": "SO SO"}',
            "line 2: status: invalid enum value 'SO SO'",
        ),
    ],
)
def test_a_line_that_is_none_is_named(line: bytes, said: str, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(line)
    with pytest.raises(ReportError) as error:
        read_jsonl(path)
    assert str(error.value).startswith(f"{path}: not a report written by `run --jsonl`: {said}")
    assert main(["diff", str(path), str(path)]) == main(["report", str(path), "--summary", str(tmp_path / "s")]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"found": "many"}', "found: expected int, got str"),
        (b"{}", "object missing required field `found`"),
        (b"[" * 100_000, "expected object, got array"),
    ],
)
def test_a_score_that_is_none_is_named(text: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "score.json").write_bytes(text)
    with pytest.raises(ReportError, match=rf"score\.json: not the readings' score: {said}"):
        read_score(tmp_path / "score.json")
