"""Results depend on no case that was judged before, and on nothing that a store holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference
from bindings import Facts
from conformance import operations
from conformance.candidates.worker.outcome import Outcome
from conformance.catalogue.cases import CASES, previous
from conformance.catalogue.goldens import GoldenError, load
from conformance.catalogue.prepared import DiskStore
from conformance.judging import preparation
from conformance.judging.bench import Bench
from conformance.judging.preparation import Preparation
from conformance.judging.results import Status

ID = "silu/plain/257"


class Stale:
    """A worker whose library leaves arrays of 257 as it returned them from the call before."""

    def __init__(self) -> None:
        self.last: dict[str, Any] = {}

    def run(self, operation: str, arguments: Mapping[str, Any], override: Any = None) -> Outcome:
        function = operations.OPERATIONS[operation]
        results = operations.by_name(function, getattr(reference, operation)(**arguments))
        if any(value.size == 257 for value in results.values()):
            results = {name: np.resize(self.last[name], value.shape) for name, value in results.items()}
        self.last = results
        return Outcome("done", 0, results)

    def call(self, function: Any, *arguments: Any) -> Outcome:
        raise NotImplementedError

    def facts(self) -> Facts:
        return Facts()


def test_a_failure_looks_the_same_whatever_was_judged_before() -> None:
    alone = Bench(Stale())
    alone.case(CASES["silu/plain/1"])
    behind = Bench(Stale())
    for id in ("silu/plain/33", "silu/tails/1025"):
        behind.case(CASES[id])
    first, second = alone.case(CASES[ID]), behind.case(CASES[ID])
    assert first.status is second.status is Status.FAIL
    assert first.headline == second.headline
    assert "the last case's output" in first.headline


def test_a_prepared_case_is_what_it_was_when_it_was_made(tmp_path: Path) -> None:
    case = next(case for case in CASES.values() if case.operation == "rmsnorm")
    made = Preparation(seed=3, store=DiskStore(tmp_path, "key")).case(case)
    held = Preparation(seed=3, store=DiskStore(tmp_path, "key")).case(case)
    assert held.weakness == made.weakness
    for name, array in made.arguments.items():
        assert np.array_equal(array, held.arguments[name]), name
    for name, wanted in made.expected.items():
        for field in ("v", "variance", "shared", "worst"):
            assert np.array_equal(getattr(wanted, field), getattr(held.expected[name], field)), (name, field)


def test_a_seed_of_its_own_is_prepared_by_itself(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, "key")
    case = CASES["silu/plain/33"]
    inputs = [Preparation(seed=seed, store=store).case(case).arguments["input"] for seed in (1, 2)]
    assert not np.array_equal(*inputs)


def test_a_golden_that_is_damaged_later_is_no_longer_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    id = next(id for id in CASES if id.startswith("silu/") and load(id))
    store = DiskStore(tmp_path, "key")
    Preparation(store=store).case(CASES[id])

    def damaged(id: str) -> None:
        raise GoldenError(tmp_path, "a whole file", "one cut short")

    monkeypatch.setattr(preparation, "file_of", lambda id: "no such file")
    monkeypatch.setattr(preparation, "load", damaged)
    with pytest.raises(GoldenError, match="cut short"):
        Preparation(store=store).case(CASES[id])


def test_what_the_case_before_gives_is_that_of_the_catalogue() -> None:
    assert previous(next(iter(CASES.values()))) is None
    assert previous(CASES[ID]).operation == CASES[ID].operation  # type: ignore[union-attr]
