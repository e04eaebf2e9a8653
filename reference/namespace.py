"""The type of what a model is written against: a namespace that has the operations by name."""

from __future__ import annotations

from typing import Any

Ops = Any  # a namespace of operations: the reference itself, or a library with the same functions
