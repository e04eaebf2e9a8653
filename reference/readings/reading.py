"""What a reading is, and the three ways to state one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from reference.arrays import Array, ieee

Given: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Reading:
    """A plausible wrong way to understand an operation.

    name     a few words, unique for the operation: what a report prints after "matches"
    why      one sentence: what its author believed, or where it was seen
    function the operation computed that way, with the operation's own arguments, on float32 (or float64) arrays
    equal    where no case can tell: the proof that it equals the operation within the noise
    says     what the diagnosis says of it in place of its name: a regular expression
    """

    operation: str
    name: str
    why: str
    function: Callable[..., Any]
    equal: str = ""
    says: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "function", ieee(self.function))

    @property
    def id(self) -> str:
        return f"{self.operation}: {self.name}"


def fed(operation: Callable[..., Any], **changes: Callable[[Given], Any]) -> Callable[..., Any]:
    """The operation itself, with other arguments: each is computed from all that were given."""

    @functools.wraps(operation)
    def function(*args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(operation).bind(*args, **kwargs).arguments
        return operation(**(given | {name: change(given) for name, change in changes.items()}))

    return function


def giving(operation: Callable[..., Any], change: Callable[[Any, Given], Any]) -> Callable[..., Any]:
    """The operation itself, with other results: change(results, arguments)."""

    @functools.wraps(operation)
    def function(*args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(operation).bind(*args, **kwargs).arguments
        return change(operation(**given), given)

    return function


def without_tail(result: Any, _: Given) -> Any:
    """Nothing past the last whole vector of four elements was computed."""
    results = result if isinstance(result, tuple) else (result,)
    kept = tuple(np.where(np.arange(r.size).reshape(r.shape) < r.size // 4 * 4, r, r.dtype.type(0)) for r in results)
    return kept if isinstance(result, tuple) else kept[0]


def as_stored(array: Array, *shape: int) -> Array:
    """The same memory taken for an array of another shape."""
    return array.reshape(shape)


def rounded_to(bits: int, whole: Callable[[Array], Array] = np.rint) -> Callable[[Array], Array]:
    """Rounding to so many bits of mantissa behind the leading one: 10 for TF32, 7 for bfloat16; whole=np.trunc cuts."""

    def function(array: Array) -> Array:
        _, exponents = np.frexp(array)
        last = np.ldexp(array.dtype.type(1), np.maximum(exponents - 1, -126) - bits)  # the last bit's worth
        return whole(array / last) * last

    return function


tf32, bfloat16 = rounded_to(10), rounded_to(7)
