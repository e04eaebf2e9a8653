"""Taps so far apart that no memory holds what lies between them: a convolution says so, and computes the next call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bindings import CallError, Library, read_header

ONE, FOUR = np.full((1, 1, 1, 1), 2.0, np.float32), np.arange(1, 5, dtype=np.float32).reshape(1, 1, 2, 2)
# Padding down and across, half of the dilation: the bytes of a frame are more than int64_t counts, or than its share of
# them for each thread, or than any machine has.
FAR = [((1 << 30) - 1, (1 << 30) - 1), (1 << 29, 1 << 28), (1 << 29, 1 << 27), (1 << 29, 1 << 26)]
Call = Callable[[Library, dict[str, int]], Any]


def steps(down: int, across: int) -> dict[str, int]:
    """A kernel of two by two whose taps lie at the corners of a square around the one number, and beside it."""
    dilations = {"dilation_h": 2 * down, "dilation_w": 2 * across}
    return {"stride_h": 1, "stride_w": 1, "pad_h": down, "pad_w": across, **dilations, "groups": 1}


CALLS: dict[str, tuple[Call, Any]] = {
    "conv2d": (lambda c, s: c.conv2d(ONE, FOUR, None, **s, has_bias=0), np.zeros((1, 1, 1, 1))),
    "conv2d_backward_input": (
        lambda c, s: c.conv2d_backward_input(FOUR, ONE, **s, in_channels=1, height=1, width=1),
        np.zeros((1, 1, 1, 1)),
    ),
    "conv2d_backward_weight": (
        lambda c, s: c.conv2d_backward_weight(ONE, ONE, FOUR.copy(), **s, kernel_h=2, kernel_w=2, beta=1.0),
        FOUR,
    ),
}


@pytest.mark.parametrize("operation", CALLS)
@pytest.mark.parametrize("far", FAR, ids=str)
def test_what_no_memory_holds_is_said(stub: Library, operation: str, far: tuple[int, int]) -> None:
    call, due = CALLS[operation]
    with pytest.raises(CallError) as caught:
        call(stub, steps(*far))
    assert caught.value.code == read_header().constants["ASSAYER_NO_MEMORY"].value
    assert np.array_equal(call(stub, steps(1, 1)), due)
