"""What a step lets go of before its backward begins."""

from __future__ import annotations

import weakref
from typing import Any

import pytest

import reference
from reference.namespace import Wrapped
from reference.step import accumulate
from tests.reference.model_samples import SMALL, batch, parameters


class Watching(Wrapped):
    """Notes whether the logits are still held when the gradient of the head is computed."""

    def __init__(self) -> None:
        super().__init__(reference)
        self.logits: list[Any] = []
        self.held: list[bool] = []

    def gemm(self, A: Any, B: Any) -> Any:
        result = reference.gemm(A, B)
        if len(B) == SMALL.vocab:
            self.logits.append(weakref.ref(result))
        return result

    def gemm_tn(self, A: Any, B: Any, *others: Any, **named: Any) -> Any:
        if A.shape[1] == SMALL.vocab:
            self.held.append(any(one() is not None for one in self.logits))
        return reference.gemm_tn(A, B, *others, **named)


@pytest.mark.parametrize("micro_batches", [1, 2])
def test_logits_are_gone_when_the_backward_begins(micro_batches: int) -> None:
    ops = Watching()
    accumulate(ops, SMALL, parameters(), *batch(), micro_batches=micro_batches)
    assert len(ops.logits) == micro_batches
    assert ops.held == [False] * micro_batches
