"""Gradients against finite differences; and wrong backwards told from rounded ones by the judge's noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bindings import Library
from conformance.limits.measure import limits
from conformance.limits.noise import FLOAT32, Noisy, using
from tensors import Tensor
from tensors.numbers import MAPS, REDUCTIONS
from tensors.tape import Context, Function, Gradients, Variable, apply, concat, differences
from tensors.tape.zips import GRADIENTS
from tests.graph.limits import FLOAT64, shares
from tests.tensors.noise import DOUBLES, expected, on, results

STEP = 2.0**-11  # four of them, added to multiples of 2^-10, are exact, and pass no kink


def drawn(shape: tuple[int, ...], seed: int, signed: bool = True) -> Any:
    """Multiples of 2^-10 from 1/64 up to 2 less that, without whole numbers and their neighbours."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 2, shape) + rng.integers(16, 1008, shape) / 1024.0
    return np.where(rng.random(shape) < 0.5, -numbers, numbers) if signed else numbers


SIGNED = {"absolute", "sign", "floor", "ceil", "round", "relu", "identity", "negative", "square", "sin", "cos", "tanh"}
SIGNED |= {"sigmoid", "silu", "softplus", "erf", "gelu", "gelu_tanh", "exp"}
A, B, W = drawn((2, 3), 1), drawn((4, 1, 3), 2), drawn((3, 2), 3)
EXPRESSIONS: dict[str, tuple[Any, list[Any]]] = {
    **{f"map {name}": (lambda x, name=name: x.map(name), [drawn((2, 3), 4, name in SIGNED)]) for name in MAPS},
    **{
        f"zip {name}": (lambda x, y, name=name: x.zip(name, y), [drawn((2, 3), 5, name != "power"), B])
        for name in GRADIENTS
    },
    **{
        f"reduce {name} along {axis}": (lambda x, name=name, axis=axis: x.reduce(name, axis), [drawn((2, 3, 2), 6)])
        for name in REDUCTIONS
        for axis in (None, 1, (0, 2))
    },
    "reduce with a start": (lambda x: x.reduce("product", 0, start=3.0) + x.reduce("maximum", 0, start=1.0), [A]),
    "matmul": (lambda x, y: x @ y, [A, W]),
    "matmul, broadcast": (lambda x, y: x @ y, [drawn((2, 1, 2, 3), 7), drawn((4, 3, 2), 8)]),
    "matmul, vectors": (lambda x, y: (x @ y) * (y @ x.T), [A, drawn((3,), 9)]),
    "views": (lambda x: x[::-1, None, 1:].permute_dims((2, 0, 1)).flip(0).squeeze(2) * x.T[1:], [A]),
    "reshape": (lambda x: x.reshape((3, 2)) @ x.T.contiguous().reshape((2, 3)), [A]),
    "broadcast": (lambda x: x.broadcast_to((2, 2, 3)) * x.expand_dims(1), [A]),
    "concat": (lambda x, y: concat([x, y * x, x[:1]], 0), [A, drawn((3,), 10)]),
    "softmax": (lambda x: (x - x.max(1, keepdims=True)).map("exp") / (x.map("exp")).sum(1, keepdims=True), [A]),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_finite_differences(name: str) -> None:
    hold_against_differences(*EXPRESSIONS[name])


def hold_against_differences(f: Any, arrays: list[Any]) -> None:
    """The gradients of f at arrays by the tape, against its slopes; what they may be off by follows from the noise."""
    shape = f(*map(Variable, map(DOUBLES, arrays))).shape
    weights = drawn(shape, 11)

    def total(*inputs: Variable) -> Variable:
        return (f(*inputs) * DOUBLES(weights)).sum()

    noise = expected(f, arrays, weights)
    with using(FLOAT64):
        noise_of_sum = (noise["result"] * weights).sum()
        rounding = float(limits(noise_of_sum)[0]) / STEP
    got = results(f, arrays, weights, DOUBLES)
    for number, slopes in enumerate(differences(total, [DOUBLES(array) for array in arrays], STEP)):
        own = noise[f"d {number}"]
        of_backward = limits(own)[0] if isinstance(own, Noisy) else 0.0
        # A difference of sums errs by `rounding` at the step, by a half and a quarter of it at those twice as wide.
        once, twice = (4 + 1 / 2) / 3 * rounding, (4 / 2 + 1 / 4) / 3 * rounding
        limit = np.abs(slopes.once - slopes.twice) + once + (once + twice) / 15 + of_backward
        error = np.abs(got[f"d {number}"] - slopes.once)
        assert (error <= limit).all(), (number, error, limit)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_on_the_c_library(name: str, stub: Library) -> None:
    f, arrays = EXPRESSIONS[name]
    weights = drawn(f(*map(Variable, map(DOUBLES, arrays))).shape, 11)
    noise = expected(f, arrays, weights, FLOAT32)
    found = shares(noise, results(f, arrays, weights, on(stub, np.float32)), both_err=False)
    assert max(found.values()) <= 1, found


class Tanh(Function):
    """tanh, of whose gradient one part in 1 / by is wrong."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        y = inputs[0].map("tanh")
        context.by = attributes["by"]
        context.save(y)
        return y

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        (y,) = context.saved
        return (gradient * (1.0 - y * y) * (1.0 + context.by),)


@pytest.mark.parametrize(("by", "is_wrong"), [(0.0, False), (2.0**-52, False), (2.0**-40, True), (1.0, True)])
def test_a_wrong_backward_is_told_from_a_rounded_one(by: float, is_wrong: bool) -> None:
    arrays, weights = [drawn((4, 5), 12)], drawn((4, 5), 13)
    noise = expected(lambda x: x.map("tanh"), arrays, weights)
    got = results(lambda x: apply(Tanh, x, by=by), arrays, weights, DOUBLES)
    assert (shares(noise, got, both_err=False)["d 0"] > 1) == is_wrong


def test_a_step_that_is_no_float64_is_refused() -> None:
    with pytest.raises(ValueError, match="differences: expected float64, got float32"):
        differences(lambda x: x, [Tensor([1.0])], STEP)
