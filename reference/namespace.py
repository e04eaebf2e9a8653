"""What a model is written against, a namespace that has the operations by name; and those that stand before another."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

Ops = Any  # a namespace of operations: the reference itself, or a library with the same functions


def has(ops: Ops, operation: str) -> bool:
    """Whether a namespace has an operation that stands for several others: where not, the model calls those."""
    told = getattr(ops, "has", None)
    return bool(told(operation)) if callable(told) else hasattr(ops, operation)


class Namespace:
    """Operations by name, each carried out by `_call`, unless a method has the operation's name."""

    def has(self, operation: str) -> bool:
        """Say of an operation that stands for several others whether the model is to call it in their place.

        Not here: whoever looks at the calls, or answers some of them otherwise, knows the operations one by one.
        """
        return False

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        if operation.startswith("_"):  # no operation: Python looks for a special method, or a field is not there yet
            raise AttributeError(f"{type(self).__name__} has no attribute {operation}")
        return functools.partial(self._call, operation)

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        """Carry out an operation."""
        raise NotImplementedError


class Wrapped(Namespace):
    """A namespace that stands before another, `ops`, and hands every call on.

    One that means the same by a fused operation as by those it is made of says so: `has = Wrapped.as_the_other_has`.
    """

    def __init__(self, ops: Ops) -> None:
        self._ops = ops

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        return getattr(self._ops, operation)(*args, **named)

    def as_the_other_has(self, operation: str) -> bool:
        """What the namespace behind this one says."""
        return has(self._ops, operation)
