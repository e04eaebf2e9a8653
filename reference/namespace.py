"""What a model is written against, a namespace that has the operations by name; and those that stand before another."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

Ops = Any  # a namespace of operations: the reference itself, or a library with the same functions


class Namespace:
    """Operations by name, each carried out by `_call`, unless a method has the operation's name."""

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        if operation.startswith("_"):  # no operation: Python looks for a special method, or a field is not there yet
            raise AttributeError(f"{type(self).__name__} has no attribute {operation}")
        return functools.partial(self._call, operation)

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        """Carry out an operation."""
        raise NotImplementedError


class Wrapped(Namespace):
    """A namespace that stands before another, `ops`, and hands every call on."""

    def __init__(self, ops: Ops) -> None:
        self._ops = ops

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        return getattr(self._ops, operation)(*args, **named)
