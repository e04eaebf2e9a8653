"""Recurrent layers, one number at a time."""

from __future__ import annotations

from decimal import Decimal

from .elementwise import sigmoid
from .numbers import Matrix, Nested, Number, Vector, dot, exp

TANH = 5  # the header's ASSAYER_TANH


def tanh(x: Number) -> Number:
    return 1 - 2 / (exp(2 * x) + 1)


def _positive(x: Number) -> Number:
    return Decimal(0) if x <= 0 else x  # a NaN is not


def sums(weight: Matrix, vector: Vector, bias: Vector | None) -> list[Number]:
    """Return weight . vector + bias."""
    added = bias if bias is not None else [Decimal(0)] * len(weight)
    return [dot(row, vector) + b for row, b in zip(weight, added, strict=True)]


def start(state: Matrix, is_given: int, sample: int, width: int) -> list[Number]:
    """Return a sample's state before the first step."""
    return list(state[sample]) if is_given else [Decimal(0)] * width


def rnn_forward(
    input: Nested, w_x: Matrix, w_h: Matrix, bias: Vector, h0: Matrix, activation: int, has_bias: int, has_h0: int
) -> Nested:
    output = []
    for sample, steps in enumerate(input):
        h, found = start(h0, has_h0, sample, len(w_h)), []
        for x in steps:
            pre = zip(sums(w_x, x, bias if has_bias else None), sums(w_h, h, None), strict=True)
            h = [tanh(a + b) if activation == TANH else _positive(a + b) for a, b in pre]
            found.append(h)
        output.append(found)
    return output


def lstm_forward(
    input: Nested, w_x: Matrix, w_h: Matrix, bias: Vector, h0: Matrix, c0: Matrix, has_bias: int, has_state: int
) -> tuple[Nested, Nested, Nested]:
    width, results = len(w_h[0]), []
    for sample, steps in enumerate(input):
        h, c = (start(state, has_state, sample, width) for state in (h0, c0))
        found = []
        for x in steps:
            of_x, of_h = sums(w_x, x, bias if has_bias else None), sums(w_h, h, None)
            pre = [a + b for a, b in zip(of_x, of_h, strict=True)]
            gates = [tanh(p) if k // width == 2 else sigmoid(p) for k, p in enumerate(pre)]
            i, f, g, o = (gates[part * width : (part + 1) * width] for part in range(4))
            c = [f[k] * c[k] + i[k] * g[k] for k in range(width)]
            h = [o[k] * tanh(c[k]) for k in range(width)]
            found.append((h, c, gates))
        results.append(found)
    output, cells, gates_ = ([[step[part] for step in found] for found in results] for part in range(3))
    return output, cells, gates_


def gru_forward(
    input: Nested, w_x: Matrix, w_h: Matrix, b_x: Vector, b_h: Vector, h0: Matrix, has_bias: int, has_h0: int
) -> tuple[Nested, Nested]:
    width, results = len(w_h[0]), []
    for sample, steps in enumerate(input):
        h, found = start(h0, has_h0, sample, width), []
        for step in steps:
            x, s = sums(w_x, step, b_x if has_bias else None), sums(w_h, h, b_h if has_bias else None)
            r = [sigmoid(x[k] + s[k]) for k in range(width)]
            z = [sigmoid(x[width + k] + s[width + k]) for k in range(width)]
            n = [tanh(x[2 * width + k] + r[k] * s[2 * width + k]) for k in range(width)]
            h = [(1 - z[k]) * n[k] + z[k] * h[k] for k in range(width)]
            found.append((h, [*r, *z, *n, *s[2 * width :]]))
        results.append(found)
    output, gates = ([[step[part] for step in found] for found in results] for part in range(2))
    return output, gates
