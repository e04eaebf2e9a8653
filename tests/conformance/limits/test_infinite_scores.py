"""A log-sum-exp of an infinite score is infinite, or NaN where the largest score is taken off first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.judging.verdict import judge
from conformance.limits.expectation import expect


def passes(arguments: dict[str, Any], lse: Any) -> bool:
    got = np.broadcast_to(np.asarray(lse, np.float32), (1, 1, 2))
    return judge("lse", expect("attention_forward", arguments)["lse"], got, leaves_open=True).passed


def scored(score: float) -> dict[str, Any]:
    """Two queries and keys of one number each: what both see of the first is this score, and 1 the second's."""
    queries, keys = (np.array(values, np.float32).reshape(1, 2, 1, 1) for values in ([1, 1], [score, 1]))
    return {"Q": queries, "K": keys, "V": np.ones_like(queries), "kv_len": 2, "scale": 1.0}


@pytest.mark.parametrize("lse", [np.inf, np.nan])
def test_of_an_infinite_score_it_is_infinite_or_none(lse: float) -> None:
    assert passes(scored(np.inf), lse)


def test_of_a_score_that_is_none_it_is_none() -> None:
    assert passes(scored(np.nan), np.nan)
    assert not passes(scored(np.nan), np.inf)


def test_a_key_beyond_the_mask_is_no_score() -> None:
    arguments = scored(1.0)
    arguments["K"][0, 1] = np.inf
    assert passes(arguments, [[[1.0, np.inf]]])
    assert passes(arguments, [[[1.0, np.nan]]])
    assert not passes(arguments, np.inf)
