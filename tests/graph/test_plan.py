"""Where intermediates lie: nothing lies on what still lives, and no plan is below the bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graph
import reference
from bindings import Library
from graph.placement import Life, by_size, in_order
from graph.plan import ALIGNMENT, plan, plan_of
from graph.run import Run
from graph.trace import Traced
from tests.graph.drawn import Drawn, graphs
from tests.graph.samples import SAMPLES
from tests.graph.test_check import one

CHAIN = [one("relu", "x", "v0"), *(one("scale", f"v{n}", f"v{n + 1}", scale=0.5) for n in range(40))]
LIVES = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 30), st.integers(0, 12)), min_size=1, max_size=40)


def overlaps(lives: list[Life], offsets: dict[int, int]) -> list[tuple[int, int]]:
    """Pairs that live at one call and share a byte."""
    return [
        (a.number, b.number)
        for a in lives
        for b in lives
        if a.number < b.number
        and a.born <= b.last
        and b.born <= a.last
        and offsets[a.number] < offsets[b.number] + b.size
        and offsets[b.number] < offsets[a.number] + a.size
    ]


@pytest.mark.parametrize("way", [by_size, in_order])
@settings(max_examples=200, derandomize=True)
@given(LIVES)
def test_what_lives_together_lies_apart(way: Any, drawn: list[tuple[int, int, int]]) -> None:
    lives = [Life(n, size * ALIGNMENT, born, born + length) for n, (size, born, length) in enumerate(drawn)]
    offsets, peak = way(lives)
    assert overlaps(lives, offsets) == []
    assert peak == max(offsets[life.number] + life.size for life in lives)
    at = [sum(life.size for life in lives if life.born <= call <= life.last) for call in range(50)]
    assert peak >= max(at)


def test_a_chain_needs_two_places_and_the_last_one() -> None:
    """Each value is dead when the next but one is written."""
    read = graph.read(CHAIN)
    checked = graph.check(read, {"x": (64, 64)})
    found = plan(checked, reference, {"x": np.ones((64, 64), np.float32)}, backward=False)
    size = 64 * 64 * 4
    assert (found.peak, found.bound, found.apart) == (2 * size, 2 * size, 41 * size)
    said = "intermediates: 32,768 bytes planned, 32,768 at least (what lives at one call), 671,744 without reuse"
    assert str(found) == said


def test_the_bound_is_what_lives_at_one_call() -> None:
    """Behind relu's backward wait the input alone; all of tanh's outputs live until their backward."""
    records = [
        one("tanh", "x", "v0"),
        *(one("tanh", f"v{n}", f"v{n + 1}") for n in range(9)),
        one("mse", "v9 t", "loss"),
    ]
    checked = graph.check(graph.read(records), {"x": (64, 4), "t": (64, 4)})
    arrays = {name: np.full((64, 4), 0.5, np.float32) for name in ("x", "t")}
    found = plan(checked, reference, arrays)
    size = 64 * 4 * 4
    assert found.bound == 12 * size + ALIGNMENT  # ten outputs, a gradient read and one written, and the loss
    assert found.peak == found.bound


@pytest.mark.parametrize("name", SAMPLES)
def test_every_kind(name: str, stub: Library) -> None:
    checked, arrays = SAMPLES[name].checked(), SAMPLES[name].arrays(np.float32)
    found = plan(checked, stub, arrays)
    assert found.bound <= found.peak <= found.apart


@settings(max_examples=60, derandomize=True, suppress_health_check=[*HealthCheck])
@given(graphs())
def test_plans_of_graphs_drawn_at_random(drawn: Drawn) -> None:
    ops = Traced(reference)
    run = Run(drawn.checked, ops)
    run.backward(run.forward(drawn.arrays))
    trace, found = ops.trace, plan_of(ops.trace)
    lives = [Life(s.number, -(-s.nbytes // ALIGNMENT) * ALIGNMENT, s.born, trace.last[s.number]) for s in trace.slots]
    assert overlaps(lives, dict(found.offsets)) == []
    assert found.bound <= found.peak
