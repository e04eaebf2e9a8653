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
from reference.namespace import Wrapped, offers
from tests.tensors.test_formulations import DEVIATION, SMALL, by_hand, largest_share
from training.precision import BF16, Policy, Precision

FUSED = {"grouped_gemm_swiglu", "topk_router", "topk_router_backward"}
PARTS = {"softmax_topk", "softmax", "aux_loss_forward", "swiglu"}
PARTS |= {"softmax_topk_backward", "softmax_backward", "aux_loss_backward"}


class Watched(Wrapped):
    """A namespace that counts its calls, and offers what it is told to."""

    def __init__(self, ops: Any, offered: set[str]) -> None:
        super().__init__(ops)
        self._offered = offered
        self.calls: Counter[str] = Counter()

    def offers(self, operation: str) -> bool:
        return operation in self._offered

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        self.calls[operation] += 1
        return super()._call(operation, *args, **named)


def _by_hand(ops: Any, dtype: Any) -> dict[str, Any]:
    parameters = initialise(SMALL, seed=1, deviation=DEVIATION)
    return by_hand(ops, SMALL, {name: array.astype(dtype) for name, array in parameters.items()})


def test_the_model_calls_what_is_offered() -> None:
    fused, unfused = Watched(reference, FUSED), Watched(reference, set())
    of_fused, of_unfused = (_by_hand(ops, np.float64) for ops in (fused, unfused))
    assert fused.calls.keys() & (FUSED | PARTS) == FUSED
    assert unfused.calls.keys() & (FUSED | PARTS) == PARTS
    for name, array in of_unfused.items():
        np.testing.assert_array_equal(of_fused[name], array, name)
    saved = unfused.calls.total() - fused.calls.total()
    # Two products and SwiGLU are one call, and so are three of the router, and four of its gradient.
    assert saved == 7 * SMALL.layers


def test_a_library_offers_what_it_exports_and_the_reference_its_parts(stub: Library) -> None:
    assert all(offers(stub, name) for name in FUSED)
    assert not any(offers(reference, name) for name in FUSED)
    assert all(offers(BF16.on(stub), name) for name in FUSED)
    assert not offers(Precision(format="bf16", policy=Policy(operations={})).on(stub), "grouped_gemm_swiglu")


@pytest.mark.parametrize("offered", [FUSED, set()], ids=["fused", "parts"])
def test_both_ways_agree_within_the_noise_on_a_library(offered: set[str], stub: Library) -> None:
    parameters = initialise(SMALL, seed=1, deviation=DEVIATION)
    with np.errstate(all="ignore"):
        noisy = by_hand(Numbers(), SMALL, {n: exact(a, worst=False) for n, a in parameters.items()})
    found = _by_hand(Watched(stub, offered), np.float32)
    shares = {name: largest_share(np.abs(noisy[name].v - found[name]), noisy[name]) for name in noisy}
    assert max(shares.values()) <= 1, shares
