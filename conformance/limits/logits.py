"""The binary cross entropy of logits, by other formulas than the header's.

(1 - t) x - log(sigmoid(x)), log(sigmoid(x)) = min(x, 0) - log(1 + exp(-|x|)), is what PyTorch computes.  It rounds
numbers of the size of x where the header's formula rounds less: a product, log(sigmoid(x)), and their difference.  And
by either, or by neither, an infinite logit gives no number, which the header leaves open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .noise import FLOAT32, given_up, roundings

ROUNDINGS = 3.0


def leave_formula(operation: str, arguments: Mapping[str, Any], expected: dict[str, Any]) -> None:
    """Widen what is expected of the loss by the other formula's roundings; give it up where a logit is infinite."""
    if operation != "bce_logits_forward":
        return
    x, format, loss = np.asarray(arguments["logits"], np.float64), roundings().intermediate or FLOAT32, expected["loss"]
    known = np.where(np.isfinite(x), np.abs(x), 0.0)
    variance = loss.variance + ROUNDINGS * np.sum(format.variance(known)) / x.size**2
    worst = None if loss.worst is None else loss.worst + ROUNDINGS * np.sum(format.reach(known)) / x.size
    widened = loss if np.isnan(loss.v).any() else loss.replaced(variance=variance, worst=worst)
    expected["loss"] = given_up(widened, np.isinf(x).any() & ~np.isnan(x).any())
