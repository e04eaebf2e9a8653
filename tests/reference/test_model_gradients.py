"""The gradient of the whole model, parameter by parameter, against central differences in float64.

The derivative of the loss along a direction: (f(x + h) - f(x - h)) / 2h is off by h^2/6 f''' + O(h^4), the same with 2h
by four times as much, so the truncation is about a third of their difference; all of it is allowed. The loss itself is
off by at most r = 8 sigma, hence the first by r/h and the difference by 1.5 r/h.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from conformance.limits.measure import SIGMAS
from conformance.limits.noise import exact
from reference import random
from reference.model import transformer
from reference.model.parameters import held_shapes
from reference.step import accumulate
from tests.reference.model_samples import SMALL, Recorded, batch, in_float64, noisy, parameters

STEP = 2.0**-17  # the power of two nearest to eps^(1/3), where truncation and rounding meet


@pytest.fixture(scope="module")
def analytic() -> tuple[Any, Any]:
    """Loss and gradients with their noise."""
    with in_float64():
        return accumulate(reference, SMALL, noisy(parameters()), *batch())[:2]


def moved(name: str, direction: Any, by: float) -> tuple[float, list[Any]]:
    """The loss with one parameter moved, and the experts chosen there."""
    at = parameters()
    at[name] = at[name] + by * direction
    ops = Recorded(reference, "softmax_topk")
    tokens, targets = batch()
    loss, _ = transformer.loss(ops, transformer.forward(ops, SMALL, at, tokens), targets)
    return float(loss.total[0]), [indices for _, indices in ops.results]


@pytest.mark.parametrize("name", held_shapes(SMALL))
def test_gradient_is_the_derivative_of_the_loss(name: str, analytic: tuple[Any, Any]) -> None:
    loss, gradients = analytic
    for draw in range(2):
        signs = random.integers(random.stream("direction", name, draw), 0, 2, gradients[name].shape) * 2.0 - 1.0
        points = {by: moved(name, signs, by * STEP) for by in (-2, -1, 1, 2)}
        for _, chosen in points.values():  # the loss is smooth only while every token keeps its experts
            np.testing.assert_equal(chosen, points[1][1])
        near = (points[1][0] - points[-1][0]) / (2 * STEP)
        far = (points[2][0] - points[-2][0]) / (4 * STEP)
        got = np.sum(gradients[name] * exact(signs))
        allowed = abs(far - near) + SIGMAS * (2.5 * loss.total.sigma[0] / STEP + got.sigma)
        assert abs(got.v - near) <= allowed, f"{name}: {got.v}, not {near} (allowed {allowed:.3g})"


@pytest.mark.parametrize("name", held_shapes(SMALL))
def test_every_gradient_can_be_told_from_nothing(name: str, analytic: tuple[Any, Any]) -> None:
    """A gradient of zero along both directions would agree with anything that the loss does not depend on."""
    assert np.abs(analytic[1][name].v).max() > 0
