"""Machines that lack some restrictions: what is left holds, and what is lacking is said."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from conformance.candidates.sandbox.restrictions import Held, described, is_lacking
from conformance.candidates.worker import room
from conformance.candidates.worker.worker import Worker

from .conftest import WAY, Aims
from .table import BOMBS, CONNECTION, FILES, JUDGE, WALLS, Hostile

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere little of this is held")
X = np.arange(1, 38, dtype=np.float32)
_WITHOUT = Path(__file__).with_name("without.py")
_EVERYTHING = set(Held)
LIMIT_S, BOMB_S = 0.5, 20.0
_BOMBS = [each for each in BOMBS if each.name in {"fork_bomb", "memory_bomb"}]
_AT_ONCE = [each for each in (*FILES, *JUDGE, *WALLS) if each.name != "kills_parent"]  # is the keeper itself there


@pytest.fixture(params=["namespaces", "landlock", "namespaces,landlock"])
def lacking(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def worker(hostile: Path, aims: Aims, lacking: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    monkeypatch.setattr(room, "most_memory", lambda: 1 << 28)
    prefix = (sys.executable, str(_WITHOUT), lacking)
    with Worker(hostile, limit_s=BOMB_S, environment=aims.variables, prefix=prefix) as worker:
        yield worker


def attempt(worker: Worker, hostile: Hostile) -> tuple[str, str]:
    outcome = worker.run("scale", {"input": X, "scale": float(WAY[hostile.name])})
    return outcome.status, outcome.detail


def test_what_is_lacking_is_said(worker: Worker, lacking: str) -> None:
    worker.facts()
    held = worker.process().restricted
    assert set(held) == _EVERYTHING - ({Held.FILES} if "landlock" in lacking else set())
    if "landlock" in lacking:
        assert described(held).endswith("; this machine cannot keep it from files of others")
    assert is_lacking(described(held)) == ("landlock" in lacking)


def test_what_is_left_holds(worker: Worker, lacking: str) -> None:
    succeeded = []
    for hostile in _AT_ONCE:
        if "landlock" in lacking and hostile in FILES and hostile.name != "reads_secret":
            continue  # they would succeed
        status, detail = attempt(worker, hostile)
        if status != "done" or "succeeded" in detail:
            succeeded.append((hostile.name, status, detail))
    assert not succeeded


@pytest.mark.parametrize("lacking", ["namespaces,landlock"], indirect=True)
@pytest.mark.parametrize("hostile_", [*_BOMBS, *CONNECTION[:5]], ids=lambda each: each.name)
def test_what_the_keeper_sees_to_is_seen_to(hostile_: Hostile, worker: Worker) -> None:
    worker.limit_s = BOMB_S if hostile_ in BOMBS else LIMIT_S
    status, detail = attempt(worker, hostile_)
    assert re.fullmatch(hostile_.status, status), detail
    assert re.search(hostile_.seen, detail), detail
