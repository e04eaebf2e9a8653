"""Graphs against PyTorch in float64: every kind, and a thousand graphs drawn at random."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

pytest.importorskip("torch", reason="PyTorch, the independent library, is not installed")

import graph
import reference
from graph.kinds import KINDS
from tests.graph.drawn import Drawn, graphs
from tests.graph.limits import FLOAT64, noisy, results, shares
from tests.graph.samples import SAMPLES
from tests.graph.torch_graph import evaluate

GRAPHS, SEED = 1000, 5


def compared(checked: graph.Checked, arrays: dict[str, Any]) -> dict[str, float]:
    """What the reference and PyTorch differ by, as shares of the limits."""
    theirs = evaluate(checked, arrays, SEED)
    ours = results(graph.Run(checked, reference), arrays, SEED)
    expected = noisy(checked, arrays, SEED, FLOAT64)
    named = theirs.values | {f"new {name}": array for name, array in theirs.state.items()}
    for name in ours:
        if name.startswith("d "):  # a gradient that is 0 all over may be none at all there
            named[name] = theirs.gradients.get(name[2:], 0.0 * ours[name])
    missing = {name for name in theirs.gradients if f"d {name}" not in ours and theirs.gradients[name].any()}
    labels = {n for number in checked.losses for n in checked.graph.records[number].inputs[1:]}
    assert missing <= labels | {r.output for r in checked.graph.records if r.output not in checked.contributing}
    of_theirs, of_ours = shares(expected, named, both_err=True), shares(expected, ours, both_err=False)
    return {name: max(of_theirs[name], of_ours[name]) for name in expected}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_kind(name: str) -> None:
    checked, arrays = SAMPLES[name].checked(), SAMPLES[name].arrays()
    found = compared(checked, arrays)
    assert max(found.values()) <= 1, found


def test_a_thousand_graphs_drawn_at_random() -> None:
    kinds, fans, shared, losses, largest = Counter[str](), 0, 0, Counter[int](), 0.0
    met = 0

    @settings(max_examples=GRAPHS, derandomize=True, database=None, suppress_health_check=[*HealthCheck])
    @given(graphs())
    def agree(drawn: Drawn) -> None:
        nonlocal met, fans, shared, largest
        found = compared(*drawn)
        assert max(found.values()) <= 1, (found, drawn.checked.graph)
        records = drawn.checked.graph.records
        met, largest = met + 1, max(largest, *found.values())
        kinds.update(record.kind for record in records)
        fans += max(Counter(name for r in records for name in r.inputs).values()) > 1
        shared += max(Counter(name for r in records for name in r.parameters).values(), default=0) > 1
        losses[len(drawn.checked.losses)] += 1

    agree()
    print(f"{met} graphs, {fans} with fan-out, {shared} with shared parameters, losses {dict(losses)}")
    print(f"largest error: {largest:.3f} of its limit")
    assert met >= GRAPHS
    assert {*kinds} == {*KINDS}
    assert min(fans, shared, losses[2], losses[3]) >= GRAPHS // 10
