"""Parts of sequences: steps cut out of each sample, and the steps of two joined, with their gradients."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, check, ieee


@ieee
def slice_steps(input: Array, first: int, count: int) -> Array:
    """The steps first ... first + count - 1 of each sample. input: (batch, steps, width)."""
    _check_steps("slice_steps", input.shape[1], first, count)
    return np.copy(input[:, first : first + count])


@ieee
def slice_steps_backward(d_output: Array, steps: int, first: int) -> Array:
    """d_output at its steps, 0 at all others. d_output: (batch, count, width). Returns (batch, steps, width)."""
    _check_steps("slice_steps_backward", steps, first, d_output.shape[1])
    none = np.zeros_like(d_output[:, :1])
    behind = steps - first - d_output.shape[1]
    return np.concatenate([np.repeat(none, first, axis=1), d_output, np.repeat(none, behind, axis=1)], axis=1)


@ieee
def concat_steps(a: Array, b: Array) -> Array:
    """Of each sample the steps of a, then those of b. a: (batch, steps_a, width), b: (batch, steps_b, width)."""
    due = (a.shape[0], b.shape[1], a.shape[2])
    check(b.shape == due, "concat_steps", "b", f"the batch and the width of a, {due}", b.shape)
    return np.concatenate([a, b], axis=1)


@ieee
def concat_steps_backward(d_output: Array, steps_a: int, steps_b: int) -> tuple[Array, Array]:
    """d_a: the first steps_a steps of each sample, and d_b: the others. d_output: (batch, steps_a + steps_b, width)."""
    steps = d_output.shape[1]
    check(steps_a >= 1, "concat_steps_backward", "steps_a", "at least 1", steps_a)
    check(steps_b >= 1, "concat_steps_backward", "steps_b", "at least 1", steps_b)
    check(steps_a + steps_b == steps, "concat_steps_backward", "d_output", f"{steps_a} + {steps_b} steps", steps)
    return np.copy(d_output[:, :steps_a]), np.copy(d_output[:, steps_a:])


def _check_steps(operation: str, steps: int, first: int, count: int) -> None:
    check(count >= 1, operation, "count", "at least 1", count)
    check(first >= 0, operation, "first", "first >= 0", first)
    check(first + count <= steps, operation, "first + count", f"at most {steps} steps", first + count)
