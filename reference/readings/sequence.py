"""Wrong readings of cutting and of joining sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import sequence as ops

from .reading import Given, Reading, as_stored, fed, giving


def _from_the_end(g: Given) -> int:
    steps = g["input"].shape[1] if "input" in g else g["steps"]
    count = g["count"] if "input" in g else g["d_output"].shape[1]
    return int(steps - count - g["first"])


def _next(g: Given) -> int:
    """One step later, where there is one."""
    steps = g["input"].shape[1] if "input" in g else g["steps"]
    count = g["count"] if "input" in g else g["d_output"].shape[1]
    return int(min(g["first"] + 1, steps - count))


def _one_sample(results: Any, g: Given) -> Any:
    """Nothing written of the samples behind the first."""
    parts = results if isinstance(results, tuple) else (results,)
    kept = tuple(np.where(np.arange(len(part)).reshape(-1, 1, 1) == 0, part, part.dtype.type(0)) for part in parts)
    return kept if isinstance(results, tuple) else kept[0]


def _time_first(array: Array) -> Array:
    """The memory of an array taken for (steps, batch, width)."""
    batch, steps, width = array.shape
    return as_stored(array, steps, batch, width).swapaxes(0, 1)


def _as_time_first(array: Array) -> Array:
    """Memory that holds an array as (steps, batch, width), taken for (batch, steps, width)."""
    return as_stored(array.swapaxes(0, 1), *array.shape)


def _slice_time_first(input: Array, first: int, count: int) -> Array:
    return _as_time_first(ops.slice_steps(_time_first(input), first, count))


def _slice_backward_time_first(d_output: Array, steps: int, first: int) -> Array:
    return _as_time_first(ops.slice_steps_backward(_time_first(d_output), steps, first))


def _concat_time_first(a: Array, b: Array) -> Array:
    return _as_time_first(ops.concat_steps(_time_first(a), _time_first(b)))


def _concat_backward_time_first(d_output: Array, steps_a: int, steps_b: int) -> tuple[Array, Array]:
    d_a, d_b = ops.concat_steps_backward(_time_first(d_output), steps_a, steps_b)
    return _as_time_first(d_a), _as_time_first(d_b)


def _interleaved(a: Array, b: Array) -> Array:
    """One step of each in turn, then what is left of the longer one."""
    return np.take(ops.concat_steps(a, b), _turns(a.shape[1], b.shape[1]), axis=1)


def _turns(steps_a: int, steps_b: int) -> Array:
    """Which step of both joined stands where they alternate."""
    turn = np.concatenate([np.arange(steps_a) * 2, np.arange(steps_b) * 2 + 1])
    return np.argsort(turn, kind="stable")


def _dealt_out(d_output: Array, steps_a: int, steps_b: int) -> tuple[Array, Array]:
    """The gradient of steps in turn."""
    order = np.argsort(_turns(steps_a, steps_b))
    return ops.concat_steps_backward(np.take(d_output, order, axis=1), steps_a, steps_b)


def _exchanged(d_output: Array, steps_a: int, steps_b: int) -> tuple[Array, Array]:
    d_b, d_a = ops.concat_steps_backward(d_output, steps_b, steps_a)
    return d_a, d_b


_SLICES = (ops.slice_steps, ops.slice_steps_backward)
_EVERY = (*_SLICES, ops.concat_steps, ops.concat_steps_backward)
_TIME_FIRST: tuple[Callable[..., Any], ...] = (
    _slice_time_first,
    _slice_backward_time_first,
    _concat_time_first,
    _concat_backward_time_first,
)

READINGS = (
    *(
        Reading(function.__name__, "first sample alone", "The batch is left out.", giving(function, _one_sample))
        for function in _EVERY
    ),
    *(
        Reading(function.__name__, "steps before samples", "Memory is laid out (steps, batch, width).", as_read)
        for function, as_read in zip(_EVERY, _TIME_FIRST, strict=True)
    ),
    *(
        Reading(function.__name__, "first counted from the end", "The steps behind are counted.",
                fed(function, first=_from_the_end))
        for function in _SLICES
    ),
    *(
        Reading(function.__name__, "one step late", "Steps are counted from 1.", fed(function, first=_next))
        for function in _SLICES
    ),
    *(
        Reading(function.__name__, "from the first step on", "first is not read.", fed(function, first=lambda g: 0))
        for function in _SLICES
    ),
    Reading("concat_steps", "halves exchanged", "b stands first.", lambda a, b: ops.concat_steps(b, a)),
    Reading("concat_steps", "in turn", "A step of a is followed by one of b.", _interleaved),
    Reading("concat_steps_backward", "halves exchanged", "b's steps are taken to stand first.", _exchanged),
    Reading("concat_steps_backward", "in turn", "A step of a is followed by one of b.", _dealt_out),
)  # fmt: skip
