"""Attention of which the keys are shared out in parts, joined by their log-sum-exps.

Where many keys meet few queries, kernels take them in parts and weigh each part's output by exp(lse_i - lse) (Dao,
Haziza, Massa and Sizov 2023, "Flash-Decoding for long-context inference"); lse_i and lse are numbers of the size of the
scores, and each is rounded before they are subtracted.  So far from zero, where the scores' differences are exact, the
weights err by a share of the scores themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import reference
from conformance import operations

from .infinite_scores import largest_score
from .noise import FLOAT32, roundings

ROUNDINGS = 2.0  # lse_i and lse


def leave_parts(operation: str, arguments: Mapping[str, Any], expected: dict[str, Any]) -> None:
    """Widen what is expected of the output by what joining parts rounds."""
    if operations.base_of(operation) != "attention_forward":
        return
    output, lse = expected["output"], expected["lse"].v
    exact = [np.asarray(arguments[name], np.float64) for name in ("Q", "K", "V")]
    with np.errstate(all="ignore"):
        weighed, _ = reference.attention_forward(
            exact[0], exact[1], np.abs(exact[2]), arguments["kv_len"], arguments["scale"]
        )
        largest = largest_score(arguments)
        sizes = (np.abs(largest) + np.abs(lse - largest)).swapaxes(1, 2)[..., None]  # of log of a sum, and of both
        format = roundings().intermediate or FLOAT32
        reach = np.where(np.isfinite(sizes * weighed), format.reach(sizes) * weighed, 0.0)
    worst = None if output.worst is None else output.worst + ROUNDINGS * reach
    more = ROUNDINGS * reach**2 / 3
    shared = output.shared + more / lse.size  # all of a row err alike
    expected["output"] = output.replaced(variance=output.variance + more, shared=shared, worst=worst)
