"""What is raised; every message says what was expected and what came."""

from __future__ import annotations


class TensorError(ValueError):
    """A call that tensors cannot do."""


class TensorIndexError(TensorError, IndexError):
    """An index that a tensor has not."""


class TapeError(RuntimeError):
    """A gradient that cannot be had."""


def check(condition: object, operation: str, expected: str, got: object) -> None:
    """Raise a TensorError where the condition does not hold."""
    if not condition:
        raise TensorError(f"{operation}: expected {expected}, got {got}")
