"""Replicas: the run on numbers that are rounded at random, several times over, and what they have in common.

A replica errs as an honest float32 library may, so one that keeps to the contract is one more of them.  Of a quantity
they give the mean and the standard deviation s; one more run of their kind is off that mean by s * sqrt(1 + 1/n) times
a Student t with n - 1 degrees of freedom, and the limit is 8 of those, as everywhere.  n is the fewest that keep the
judge's promise of no false alarm in 20,000 runs: with 20, one of a run's quantities (a loss, a norm and 23 distances
for each of ten steps, as if all were independent) passes its limit once in 23,866 runs of a library as noisy as the
replicas.  Measured ones err half as much.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.limits.expectation import Expected
from conformance.limits.measure import SIGMAS
from conformance.limits.namespaces import OnNumbers, OnStored
from conformance.limits.noise import Noisy
from conformance.limits.noise.drawn import drawing
from conformance.pool import in_order
from reference import random
from reference.namespace import Ops, Wrapped
from training.step import Standing

from .run import Run, beginning, distance, exact_beginning, exact_operations, follow, in_numbers, standing_by_step

REPLICAS = 20
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Envelope:
    """What a run gives after each step; and how many routing choices of each step replicas may part at.

    expected: "loss", "norm" of all gradients before clipping, and for every parameter "distance.NAME", the norm of its
    difference from the reference's.
    """

    expected: Expected
    near: NDArray[np.int64]


@dataclass
class Replica:
    """One run: its losses and norms, the distances of its parameters, and by call and token the probability of every
    expert."""

    losses: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    distances: list[dict[str, float]] = field(default_factory=list)
    probabilities: list[Floats] = field(default_factory=list)


class Routed(Wrapped):
    """A namespace of operations that notes the router's probabilities."""

    def __init__(self, ops: Ops) -> None:
        super().__init__(ops)
        self.probabilities: list[Floats] = []

    def softmax_topk(self, input: Any, k: int) -> Any:
        """Route, and note."""
        logits = input.v if isinstance(input, Noisy) else input
        powers = np.exp(logits - np.max(logits, axis=1, keepdims=True))
        self.probabilities.append(powers / np.sum(powers, axis=1, keepdims=True))
        return self._ops.softmax_topk(input, k=k)


def _follow(routed: Routed, run: Run, standing: Standing) -> Replica:
    found = Replica()
    for (after, report), (exact, _) in zip(follow(routed, run, standing), standing_by_step(run), strict=True):
        plain = {name: _values(array) for name, array in after.state.parameters.items()}
        found.losses.append(float(_values(report.loss)[0]))
        found.norms.append(float(_values(report.norm)[0]))
        found.distances.append(distance(plain, exact.state.parameters))
    found.probabilities = routed.probabilities
    return found


def _values(array: Any) -> Any:
    return array.v if isinstance(array, Noisy) else array


def replica(number: int, run: Run) -> Replica:
    """Make one of the replicas."""
    kind = drawing(random.stream("replica", number, run.seed))
    if run.precision.is_mixed:
        return _follow(Routed(OnStored(kind.of)), run, beginning(run))
    return _follow(Routed(OnNumbers(kind.of)), run, in_numbers(run, kind.of))


def draw_envelope(run: Run, count: int = REPLICAS, processes: int = 1) -> Envelope:
    """Make replicas, and return what they have in common."""
    return _envelope(in_order(partial(replica, run=run), range(count), processes), run)


def _envelope(replicas: Sequence[Replica], run: Run) -> Envelope:
    exact = _follow(Routed(exact_operations(run)), run, exact_beginning(run))
    expected = {"loss": spread([r.losses for r in replicas]), "norm": spread([r.norms for r in replicas])}
    for name in exact.distances[0]:
        expected[f"distance.{name}"] = _reach(spread([[d[name] for d in r.distances] for r in replicas]))
    k = run.config.top_k
    calls = [_near([r.probabilities[call] for r in replicas], p, k) for call, p in enumerate(exact.probabilities)]
    return Envelope(expected, np.array(calls).reshape(run.steps, -1).sum(axis=1))


def spread(runs: Iterable[Sequence[float] | Floats]) -> Noisy:
    """The mean over runs, and the variance of what one more run is off it; steps of one run err together."""
    values = np.array(list(runs))
    with np.errstate(invalid="ignore"):  # a step may overflow in every run
        variance = np.var(values, axis=0, ddof=1) * (1 + 1 / len(values))
    return Noisy(np.mean(values, axis=0), variance, variance, None)


def _reach(distance: Noisy) -> Noisy:
    """Nothing is better than no distance at all, and 8 spreads beyond the replicas' mean is too far."""
    variance = (distance.v / SIGMAS + distance.sigma) ** 2
    return Noisy(np.zeros_like(distance.v), variance, variance, None)


def _near(probabilities: Sequence[Floats], exact: Floats, k: int) -> int:
    """Count the tokens whose last expert chosen and first left out lie within the noise of each other."""
    order = np.argsort(-exact, axis=1, kind="stable")[:, k - 1 : k + 1]
    both = np.stack([np.take_along_axis(p, order, axis=1) for p in probabilities])
    gap = spread(both[..., 0] - both[..., 1])
    return int((np.abs(gap.v) <= SIGMAS * gap.sigma).sum())
