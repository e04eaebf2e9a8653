"""Attention of which the keys are shared out in parts, joined by their log-sum-exps.

Where many keys meet few queries, kernels take them in parts and weigh each part's output by exp(lse_i - lse) (Dao,
Haziza, Massa and Sizov 2023, "Flash-Decoding for long-context inference"); lse_i and lse are numbers of the size of the
scores, and each is rounded before they are subtracted.  So far from zero, where the scores' differences are exact, the
weights err by a share of the scores themselves.

A part adds Y_i, its keys' p V, to the output.  lse's rounding e gives e times the output; those of the parts, each by
itself, a variance of e_i^2 Y_i^2.  Where V has one sign the sum of Y_i^2 is at most output^2; where signs change by
chance it is the sum of (p V)^2 over the keys, however they are shared out: both are counted.  At worst all go one way:
e sum |p V|.  A query that sees one key has one part, and nothing to join.
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
    format = roundings().intermediate or FLOAT32
    with np.errstate(all="ignore"):
        largest = largest_score(arguments)
        of_log = np.abs(lse - largest)  # the logarithm of a sum is rounded, too
        reach = _by_row(format.reach(np.maximum(np.abs(largest), np.abs(lse))) + format.reach(of_log))
        reach = np.where(_keys_seen(arguments)[:, None, None] > 1, reach, 0.0)
        exact = [np.asarray(arguments[name], np.float64) for name in ("Q", "K", "V")]
        weighed, _ = _attend(exact, np.abs(exact[2]), arguments, 1)
        squares, of_squares = _attend(exact, exact[2] ** 2, arguments, 2)  # p^2 are weights at twice the scale
        by_key = squares * _by_row(np.exp(of_squares - 2 * lse))
        more = _finite(reach**2 / 3 * (ROUNDINGS * output.v**2 + by_key))
        most = _finite(ROUNDINGS * reach * weighed)
    worst = None if output.worst is None else output.worst + most
    shared = output.shared + more / lse.size  # all of a row err alike
    expected["output"] = output.replaced(variance=output.variance + more, shared=shared, worst=worst)


def _attend(exact: list[Any], values: Any, arguments: Mapping[str, Any], times: int) -> tuple[Any, Any]:
    return reference.attention_forward(
        exact[0], exact[1], values, arguments["kv_len"], times * float(arguments["scale"])
    )


def _by_row(of_head: Any) -> Any:
    """[batch, heads, queries] laid out as outputs are: [batch, queries, heads, 1]."""
    return of_head.swapaxes(1, 2)[..., None]


def _keys_seen(arguments: Mapping[str, Any]) -> Any:
    """How many keys each query sees, by its place."""
    queries = arguments["Q"].shape[1]
    return arguments["kv_len"] - queries + 1 + np.arange(queries)


def _finite(array: Any) -> Any:
    return np.where(np.isfinite(array), array, 0.0)
