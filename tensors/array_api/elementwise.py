"""Functions element by element, and the operators of the same names."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from tensors.tensor import Tensor

from .array import Array, Function, bools, floats, promoted
from .dtypes import bool, result_type


def _map(name: str, function: str | None = None) -> Function:
    def mapped(x: Array, /) -> Array:
        return Array(floats(name, x).map(function or name))

    return _named(mapped, name, "of every element")


def _zip(name: str, function: str | None = None) -> Function:
    def zipped(x1: Any, x2: Any, /) -> Array:
        a, b = promoted(name, x1, x2)
        return Array(floats(name, a).zip(function or name, floats(name, b)))

    return _named(zipped, name, "of every two elements, broadcast")


def _compare(name: str, compared: Callable[[Tensor, Tensor], Tensor], of_bools: builtins.bool = False) -> Function:
    def comparison(x1: Any, x2: Any, /) -> Array:
        a, b = promoted(name, x1, x2)
        if of_bools:
            return Array(compared(a.tensor, b.tensor), True)
        return Array(compared(floats(name, a), floats(name, b)), True)

    return _named(comparison, name, "of every two elements, broadcast: true or false")


def _logical(name: str, function: str) -> Function:
    def logical(x1: Any, x2: Any, /) -> Array:
        a, b = promoted(name, x1, x2)
        return Array(bools(name, a).zip(function, bools(name, b)), True)

    return _named(logical, name, "of every two truths, broadcast")


def _named(function: Function, name: str, what: str) -> Function:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name} {what}."
    return function


ceil, floor, round, sign = (_map(name) for name in ("ceil", "floor", "round", "sign"))
square, sqrt, exp, log = (_map(name) for name in ("square", "sqrt", "exp", "log"))
sin, cos, tanh, reciprocal = (_map(name) for name in ("sin", "cos", "tanh", "reciprocal"))
negative, positive, abs = _map("negative"), _map("positive", "identity"), _map("abs", "absolute")
add, subtract, multiply, divide = (_zip(name) for name in ("add", "subtract", "multiply", "divide"))
maximum, minimum, pow = _zip("maximum"), _zip("minimum"), _zip("pow", "power")
less, less_equal = _compare("less", Tensor.__lt__), _compare("less_equal", Tensor.__le__)
greater, greater_equal = _compare("greater", Tensor.__gt__), _compare("greater_equal", Tensor.__ge__)
equal, not_equal = _compare("equal", Tensor.__eq__, True), _compare("not_equal", Tensor.__ne__, True)
logical_and, logical_or = _logical("logical_and", "minimum"), _logical("logical_or", "maximum")
logical_xor = _logical("logical_xor", "not_equal")
bitwise_and, bitwise_or = _logical("bitwise_and", "minimum"), _logical("bitwise_or", "maximum")
bitwise_xor = _logical("bitwise_xor", "not_equal")


def logical_not(x: Array, /) -> Array:
    """True where it is not."""
    return Array(bools("logical_not", x) == 0.0, True)


def bitwise_invert(x: Array, /) -> Array:
    """True where it is not: of bool, the only type here that has bits to name."""
    return logical_not(x)


def isnan(x: Array, /) -> Array:
    t = floats("isnan", x)
    return Array(t != t, True)


def isfinite(x: Array, /) -> Array:
    t = floats("isfinite", x)
    return Array(t - t == 0.0, True)


def isinf(x: Array, /) -> Array:
    return Array(floats("isinf", x).map("absolute") == float("inf"), True)


def trunc(x: Array, /) -> Array:
    """The whole number towards 0."""
    t = floats("trunc", x)
    return Array(t.map("sign") * t.map("absolute").map("floor"))


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Every element, but not below min, nor above max."""
    found = positive(x)
    for limit, function in ((min, maximum), (max, minimum)):
        if limit is not None:
            found = function(found, limit.as_type(x.dtype) if isinstance(limit, Array) else limit)
    return found


def where(condition: Array, x1: Any, x2: Any, /) -> Array:
    """x1 where it is true, else x2."""
    a, b = promoted("where", x1, x2)
    return Array(_chosen(bools("where", condition), a.tensor, b.tensor), result_type(a) is bool)


def _chosen(condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """What is chosen is not multiplied, as 0 times infinity is NaN: ReLU's backward passes a number on where another is
    above 0. What is not chosen becomes -0, which added to any number leaves it, and its sign."""
    wanted = Tensor(condition.numpy().astype(a.dtype, copy=False), condition.ops)
    return -wanted.zip("relu_backward", -a) + -(wanted == 0.0).zip("relu_backward", -b)


def _reflected(function: Function) -> Function:
    return lambda self, other: function(other, self)


def _in_place(function: Function) -> Function:
    def update(self: Array, other: Any) -> Array:
        self[...] = function(self, other)
        return self

    return update


_BOTH = {"add": add, "sub": subtract, "mul": multiply, "truediv": divide, "pow": pow}
_COMPARED = {"lt": less, "le": less_equal, "gt": greater, "ge": greater_equal, "eq": equal, "ne": not_equal}
_TRUTHS = {"and": logical_and, "or": logical_or, "xor": logical_xor}
for _name, _function in (_BOTH | _TRUTHS).items():
    setattr(Array, f"__{_name}__", _function)
    setattr(Array, f"__r{_name}__", _reflected(_function))
    setattr(Array, f"__i{_name}__", _in_place(_function))
for _name, _function in (_COMPARED | {"neg": negative, "pos": positive, "abs": abs, "invert": logical_not}).items():
    setattr(Array, f"__{_name}__", _function)
