"""What a model is written against, a namespace that has the operations by name; and those that stand before another."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

Ops = Any  # a namespace of operations: the reference itself, or a library with the same functions


def offers(ops: Ops, operation: str) -> bool:
    """Whether a namespace says that it has an operation that does at once what others do one by one.

    A namespace that says nothing, as the reference, is given the others: by them steps are judged.
    """
    asked = getattr(ops, "offers", None)
    return bool(asked and asked(operation))


class Namespace:
    """Operations by name, each carried out by `_call`, unless a method has the operation's name."""

    def offers(self, operation: str) -> bool:
        """Whether a fused operation is to be called in place of those that it is made of.

        Not here: whoever looks at the calls, or answers some of them otherwise, knows the operations one by one.
        """
        return self.is_needed(operation)

    def is_needed(self, operation: str) -> bool:
        """Whether no other operations do the same here, so that whatever stands before this one has to offer it too."""
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

    One to which a fused operation means no more than its parts says so: `offers = Wrapped.offered_behind`.
    """

    def __init__(self, ops: Ops) -> None:
        self._ops = ops

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        return getattr(self._ops, operation)(*args, **named)

    def is_needed(self, operation: str) -> bool:
        """Whether it is behind."""
        return isinstance(self._ops, Namespace) and self._ops.is_needed(operation)

    def offered_behind(self, operation: str) -> bool:
        """Whether the namespace behind offers it."""
        return offers(self._ops, operation)
