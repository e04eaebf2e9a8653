"""What is about to be timed is compared with the reference, and a wrong result is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import reference
from benchmarks.agreement import Agreement, shortened, wrong
from benchmarks.backends import Backends
from benchmarks.cases import Case
from benchmarks.sizes import SHORT
from benchmarks.timed import timed

ADD = Case("add 3 3", "add", {"a": np.ones(3, np.float32), "b": np.full(3, 2, np.float32)})


def test_a_wrong_output_is_named() -> None:
    assert wrong(ADD, reference.add(*ADD.call())) == []
    [line] = wrong(ADD, np.full(3, 2, np.float32))
    assert line.startswith("output: 3 of 3 elements beyond their limit")


def test_a_disagreement_is_found_each_time_it_is_asked_for() -> None:
    class Wrong(Backends):
        def __init__(self) -> None:
            self.torch = self._in_torch = None

        def call(self, name: str, case: Case) -> Callable[[], Any]:
            return lambda: np.zeros(3, np.float32)

    agreement = Agreement(Wrong())
    assert [bool(agreement.disagreements(ADD)["C"]) for _ in range(2)] == [True, True]


def test_lists_are_shortened_together() -> None:
    [case] = [each.case() for id, each in timed(SHORT).items() if id.startswith("multi_adamw")]
    short = shortened(case).arguments
    assert {len(value) for value in short.values() if isinstance(value, list)} == {len(short["weight_decays"])} == {4}


def test_ids_state_the_operation_and_what_is_timed() -> None:
    known = timed(SHORT)
    assert "softmax 64x4096" in known
    assert all(id == each.case().id for id, each in known.items())
