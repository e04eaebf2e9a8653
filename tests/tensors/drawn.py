"""Expressions drawn at random: broadcasts, views, reductions, products, each step on what stands so far.

A step is a name and plain numbers, so that tensors of ours and of others evaluate the same expression.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

Draw = Callable[[Any], Any]
MAPS = (
    "identity", "negative", "absolute", "square", "reciprocal", "sqrt", "rsqrt", "exp", "log", "sin", "cos", "tanh",
    "sigmoid", "silu", "softplus", "erf", "relu", "gelu", "gelu_tanh",
)  # fmt: skip
POSITIVE = {"reciprocal", "sqrt", "rsqrt", "log"}  # are taken of 0.5 + x^2
TAMED = {"exp", "square"}  # are taken of sin(x)
ZIPS = ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum")
NUMBERS = ("add", "multiply", "rsub", "rdiv")  # with a number on either side
REDUCTIONS = ("sum", "product", "maximum", "minimum", "mean")
VIEWS = ("permute", "slice", "flip", "reshape", "expand_dims", "squeeze", "broadcast")
LARGEST = 200  # elements


@dataclass(frozen=True)
class Step:
    """kind and name of what is done, the numbers of the values that it reads, and what else it is told."""

    kind: str
    name: str
    reads: tuple[int, ...]
    told: Any = None


@dataclass(frozen=True)
class Drawn:
    """Leaves, steps, of which the last one is the result, and the gradient of the result."""

    arrays: tuple[Any, ...]
    steps: tuple[Step, ...]
    seed: Any


def _view(draw: Draw, name: str, shape: tuple[int, ...]) -> Any:
    """What a view is told; None where a shape has no such view."""
    if name == "permute":
        return tuple(draw(st.permutations(range(len(shape)))))
    if name == "flip":
        return tuple(k for k in range(len(shape)) if draw(st.booleans()))
    if name == "expand_dims":
        return draw(st.integers(0, len(shape)))
    if name == "squeeze":
        ones = [k for k, n in enumerate(shape) if n == 1]
        return draw(st.sampled_from(ones)) if ones else None
    if name == "broadcast":
        wide = tuple(draw(st.integers(1, 3)) if n == 1 else n for n in shape)
        return (draw(st.integers(1, 3)), *wide) if draw(st.booleans()) else wide
    if name == "reshape":
        size = int(np.prod(shape))
        first = draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
        return draw(st.sampled_from([(size,), (first, size // first), (size // first, 1, first)]))
    return tuple(_slice(draw, n) for n in shape)


def _slice(draw: Draw, length: int) -> Any:
    if draw(st.integers(0, 3)) == 0:
        return draw(st.integers(-length, length - 1))
    first, last = sorted(draw(st.tuples(st.integers(0, length - 1), st.integers(0, length - 1))))
    step = draw(st.sampled_from([1, 2]))
    backward = draw(st.booleans())
    return slice(last, first - 1 if first else None, -step) if backward else slice(first, last + 1, step)


def _step(draw: Draw, shapes: Sequence[tuple[int, ...]]) -> Step | None:
    kind = draw(st.sampled_from(["map", "zip", "reduce", "matmul", "view", "concat", "number"]))
    x = draw(st.sampled_from([len(shapes) - 1, len(shapes) - 1, *range(len(shapes))]))
    shape = shapes[x]
    if kind == "map":
        return Step(kind, draw(st.sampled_from(MAPS)), (x,))
    if kind == "number":
        return Step(
            kind,
            draw(st.sampled_from(NUMBERS)),
            (x,),
            draw(st.sampled_from([0.5, 2.0, -1.25])),
        )
    if kind == "view":
        name = draw(st.sampled_from(VIEWS))
        told = _view(draw, name, shape)
        return None if told is None else Step(kind, name, (x,), told)
    if kind == "reduce":
        axes = tuple(k for k in range(len(shape)) if draw(st.booleans())) or tuple(range(len(shape)))
        return Step(kind, draw(st.sampled_from(REDUCTIONS)), (x,), (axes, draw(st.booleans()))) if axes else None
    fits = {"zip": _broadcasts, "matmul": _multiplies, "concat": _follows}[kind]
    others = [n for n, other in enumerate(shapes) if fits(shape, other)]
    if not others:
        return None
    return Step(kind, draw(st.sampled_from(ZIPS)) if kind == "zip" else kind, (x, draw(st.sampled_from(others))))


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b), strict=False))


def _multiplies(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return bool(a and b) and a[-1] == b[max(len(b) - 2, 0)] and _broadcasts(a[:-2], b[:-2])


def _follows(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return bool(a and b) and a[1:] == b[1:]


@st.composite
def expressions(draw: Draw) -> Drawn:
    """Up to eight steps on up to three leaves, of numbers that float32 holds exactly."""
    lengths = [draw(st.integers(1, 4)) for _ in range(3)]
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    arrays = []
    for _ in range(draw(st.integers(1, 3))):
        axes = draw(st.integers(0, 3))
        shape = tuple(draw(st.sampled_from([*lengths, 1])) for _ in range(axes))
        arrays.append(rng.uniform(-1.5, 1.5, shape).astype(np.float32).astype(np.float64))
    shapes, steps = [array.shape for array in arrays], []
    for _ in range(draw(st.integers(1, 8))):
        step = _step(draw, shapes)
        if step is None:
            continue
        shape = np.shape(evaluate([np.zeros(s) for s in shapes], [step], Shapes))
        if np.prod(shape) <= LARGEST and len(shape) <= 5:
            steps.append(step)
            shapes.append(shape)
    if not steps:
        steps.append(Step("map", "tanh", (0,)))
        shapes.append(shapes[0])
    seed = rng.uniform(-1.0, 1.0, shapes[-1]).astype(np.float32).astype(np.float64)
    return Drawn(tuple(arrays), tuple(steps), seed)


def evaluate(leaves: Sequence[Any], steps: Sequence[Step], functions: Any) -> Any:
    """Return the last step's value; functions: one of each kind of step, (step, *values)."""
    values = [*leaves]
    for step in steps:
        values.append(getattr(functions, step.kind)(step, *(values[n] for n in step.reads)))
    return values[-1]


class Shapes:
    """What shapes come of steps, by NumPy."""

    @staticmethod
    def map(step: Step, x: Any) -> Any:
        return x

    number = map

    @staticmethod
    def zip(step: Step, a: Any, b: Any) -> Any:
        return a + b

    @staticmethod
    def reduce(step: Step, x: Any) -> Any:
        return np.sum(x, axis=step.told[0], keepdims=step.told[1])

    @staticmethod
    def matmul(step: Step, a: Any, b: Any) -> Any:
        return a @ b

    @staticmethod
    def concat(step: Step, a: Any, b: Any) -> Any:
        return np.concatenate([a, b])

    @staticmethod
    def view(step: Step, x: Any) -> Any:
        views = {
            "permute": np.transpose,
            "flip": np.flip,
            "reshape": np.reshape,
            "expand_dims": np.expand_dims,
            "squeeze": np.squeeze,
            "broadcast": np.broadcast_to,
        }
        return x[step.told] if step.name == "slice" else views[step.name](x, step.told)
