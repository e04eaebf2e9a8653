"""Wrong readings of clipping and of what works on many arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import optimizer as ops

from .reading import Given, Reading, fed, giving

Operation = Callable[..., Any]


def _clip_by_value(results: Any, g: Given) -> tuple[Array, Array]:
    return np.minimum(np.maximum(g["grad"], -g["clip_norm"]), g["clip_norm"]), results[1]


def _of_both(stated: tuple[Reading, ...]) -> Iterator[Reading]:
    """Readings of the sum of squares, and of the count, where both are taken at once."""
    both = ops.multi_sum_squares_nonfinite

    def with_sum(wrong: Operation) -> Operation:
        return giving(both, lambda r, g: (wrong(g["inputs"]), r[1]))

    def with_count(wrong: Operation) -> Operation:
        return giving(both, lambda r, g: (r[0], wrong(g["inputs"])))

    parts = {"multi_sum_squares": ("sum_squares", with_sum), "multi_nonfinite": ("nonfinite", with_count)}
    for reading in (one for one in stated if one.operation in parts):
        output, joined = parts[reading.operation]
        name, function = f"{output}: {reading.name}", joined(reading.function)
        yield replace(reading, operation=both.__name__, name=name, function=function)
    yield Reading(
        both.__name__,
        "what is not finite left out of the sum",
        "It has been counted, and is passed over.",
        with_sum(lambda inputs: ops.multi_sum_squares([np.where(np.isfinite(a), a, 0) for a in inputs])),
    )


_STATED = (
    Reading(
        "zero_grad",
        "size taken in bytes",
        "A quarter of the array is cleared.",
        lambda size: np.where(np.arange(size) < size // 4, 0.0, np.nan),
    ),
    Reading(
        "grad_clip",
        "clip / (norm + 1e-6)",
        "The norm is protected from 0, as in PyTorch.",
        giving(
            ops.grad_clip,
            lambda r, g: (g["grad"] * np.minimum(g["clip_norm"] / (r[1] + 1e-6), 1.0), r[1]),
        ),
    ),
    Reading(
        "grad_clip", "clipped by value", "Every element is clipped by itself.", giving(ops.grad_clip, _clip_by_value)
    ),
    Reading(
        "grad_clip",
        "always scaled",
        "A smaller norm is raised to clip_norm.",
        giving(ops.grad_clip, lambda r, g: (g["grad"] * (g["clip_norm"] / r[1]), r[1])),
    ),
    Reading(
        "grad_clip",
        "clipped where the norm is NaN",
        "The condition is turned about: what is not below clip_norm is clipped.",
        giving(ops.grad_clip, lambda r, g: (np.where(np.isnan(r[1]), r[1], r[0]), r[1])),
    ),
    Reading(
        "grad_clip",
        "norm not rooted",
        "total_norm is the sum of squares.",
        giving(ops.grad_clip, lambda r, g: (r[0], r[1] * r[1])),
    ),
    Reading(
        "grad_clip",
        "norm after clipping",
        "total_norm is that of the clipped gradient.",
        giving(ops.grad_clip, lambda r, g: (r[0], np.minimum(r[1], g["clip_norm"]))),
    ),
    Reading(
        "clip_scale",
        "norm after clipping",
        "total_norm is that of the clipped gradient.",
        giving(ops.clip_scale, lambda r, g: (np.minimum(r[0], g["clip_norm"]), r[1])),
    ),
    Reading(
        "clip_scale",
        "clip / (norm + 1e-6)",
        "The norm is protected from 0, as in PyTorch.",
        giving(ops.clip_scale, lambda r, g: (r[0], np.minimum(g["clip_norm"] / (r[0] + 1e-6), 1.0))),
    ),
    Reading(
        "clip_scale",
        "always scaled",
        "A smaller norm is raised to clip_norm.",
        giving(ops.clip_scale, lambda r, g: (r[0], g["clip_norm"] / r[0])),
    ),
    Reading(
        "clip_scale",
        "clipped where the norm is NaN",
        "The condition is turned about: what is not below clip_norm is clipped.",
        giving(ops.clip_scale, lambda r, g: (r[0], np.where(np.isnan(r[0]), r[0], r[1]))),
    ),
    Reading(
        "clip_scale",
        "norm not rooted",
        "The sum of squares is taken for the norm.",
        fed(ops.clip_scale, sum_squares=lambda g: g["sum_squares"] ** 2),
    ),
    Reading(
        "multi_sum_squares",
        "last array alone",
        "Every array's sum is assigned instead of added.",
        fed(ops.multi_sum_squares, inputs=lambda g: g["inputs"][-1:]),
    ),
    Reading(
        "multi_sum_squares",
        "mean",
        "The sum is divided by the number of elements.",
        giving(ops.multi_sum_squares, lambda r, g: r / float(sum(a.size for a in g["inputs"]))),
    ),
    Reading(
        "multi_sum_squares",
        "norm",
        "The root is taken already.",
        giving(ops.multi_sum_squares, lambda r, g: np.sqrt(r)),
    ),
    Reading(
        "multi_nonfinite",
        "last array alone",
        "Every array's count is assigned instead of added.",
        fed(ops.multi_nonfinite, inputs=lambda g: g["inputs"][-1:]),
    ),
    Reading(
        "multi_nonfinite",
        "first array alone",
        "The other arrays are not looked at.",
        fed(ops.multi_nonfinite, inputs=lambda g: g["inputs"][:1]),
    ),
    Reading(
        "multi_nonfinite",
        "NaN alone",
        "Infinities count as numbers.",
        fed(ops.multi_nonfinite, inputs=lambda g: [np.where(np.isinf(a), 0, a) for a in g["inputs"]]),
    ),
    Reading(
        "multi_nonfinite",
        "infinities alone",
        "NaN passes every comparison.",
        fed(ops.multi_nonfinite, inputs=lambda g: [np.where(np.isnan(a), 0, a) for a in g["inputs"]]),
    ),
    Reading(
        "multi_nonfinite",
        "whether there is one",
        "A flag is raised, and nothing counted.",
        giving(ops.multi_nonfinite, lambda r, g: np.minimum(r, r.dtype.type(1))),
    ),
    Reading(
        "multi_nonfinite",
        "arrays that hold one",
        "An array is left at its first, and counts once.",
        fed(ops.multi_nonfinite, inputs=lambda g: [np.max(np.abs(a), keepdims=True) for a in g["inputs"]]),
    ),
    Reading(
        "multi_nonfinite",
        "by the squares",
        "A finite number whose square overflows is counted.",
        fed(ops.multi_nonfinite, inputs=lambda g: [np.where(np.abs(a) > 2.0**64, np.inf, a) for a in g["inputs"]]),
    ),
    Reading(
        "multi_scale",
        "first array alone",
        "The other arrays are left as they are.",
        giving(ops.multi_scale, lambda r, g: [r[0], *(a + 0.0 for a in g["arrays"][1:])]),
    ),
    Reading(
        "multi_scale",
        "divided",
        "The scale is taken for a divisor.",
        fed(ops.multi_scale, scale=lambda g: 1.0 / g["scale"]),
    ),
)

READINGS = (*_STATED, *_of_both(_STATED))
