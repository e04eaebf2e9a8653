"""The gradients of a whole model against central differences of its loss, in float64.

D(h) = (f(x + h v) - f(x - h v)) / 2h is off by h^2/6 f''' + O(h^4) and D(2h) by four times as much, so the truncation
is about a third of D(2h) - D(h); all of it is allowed.  Rounding moves f by at most r, hence D(h) by r/h and
D(2h) - D(h) by 1.5 r/h.  The step is the power of two nearest to eps^(1/3), where the two errors meet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.catalogue.oracles import Confirmation
from conformance.catalogue.oracles.limit import float64_limit
from conformance.limits.noise import Noisy
from reference import random
from reference.model.parameters import Parameters

STEP = 2.0**-17


def confirm_gradients(
    loss_at: Callable[[Parameters], float], start: Parameters, gradients: Mapping[str, Noisy], loss: Noisy
) -> Confirmation:
    """Compare <gradient, v> with the slope of the loss along a direction v of +1 and -1, for every parameter."""
    rounding = float(float64_limit(loss).sum())
    difference = share = 0.0
    for name, gradient in gradients.items():
        direction = random.integers(random.stream("slope", name), 0, 2, gradient.shape) * 2.0 - 1.0

        near, far = (_slope(loss_at, start, name, direction * step) / step for step in (STEP, 2 * STEP))
        allowed = abs(far - near) + 2.5 * rounding / STEP + float(float64_limit(gradient).sum())
        error = abs(near - float(np.sum(gradient.v * direction)))
        difference = max(difference, error / float(np.abs(gradient.v).sum()))
        share = max(share, error / allowed)
    return Confirmation("central differences of the loss in float64", difference, share)


def _slope(loss_at: Callable[[Parameters], float], start: Parameters, name: str, way: NDArray[Any]) -> float:
    """Half of what the loss gains from one step back to one step ahead."""
    above, below = (loss_at({**start, name: start[name] + moved}) for moved in (way, -way))
    return (above - below) / 2
