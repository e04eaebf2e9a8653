"""What a framework is asked for a call of the header's: its operands as it has them, one call or several.

cuda/glue/framework.h does the same in C.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .settings import Settings

OPERANDS: Mapping[str, tuple[str, ...]] = {
    "map_strided": ("input", "output"),
    "zip_strided": ("a", "b", "output"),
    "reduce_strided": ("input", "output"),
    "matmul_strided": ("a", "b", "output"),
}
# Numbers of a call besides those of its operands.
NUMBERS: Mapping[str, tuple[str, ...]] = {
    "map_strided": ("axes", "function"),
    "zip_strided": ("axes", "function"),
    "reduce_strided": ("axes", "function", "axis", "length"),
    "matmul_strided": ("axes", "batch", "m", "n", "k"),
}
_LARGEST = 2**63 - 1
OF_OPERANDS = ("size", "elements", "offset", "axes")


def _times(a: int, b: int) -> int:
    """A product of two lengths; the largest number of 64 bits where it is larger, as beside an axis of length 0."""
    return min(a * b, _LARGEST)


def _product_of(lengths: tuple[int, ...]) -> int:
    return 0 if 0 in lengths else functools.reduce(_times, lengths, 1)


@dataclass(frozen=True)
class Operand:
    """A tensor as the framework has it: its storage of `size` places, and where its elements lie there."""

    lengths: tuple[int, ...]
    strides: tuple[int, ...]
    size: int
    offset: int

    @property
    def axes(self) -> int:
        return len(self.lengths)

    @property
    def elements(self) -> int:
        return _product_of(self.lengths)

    @property
    def is_dense(self) -> bool:
        """Whether the elements lie in order, one behind the other."""
        step, dense = 1, True
        for length, stride in zip(reversed(self.lengths), reversed(self.strides), strict=True):
            dense = dense and (length == 1 or stride == step)
            step = _times(step, length)
        return dense or not self.elements

    def with_axis(self, length: int, stride: int) -> Operand:
        """The tensor with one more axis behind its last."""
        return replace(self, lengths=(*self.lengths, length), strides=(*self.strides, stride))

    def padded(self, axes: int) -> Operand:
        """The tensor with axes of length 1 before its first, up to so many."""
        more = max(0, axes - self.axes)
        return replace(self, lengths=(1,) * more + self.lengths, strides=(0,) * more + self.strides)

    def shortened(self, whole: int) -> Operand:
        """The tensor with length 1, and a dense one's stride, where it repeats, but for its last `whole` axes."""
        lengths, strides, step = [*self.lengths], [*self.strides], 1
        for axis in reversed(range(self.axes)):
            if axis < self.axes - whole and lengths[axis] > 1 and not strides[axis]:
                lengths[axis], strides[axis] = 1, step
            step = _times(step, lengths[axis])
        return replace(self, lengths=tuple(lengths), strides=tuple(strides))


def dense(lengths: tuple[int, ...]) -> Operand:
    """A tensor in a storage of its own."""
    steps = []
    for axis in range(len(lengths)):
        step = 1
        for length in reversed(lengths[axis + 1 :]):
            step = _times(step, length)
        steps.append(step)
    return Operand(lengths, tuple(steps), _product_of(lengths), 0)


@dataclass(frozen=True)
class Asked:
    """One call of a framework's function: operands, and numbers by name; is_product: of matrices."""

    operands: Mapping[str, Operand]
    numbers: Mapping[str, int]
    is_product: bool = True

    def number(self, name: str) -> int:
        """A number by the name that maps have for it: of the call, or OPERAND_size and the like."""
        if name in self.numbers:
            return self.numbers[name]
        operand, _, what = name.rpartition("_")
        return int(getattr(self.operands[operand], what))


def asked(operation: str, settings: Settings, arguments: Mapping[str, Any]) -> Iterator[Asked]:
    """Yield the calls of their function that a call of the header's comes to, in order.

    arguments: by the header's names, arrays and scalars as `bindings` take them.
    """
    shape = tuple(int(length) for length in arguments["shape"])
    told = {name: _told(name, shape, arguments) for name in OPERANDS[operation]}
    if operation == "matmul_strided":
        yield _product(settings, told)
    elif operation == "reduce_strided":
        yield from _passes(settings, told, int(arguments["function"]))
    else:
        operands = {name: _as_theirs(settings, operand) for name, operand in told.items()}
        yield Asked(operands, {"axes": operands["output"].axes, "function": int(arguments["function"])})


def _told(name: str, shape: tuple[int, ...], arguments: Mapping[str, Any]) -> Operand:
    strides = tuple(int(stride) for stride in arguments[f"{name}_strides"])
    return Operand(shape[: len(strides)], strides, len(arguments[name]), int(arguments[f"{name}_offset"]))


def _as_theirs(settings: Settings, operand: Operand, whole: int = 0) -> Operand:
    """whole: how many of the last axes are as long as they are, whatever they repeat."""
    padded = operand.padded(settings.least_axes)
    return padded.shortened(whole) if settings.repeats == "length 1" else padded


def _product(settings: Settings, told: Mapping[str, Operand]) -> Asked:
    """Factors as matrices: a of M rows and K columns, b of K rows and N columns."""
    a, b = told["a"], told["b"]
    (*batch, m, n, k), (*a_batch, a_m, a_n, a_k), (*b_batch, b_m, b_n, b_k) = a.lengths, a.strides, b.strides
    left = replace(a, lengths=(*batch, m, k), strides=(*a_batch, a_m, a_k))
    right = replace(b, lengths=(*batch, k, n), strides=(*b_batch, b_k, b_n))
    operands = {"a": left, "b": right, "output": told["output"]}
    theirs = {name: _as_theirs(settings, operand, whole=2) for name, operand in operands.items()}
    shown = theirs["output"]
    numbers = {"axes": shown.axes, "batch": _product_of(shown.lengths[:-2]), "m": m, "n": n, "k": k}
    return Asked(theirs, numbers, (n <= 1 or not a_n) and (m <= 1 or not b_m))


def _passes(settings: Settings, told: Mapping[str, Operand], function: int) -> Iterator[Asked]:
    """One axis at a time, the last one first, each into a dense tensor but the last."""
    source, output = told["input"], told["output"]
    if source.axes == output.axes:
        source = source.with_axis(1, 0)
    while source.axes > output.axes + 1:
        between = dense(source.lengths[:-1])
        yield _pass(settings, source, between, function)
        source = between
    yield _pass(settings, source, output, function)


def _pass(settings: Settings, source: Operand, output: Operand, function: int) -> Asked:
    if settings.keeps_axis:
        output = output.with_axis(1, 1)
    operands = {"input": _as_theirs(settings, source, whole=1), "output": output.padded(settings.least_axes)}
    axes = operands["input"].axes
    return Asked(operands, {"axes": axes, "function": function, "axis": axes - 1, "length": source.lengths[-1]})
