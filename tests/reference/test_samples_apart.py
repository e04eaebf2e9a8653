"""What is computed of a sample does not depend on the others: more samples than a plane has rows, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from reference import random

BATCH, HEIGHT, WIDTH = 9, 2, 3
STEPS = {"stride_h": 1, "stride_w": 2, "pad_h": 1, "pad_w": 2, "dilation_h": 1, "dilation_w": 2, "groups": 2}
WINDOW = {"kernel_h": 2, "kernel_w": 3, "stride_h": 1, "stride_w": 2, "pad_h": 1, "pad_w": 1}
OUT_H, OUT_W = 3, 2  # of these windows; of the convolution, whose kernel spans 2 x 5 places, 3 x 2, too


def whole(name: str, *shape: int) -> Any:
    """Whole numbers, whose sums are exact in any order."""
    return random.integers(random.stream("apart", name), -8, 9, shape).astype(np.float64)


WEIGHT = whole("weight", 6, 2, 2, 3)
INPUT, D_OUTPUT = whole("input", BATCH, 4, HEIGHT, WIDTH), whole("d_output", BATCH, 6, OUT_H, OUT_W)
PLACES = reference.max_pool2d(INPUT, **WINDOW)[1]
D_POOLED = D_OUTPUT[:, :4]
# Operations, the arrays that hold samples, and all other arguments.
SAMPLED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("conv2d", {"input": INPUT}, {"weight": WEIGHT, "bias": whole("bias", 6), **STEPS, "has_bias": 1}),
    (
        "conv2d_backward_input",
        {"d_output": D_OUTPUT},
        {"weight": WEIGHT, "in_channels": 4, "height": HEIGHT, "width": WIDTH, **STEPS},
    ),
    ("max_pool2d", {"input": INPUT}, WINDOW),
    ("max_pool2d_backward", {"d_output": D_POOLED, "places": PLACES}, {"height": HEIGHT, "width": WIDTH, **WINDOW}),
    ("avg_pool2d", {"input": INPUT}, {**WINDOW, "count_include_pad": 0}),
    (
        "avg_pool2d_backward",
        {"d_output": D_POOLED * 24},
        {"height": HEIGHT, "width": WIDTH, **WINDOW, "count_include_pad": 0},
    ),
    ("slice_steps", {"input": INPUT[:, :, 0]}, {"first": 1, "count": 2}),
    ("slice_steps_backward", {"d_output": INPUT[:, :, 0]}, {"steps": 7, "first": 2}),
    ("concat_steps", {"a": INPUT[:, :, 0], "b": INPUT[:, :2, 1]}, {}),
    ("concat_steps_backward", {"d_output": INPUT[:, :, 0]}, {"steps_a": 1, "steps_b": 3}),
]


@pytest.mark.parametrize(("operation", "samples", "others"), SAMPLED)
def test_samples_are_computed_apart(operation: str, samples: dict[str, Any], others: dict[str, Any]) -> None:
    def results(rows: slice) -> tuple[Any, ...]:
        found = getattr(reference, operation)(**{name: array[rows] for name, array in samples.items()}, **others)
        return found if isinstance(found, tuple) else (found,)

    one_by_one = zip(*(results(slice(row, row + 1)) for row in range(BATCH)), strict=True)
    for together, apart in zip(results(slice(None)), one_by_one, strict=True):
        np.testing.assert_array_equal(together, np.concatenate(apart))


def test_gradients_of_weights_add_up_over_samples() -> None:
    given = {"d_weight": None, "kernel_h": 2, "kernel_w": 3, **STEPS, "beta": 0.0}
    together = reference.conv2d_backward_weight(INPUT, D_OUTPUT, **given)
    apart = [
        reference.conv2d_backward_weight(INPUT[row : row + 1], D_OUTPUT[row : row + 1], **given) for row in range(BATCH)
    ]
    np.testing.assert_array_equal(together, sum(apart))
