"""One checker of gradients: against central differences in float64, with the bound that theory gives.

D(h) = (f(x + h) - f(x - h)) / 2h is off by h^2/6 f''' + O(h^4), and D(2h) by four times as much, so the truncation
is about a third of D(2h) - D(h); all of it is allowed. Rounding moves f by at most r, hence D(h) by r/h and
D(2h) - D(h) by 1.5 r/h. The step is the power of two nearest to eps^(1/3), where the two errors meet; the tests' inputs
are multiples of 2^-16, so that x + h and x - h are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reference import random
from tests.reference.bounds import rounding

STEP = 2.0**-17

Arrays = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A gradient operation, the forward function it belongs to, and the shapes of the inputs.

    forward(**inputs) gives an array or a tuple of arrays; backward(inputs, *d_outputs) the gradients by input name.
    """

    operation: str
    shapes: dict[str, tuple[int, ...]]
    forward: Callable[..., Any] = field(repr=False)
    backward: Callable[..., Arrays] = field(repr=False)

    def inputs(self) -> Arrays:
        names = self.shapes.items()
        return {name: random.normal(random.stream("gradients", self.operation, name), shape) for name, shape in names}

    def outputs(self, inputs: Arrays) -> list[Any]:
        results = self.forward(**inputs)
        return list(results) if isinstance(results, tuple) else [results]


def difference(case: Case, inputs: Arrays, direction: Arrays) -> tuple[Any, Any]:
    """The derivative of all outputs (flat) along a direction of some inputs, and the bound of its error."""

    def moved(step: float) -> Any:
        at = inputs | {name: inputs[name] + step * d for name, d in direction.items()}
        return np.concatenate([output.ravel() for output in case.outputs(at)])

    near = (moved(STEP) - moved(-STEP)) / (2 * STEP)
    far = (moved(2 * STEP) - moved(-2 * STEP)) / (4 * STEP)
    return near, np.abs(far - near) + 2.5 * rounding(list(inputs.values()), case.outputs(inputs)) / STEP


def gradients(case: Case, inputs: Arrays, d_flat: Any) -> Arrays:
    """The backward operation's answer to a flat gradient of all outputs."""
    outputs = case.outputs(inputs)
    ends = np.cumsum([output.size for output in outputs])[:-1]
    pieces = np.split(d_flat, ends)
    return case.backward(inputs, *(d.reshape(o.shape) for d, o in zip(pieces, outputs, strict=True)))


def check_jacobian(case: Case) -> None:
    """Every derivative of every output element with respect to every input element."""
    inputs = case.inputs()
    size = sum(output.size for output in case.outputs(inputs))
    rows = [gradients(case, inputs, one) for one in np.eye(size)]
    for name in rows[0]:
        for place in np.ndindex(inputs[name].shape):
            along = np.zeros(inputs[name].shape)
            along[place] = 1.0
            expected, bound = difference(case, inputs, {name: along})
            got = np.array([row[name][place] for row in rows])
            allowed = bound + rounding(list(inputs.values()), got)
            assert (np.abs(got - expected) <= allowed).all(), (
                f"d outputs / d {name}{list(place)}: {got}, not {expected}"
            )


def check_directions(case: Case, count: int = 3) -> None:
    """Random combinations of all outputs along random directions of all inputs: <gradient, direction>."""
    inputs = case.inputs()
    size = sum(output.size for output in case.outputs(inputs))
    for i in range(count):
        weights = random.normal(random.stream("weights", case.operation, i), size)
        computed = gradients(case, inputs, weights)
        direction = {name: _signs(case.operation, name, i, inputs[name].shape) for name in computed}
        expected, bound = difference(case, inputs, direction)
        got = sum(np.sum(computed[name] * direction[name]) for name in computed)
        terms = [computed[name] * direction[name] for name in computed]
        allowed = np.abs(weights) @ bound + rounding([*inputs.values(), *terms], [weights, expected])
        assert abs(got - weights @ expected) <= allowed, f"direction {i}: {got}, not {weights @ expected}"


def _signs(operation: str, name: str, i: int, shape: tuple[int, ...]) -> Any:
    """A direction of +1 and -1, so that every moved input stays exact."""
    return random.integers(random.stream("direction", operation, name, i), 0, 2, shape) * 2.0 - 1.0
