"""The full model's step in 16 bits, told by its shapes: what it calls and moves, beside one in float32."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from bindings import Signature, read_header
from reference.model.config import FULL
from reference.namespace import Wrapped
from reference.step import TrainingConfig
from training.memory.ledger import arrays_in
from training.memory.predict import parameters
from training.memory.shapes import Shapes
from training.precision import BF16, FLOAT32, FP16, Precision
from training.step import Step


class Counted(Wrapped):
    """A namespace that counts its calls, and the bytes of what they are given and give."""

    offers = Wrapped.offered_behind

    def __init__(self, ops: Any) -> None:
        super().__init__(ops)
        self.calls: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        results = super()._call(operation, *args, **named)
        given = Signature(read_header().operations[operation]).named(args, named)
        arrays = [*arrays_in([value for value in given.values() if value is not None]), *arrays_in(results)]
        self.calls[operation] += 1
        self.bytes[operation] += sum(array.nbytes for array in arrays)
        return results


def step_of(precision: Precision) -> Counted:
    ops = Counted(Shapes())
    step = Step(ops, FULL, TrainingConfig(), precision=precision)
    standing = step.start(parameters(FULL))
    ops.calls.clear()
    ops.bytes.clear()
    tokens = np.zeros((4, 2048), np.int32)
    step(standing, tokens, tokens)
    return ops


@pytest.mark.parametrize("precision", [BF16, FP16], ids=["bf16", "fp16"])
def test_nothing_is_converted_and_no_layer_makes_more_calls_than_in_float32(precision: Precision) -> None:
    short, wide = step_of(precision), step_of(FLOAT32)
    suffix = f"_{precision.format}"
    assert not [name for name in short.calls if name.startswith("cast_")]
    assert not [name for name in wide.calls if name.startswith("cast_")]
    by_base: Counter[str] = Counter()
    for name, count in short.calls.items():
        by_base[name.removesuffix(suffix)] += count
    # Parameters with a copy are moved apart from those without, and gradients are looked at and unscaled.
    for name in ("multi_adamw", "multi_sum_squares", "multi_sum_squares_nonfinite", "multi_scale"):
        by_base.pop(name, None)
        wide.calls.pop(name, None)
    assert by_base == wide.calls
    assert short.bytes.total() < wide.bytes.total()
