"""Candidates that try to escape, to cheat or to do harm: each is stopped or told, and the judge goes on."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from bindings import LibraryError
from conformance.candidates.worker import process, room
from conformance.candidates.worker.outcome import Outcome
from conformance.candidates.worker.sequences import repeated
from conformance.candidates.worker.worker import Worker

from .conftest import SOURCE, WAY, Aims
from .table import ALL, AT_LOAD, BOMBS, LEFTOVERS, ONE_CALL, Hostile, lines

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere little of this is held")
X = np.arange(1, 38, dtype=np.float32)
LIMIT_S = 0.5
BOMB_S = 20.0  # a bomb is to be stopped long before
SMALL = 1 << 28  # bytes that a candidate may hold here


@pytest.fixture(autouse=True)
def _little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "most_memory", lambda: SMALL)


@pytest.fixture
def worker(hostile: Path, aims: Aims, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    monkeypatch.setenv("HOSTILE_API_TOKEN", "a secret of the judge's")
    with worker_of(hostile, aims.variables) as worker:
        yield worker
    assert_gone(aims)


def worker_of(hostile: Path, variables: Mapping[str, str], limit_s: float = LIMIT_S) -> Worker:
    return Worker(hostile, limit_s=limit_s, environment=variables)


def assert_gone(aims: Aims) -> None:
    """Nothing is there any more but the processes, the judge's own children, that all others are copies of."""
    until = time.monotonic() + 5
    while (left := [each for each in aims.processes() if parent(each) != os.getpid()]) and time.monotonic() < until:
        time.sleep(0.01)
    assert not left


def parent(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # ended meanwhile
        return os.getpid()


def call(worker: Worker, name: str) -> Outcome:
    return worker.run("scale", {"input": X, "scale": float(WAY[name])})


def test_the_table_is_of_what_there_is() -> None:
    assert len(ALL) >= 30
    assert {each.name for each in ALL} <= WAY.keys()
    assert all(f"case {each.name.upper()}:" in SOURCE or f"way == {each.name.upper()}" in SOURCE for each in ALL)


def test_all_restrictions_hold_on_this_machine_or_are_told(worker: Worker) -> None:
    worker.facts()
    assert "processes that outlive it" in worker.process().restricted


def test_the_page_shows_the_table() -> None:
    page = Path(__file__).parents[3].joinpath("docs", "trust.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines() if line not in page] == []


@pytest.mark.parametrize("hostile_", ONE_CALL, ids=lambda each: each.name)
def test_a_call_that_is_hostile(hostile_: Hostile, worker: Worker) -> None:
    worker.limit_s = BOMB_S if hostile_ in BOMBS else LIMIT_S
    outcome = call(worker, hostile_.name)
    assert re.fullmatch(hostile_.status, outcome.status), outcome.detail
    assert re.search(hostile_.seen, outcome.detail), outcome.detail
    if hostile_.status == "done" and hostile_.seen:
        assert hostile_.name == "escapes" or "succeeded" not in outcome.detail
    right = call(worker, "right")
    assert (right.status, right.findings, right.detail) == ("done", [], "")


@pytest.mark.parametrize("hostile_", LEFTOVERS, ids=lambda each: each.name)
def test_what_a_call_leaves_behind_in_its_process_is_told(hostile_: Hostile, worker: Worker) -> None:
    found = repeated(worker, "scale", {"input": X, "scale": float(WAY[hostile_.name])}, 1)
    assert found.outcome.status == "done", found.outcome.detail
    told = ["late"] * found.late + found.changed
    assert [text for text in told if re.search(hostile_.change, text)], told
    worker.stop()
    again = repeated(worker, "scale", {"input": X, "scale": float(WAY["right"])}, 8)
    assert (again.outcome.status, again.changed, again.late) == ("done", [], False)


@pytest.mark.parametrize(("name", "fails"), AT_LOAD.items(), ids=AT_LOAD)
def test_a_constructor_that_is_hostile(
    name: str, fails: str, hostile: Path, aims: Aims, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_START_S", BOMB_S if name == "fork_bomb" else 2.0)
    variables = {**aims.variables, "HOSTILE_AT_LOAD": str(WAY[name])}
    expected = pytest.raises(LibraryError, match=fails) if fails else contextlib.nullcontext()
    with expected, worker_of(hostile, variables) as worker:
        assert call(worker, "right").code == 0
    assert_gone(aims)
