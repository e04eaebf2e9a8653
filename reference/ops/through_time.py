"""What recurrent layers share: products for all steps at once, the walk back through the steps, checks of shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from reference.arrays import Array, accumulate, check

from .blocks import product

RELU, TANH = 1, 5  # the header's ASSAYER_RELU and ASSAYER_TANH
# Of a step and d_h: d_pre_x, d_pre_h, and what of d_h goes to the step before without passing a weight.
Step = Callable[[int, Array], tuple[Array, Array, Array]]


def projected(input: Array, w_x: Array, bias: Array | None) -> Array:
    """w_x . x (+ bias) of all steps."""
    sums = product(_flat(input), w_x.T).reshape(*input.shape[:2], -1)
    return sums if bias is None else sums + bias


def start(state: Array | None, is_given: int, input: Array, w_h: Array) -> Array:
    return state if is_given else np.zeros((input.shape[0], w_h.shape[1]), input.dtype)


def stored(state: Array) -> Array:
    """A state as it lies in memory from one step to the next: products do not run on through it in another order."""
    return np.copy(state)


def before(states: Array, start: Array) -> Array:
    """The state before each step."""
    return np.concatenate([start[:, None], states[:, :-1]], axis=1)


def steps_back(through: Step, d_output: Array, w_h: Array) -> tuple[Array, Array, Array]:
    """d_pre_x and d_pre_h of all steps, and d_h of the state before the first."""
    d_pres, carried = [], None
    for step in reversed(range(d_output.shape[1])):
        d_h = d_output[:, step] if carried is None else d_output[:, step] + carried
        d_pre_x, d_pre_h, more = through(step, d_h)
        carried = stored(more + product(d_pre_h, w_h))
        d_pres.append((d_pre_x, d_pre_h))
    d_x, d_h = (np.stack(steps[::-1], axis=1) for steps in zip(*d_pres, strict=True))
    return d_x, d_h, carried


def weights_gradients(
    input: Array, w_x: Array, h: Array, d_x: Array, d_h: Array, old: Sequence[Array | None], beta: float
) -> tuple[Array, Array, Array]:
    """d_input, d_w_x and d_w_h."""
    d_input = product(_flat(d_x), w_x).reshape(*input.shape)
    d_w_x, d_w_h = product(_flat(d_x).T, _flat(input)), product(_flat(d_h).T, _flat(h))
    return d_input, accumulate(d_w_x, old[0], beta), accumulate(d_w_h, old[1], beta)


def bias_gradient(d_pre: Array, old: Array | None, beta: float) -> Array:
    return accumulate(np.sum(_flat(d_pre), axis=0), old, beta)


def _flat(sequence: Array) -> Array:
    return sequence.reshape(-1, sequence.shape[-1])


def parts_of(array: Array, count: int) -> list[Array]:
    return np.split(array, count, axis=-1)


def check_activation(operation: str, activation: int) -> None:
    check(activation in {RELU, TANH}, operation, "activation", f"{RELU} (ReLU) or {TANH} (tanh)", activation)


def check_shapes(
    operation: str, parts: int, input: Array, w_x: Array, w_h: Array, states: dict[str, Array | None],
    biases: dict[str, Array | None], sequences: dict[str, Array] | None = None, gates: Array | None = None,
) -> None:  # fmt: skip
    check(np.ndim(input) == 3, operation, "input", "three axes, (batch, steps, input_dim)", np.shape(input))
    (batch, steps, input_dim), hidden_dim = input.shape, w_h.shape[-1]
    due: dict[str, tuple[Array | None, tuple[int, ...]]] = {
        "w_x": (w_x, (parts * hidden_dim, input_dim)),
        "w_h": (w_h, (parts * hidden_dim, hidden_dim)),
    }
    due |= {name: (array, (parts * hidden_dim,)) for name, array in biases.items()}
    due |= {name: (array, (batch, hidden_dim)) for name, array in states.items()}
    due |= {name: (array, (batch, steps, hidden_dim)) for name, array in (sequences or {}).items()}
    due |= {"gates": (gates, (batch, steps, 4 * hidden_dim))} if gates is not None else {}
    for name, (array, shape) in due.items():
        got = () if array is None else np.shape(array)
        check(got == shape, operation, name, f"shape {shape}", got)
