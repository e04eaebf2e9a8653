"""What gradients of recurrent layers are derivatives of, to first order around the given results of the forward pass.

Those are rounded, so that they are no longer exactly those of any input: a change of the arguments, by_input and so on,
starts at zero, and what it makes of a step is added to what is given of that step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from .numbers import Matrix, Nested, Number, Vector, dot, flat
from .recurrent import TANH, start, tanh

Changes = list[Number]


def rnn(
    input: Nested, w_x: Matrix, w_h: Matrix, h0: Matrix, output: Nested, d_output: Nested, d_w_x: Matrix, d_w_h: Matrix,
    d_bias: Vector, activation: int, has_h0: int, beta: Number,
    by_input: Nested, by_w_x: Matrix, by_w_h: Matrix, by_bias: Vector, by_h0: Matrix,
) -> Number:  # fmt: skip
    """The potential of rnn_backward."""
    total = _added(beta, (d_w_x, by_w_x), (d_w_h, by_w_h), (d_bias, by_bias))
    for sample, steps in enumerate(input):
        change, y = list(by_h0[sample]), start(h0, has_h0, sample, len(w_h))
        for step, x in enumerate(steps):
            of_x, of_h = _moved(w_x, by_w_x, x, by_input[sample][step]), _moved(w_h, by_w_h, y, change)
            y = output[sample][step]
            pre = (a + b + c for a, b, c in zip(of_x, of_h, by_bias, strict=True))
            slopes = (1 - v * v if activation == TANH else Decimal(0 if v <= 0 else 1) for v in y)
            change = [slope * p for slope, p in zip(slopes, pre, strict=True)]
            total += dot(d_output[sample][step], change)
    return total


def lstm(
    input: Nested, w_x: Matrix, w_h: Matrix, h0: Matrix, c0: Matrix, output: Nested, cells: Nested, gates: Nested,
    d_output: Nested, d_w_x: Matrix, d_w_h: Matrix, d_bias: Vector, has_state: int, beta: Number,
    by_input: Nested, by_w_x: Matrix, by_w_h: Matrix, by_bias: Vector, by_h0: Matrix, by_c0: Matrix,
) -> Number:  # fmt: skip
    """The potential of lstm_backward."""
    total, width = _added(beta, (d_w_x, by_w_x), (d_w_h, by_w_h), (d_bias, by_bias)), len(w_h[0])
    for sample, steps in enumerate(input):
        change, d_c = list(by_h0[sample]), list(by_c0[sample])
        y, c = (start(state, has_state, sample, width) for state in (h0, c0))
        for step, x in enumerate(steps):
            of_x, of_h = _moved(w_x, by_w_x, x, by_input[sample][step]), _moved(w_h, by_w_h, y, change)
            i, f, g, o = _parts(gates[sample][step], 4)
            d_i, d_f, d_g, d_o = _parts([a + b + e for a, b, e in zip(of_x, of_h, by_bias, strict=True)], 4)
            for k in range(width):
                d_i[k], d_f[k], d_o[k] = (_of_sigmoid(v[k]) * d[k] for v, d in ((i, d_i), (f, d_f), (o, d_o)))
                d_g[k] *= 1 - g[k] * g[k]
                d_c[k] = d_f[k] * c[k] + f[k] * d_c[k] + d_i[k] * g[k] + i[k] * d_g[k]
                t = tanh(cells[sample][step][k])
                change[k] = d_o[k] * t + o[k] * (1 - t * t) * d_c[k]
            y, c = output[sample][step], cells[sample][step]
            total += dot(d_output[sample][step], change)
    return total


def gru(
    input: Nested, w_x: Matrix, w_h: Matrix, h0: Matrix, output: Nested, gates: Nested, d_output: Nested,
    d_w_x: Matrix, d_w_h: Matrix, d_b_x: Vector, d_b_h: Vector, has_h0: int, beta: Number,
    by_input: Nested, by_w_x: Matrix, by_w_h: Matrix, by_b_x: Vector, by_b_h: Vector, by_h0: Matrix,
) -> Number:  # fmt: skip
    """The potential of gru_backward."""
    total = _added(beta, (d_w_x, by_w_x), (d_w_h, by_w_h), (d_b_x, by_b_x), (d_b_h, by_b_h))
    width = len(w_h[0])
    for sample, steps in enumerate(input):
        change, y = list(by_h0[sample]), start(h0, has_h0, sample, width)
        for step, x in enumerate(steps):
            moved_x, moved_h = _moved(w_x, by_w_x, x, by_input[sample][step]), _moved(w_h, by_w_h, y, change)
            x_r, x_z, x_n = _parts([a + b for a, b in zip(moved_x, by_b_x, strict=True)], 3)
            h_r, h_z, d_h_n = _parts([a + b for a, b in zip(moved_h, by_b_h, strict=True)], 3)
            r, z, n, h_n = _parts(gates[sample][step], 4)
            for k in range(width):
                d_r, d_z = _of_sigmoid(r[k]) * (x_r[k] + h_r[k]), _of_sigmoid(z[k]) * (x_z[k] + h_z[k])
                d_n = (1 - n[k] * n[k]) * (x_n[k] + d_r * h_n[k] + r[k] * d_h_n[k])
                change[k] = (1 - z[k]) * d_n + d_z * (y[k] - n[k]) + z[k] * change[k]
            y = output[sample][step]
            total += dot(d_output[sample][step], change)
    return total


def _of_sigmoid(value: Number) -> Number:
    """The slope of the sigmoid where it has this value."""
    return value * (1 - value)


def _moved(weight: Matrix, by_weight: Matrix, vector: Vector, by_vector: Vector) -> Iterator[Number]:
    """How far weight . vector moves, to first order."""
    for row, by_row in zip(weight, by_weight, strict=True):
        yield dot(by_row, vector) + dot(row, by_vector)


def _parts(values: Vector, count: int) -> list[Changes]:
    width = len(values) // count
    return [list(values[part * width : (part + 1) * width]) for part in range(count)]


def _added(beta: Number, *pairs: tuple[Nested, Nested]) -> Number:
    """What is there already times beta, which is not read where beta is 0."""
    return sum((beta * dot(flat(old), flat(by)) for old, by in pairs), Decimal(0)) if beta else Decimal(0)


def by_of(*outputs: str) -> dict[str, str]:
    """Return for each gradient the change that it is the derivative by."""
    return {output: output.replace("d_", "by_", 1) for output in outputs}


POTENTIALS: dict[str, tuple[Callable[..., Any], dict[str, str]]] = {
    "rnn_backward": (rnn, by_of("d_input", "d_w_x", "d_w_h", "d_bias", "d_h0")),
    "lstm_backward": (lstm, by_of("d_input", "d_w_x", "d_w_h", "d_bias", "d_h0", "d_c0")),
    "gru_backward": (gru, by_of("d_input", "d_w_x", "d_w_h", "d_b_x", "d_b_h", "d_h0")),
}
