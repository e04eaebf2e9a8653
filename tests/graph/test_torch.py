"""Graphs against PyTorch in float64: every kind, and a thousand graphs drawn at random."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import graph
import reference
from conformance.limits.noise import exact, using
from graph.kinds import KINDS
from tests.graph.drawn import Drawn, graphs
from tests.graph.limits import FLOAT64, OnDoubles, noisy, results, shares
from tests.graph.samples import SAMPLES
from tests.graph.test_step import prepared
from tests.graph.torch_graph import evaluate, torch

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


OPTIMIZERS: dict[str, tuple[graph.Optimizer, Any]] = {
    "SGD": (graph.SGD(0.1, 0.25), lambda p: torch.optim.SGD(p, 0.1, weight_decay=0.25)),
    "Momentum": (graph.Momentum(0.1, 0.25), lambda p: torch.optim.SGD(p, 0.1, 0.9, weight_decay=0.25)),
    "Nesterov": (graph.Momentum(0.1, nesterov=True), lambda p: torch.optim.SGD(p, 0.1, 0.9, nesterov=True)),
    "Adam": (graph.Adam(0.01, 0.25), lambda p: torch.optim.Adam(p, 0.01, weight_decay=0.25)),
    "AdamW": (graph.AdamW(0.01, 0.25), lambda p: torch.optim.AdamW(p, 0.01, weight_decay=0.25)),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("clip_norm", [None, 0.5])
def test_steps(name: str, clip_norm: float | None) -> None:
    """Three steps of a small graph, by PyTorch's optimisers and its clipping."""
    optimizer, theirs = OPTIMIZERS[name]
    checked, arrays = prepared()
    weights = {n: torch.tensor(arrays[n], requires_grad=True) for n in checked.trainable}
    moving = theirs([*weights.values()])
    with using(FLOAT64), np.errstate(all="ignore"):
        noise, state = {n: exact(array) for n, array in arrays.items()}, None
        for _ in range(3):
            stepped = graph.train_step(
                graph.Run(checked, OnDoubles(exact)), noise, optimizer, state, clip_norm=clip_norm
            )
            noise, state = noise | stepped.parameters, stepped.state
    for _ in range(3):
        held = arrays | {n: tensor.detach().numpy() for n, tensor in weights.items()}
        found = evaluate(checked, held, 0)
        for n, tensor in weights.items():
            tensor.grad = torch.tensor(found.gradients[n]) if n in found.gradients else None
        if clip_norm is not None:
            _clip(weights.values(), clip_norm)
        moving.step()
        arrays |= found.state
    got = {n: tensor.detach().numpy() for n, tensor in weights.items()} | found.state
    expected = {n: noise[n] for n in got}
    shared = shares(expected, got, both_err=True)
    assert max(shared.values()) <= 1, shared


def _clip(weights: Any, clip_norm: float) -> None:
    """By torch.nn.utils.clip_grad_norm_'s formula without the 1e-6 that it adds to the norm."""
    gradients = [tensor.grad for tensor in weights if tensor.grad is not None]
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in gradients]))
    for gradient in gradients:
        gradient *= torch.clamp(clip_norm / norm, max=1.0)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_kind(name: str) -> None:
    checked, arrays = SAMPLES[name].checked(), SAMPLES[name].arrays()
    found = compared(checked, arrays)
    assert max(found.values()) <= 1, found


@pytest.mark.slow
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
    assert min(fans, shared, losses[2] + losses[3]) >= GRAPHS // 10
