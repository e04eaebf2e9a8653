"""Drawn expressions on the C library: what they give and their gradients, within the limits of float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, settings

from bindings import Library
from conformance.limits.noise import FLOAT32
from tests.graph.limits import shares
from tests.tensors.drawn import Drawn, evaluate, expressions
from tests.tensors.noise import expected, on, results
from tests.tensors.ours import Ours

EXPRESSIONS = 300


def test_the_c_library_on_expressions_drawn_at_random(stub: Library) -> None:
    met, largest = 0, 0.0
    make = on(stub, np.float32)

    @settings(max_examples=EXPRESSIONS, derandomize=True, database=None, suppress_health_check=[*HealthCheck])
    @given(expressions())
    def agree(drawn: Drawn) -> None:
        nonlocal met, largest
        ours = Ours()

        def f(*leaves: Any) -> Any:
            return evaluate(leaves, drawn.steps, ours)

        noise = expected(f, drawn.arrays, drawn.seed, FLOAT32)
        assume(not ours.near)
        found = shares(noise, results(f, drawn.arrays, drawn.seed, make), both_err=False)
        assert max(found.values()) <= 1, (found, drawn.steps)
        met, largest = met + 1, max(largest, *found.values())

    agree()
    print(f"{met} expressions, largest error: {largest:.3f} of its limit")
    assert met >= EXPRESSIONS
