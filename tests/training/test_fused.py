"""Fused operations in the model: called where the namespace has them, to the same end as those they stand for."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import reference
from bindings import Library
from conformance.limits.noise import exact
from conformance.steps.tape.judge import Numbers
from reference.model.parameters import initialise
from reference.namespace import Wrapped, has
from tests.tensors.test_formulations import DEVIATION, SMALL, by_hand, largest_share

FUSED = {"grouped_gemm_swiglu", "topk_router"}
PARTS = {"softmax_topk", "softmax", "aux_loss_forward", "swiglu"}


class Watched(Wrapped):
    """A namespace whose calls are counted."""

    has = Wrapped.as_the_other_has

    def __init__(self, ops: Any) -> None:
        super().__init__(ops)
        self.calls: Counter[str] = Counter()

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        self.calls[operation] += 1
        return super()._call(operation, *args, **named)


class Unfused(Watched):
    """One that says of no operation that it stands for others."""

    has = Wrapped.has


def _by_hand(ops: Any, dtype: Any) -> dict[str, Any]:
    parameters = initialise(SMALL, seed=1, deviation=DEVIATION)
    return by_hand(ops, SMALL, {name: array.astype(dtype) for name, array in parameters.items()})


def test_the_model_calls_what_there_is() -> None:
    fused, unfused = Watched(reference), Unfused(reference)
    of_fused, of_unfused = (_by_hand(ops, np.float64) for ops in (fused, unfused))
    assert fused.calls.keys() & (FUSED | PARTS) == FUSED
    assert unfused.calls.keys() & (FUSED | PARTS) == PARTS
    for name, array in of_unfused.items():
        np.testing.assert_array_equal(of_fused[name], array, name)
    saved = unfused.calls.total() - fused.calls.total()
    assert saved == 4 * SMALL.layers  # three products and SwiGLU are one, and so are three operations of the router


def test_what_a_library_lacks_is_not_called(stub: Library) -> None:
    assert all(has(stub, name) for name in FUSED)
    assert not has(stub, "no_such_operation")
    assert not any(has(Unfused(stub), name) for name in FUSED)


@pytest.mark.parametrize("ops", [Watched, Unfused])
def test_both_ways_agree_within_the_noise_on_a_library(ops: Any, stub: Library) -> None:
    parameters = initialise(SMALL, seed=1, deviation=DEVIATION)
    with np.errstate(all="ignore"):
        noisy = by_hand(Numbers(), SMALL, {n: exact(a, worst=False) for n, a in parameters.items()})
    found = _by_hand(ops(stub), np.float32)
    shares = {name: largest_share(np.abs(noisy[name].v - found[name]), noisy[name]) for name in noisy}
    assert max(shares.values()) <= 1, shares
