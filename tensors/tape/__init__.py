"""A tape: gradients of what is computed with tensors, from a result to its leaves.

In: variables, functions with forward and backward.
Out: gradients in the leaves; slopes by finite differences to hold them against.
Used by: who trains a model of tensors.
"""

from __future__ import annotations

from .differences import Slopes, differences
from .function import Context, Function, Gradients
from .parts import Part
from .variable import Variable, apply, concat, no_grad

__all__ = [
    "Context",
    "Function",
    "Gradients",
    "Part",
    "Slopes",
    "Variable",
    "apply",
    "concat",
    "differences",
    "no_grad",
]
