"""Drawn expressions on the tape, and whether rounding decides what one of their kinks gives."""

from __future__ import annotations

import numpy as np

from conformance.limits.measure import limits
from conformance.limits.noise import Noisy
from tensors.tape import Variable, concat
from tests.tensors.drawn import POSITIVE, TAMED, Step
from tests.tensors.noise import elements


class Ours:
    """Steps on Variables; `near` says that on noise numbers a kink was met within what rounding may come to."""

    def __init__(self) -> None:
        self.near = False

    def _kink(self, gap: Variable) -> None:
        found = elements(gap.value)
        if isinstance(found, Noisy):
            limit = limits(found)[0]
            self.near |= bool(((np.abs(found.v) <= limit) & (limit > 0)).any())

    def map(self, step: Step, x: Variable) -> Variable:
        if step.name in POSITIVE:
            x = x * x + 0.5
        if step.name in TAMED:
            x = x.map("sin")
        if step.name in ("absolute", "relu"):
            self._kink(x)
        return x.map(step.name)

    def zip(self, step: Step, a: Variable, b: Variable) -> Variable:
        if step.name in ("maximum", "minimum"):
            self._kink(a - b)
        if step.name == "divide":
            b = b * b + 0.5
        if step.name == "power":
            a, b = a.map("sin") + 1.5, b.map("tanh")
        return a.zip(step.name, b)

    def number(self, step: Step, x: Variable) -> Variable:
        return {
            "add": lambda: x + step.told,
            "multiply": lambda: x * step.told,
            "rsub": lambda: step.told - x,
            "rdiv": lambda: step.told / (x.map("sigmoid") + 0.5),
        }[step.name]()

    def reduce(self, step: Step, x: Variable) -> Variable:
        axes, keepdims = step.told
        if step.name in ("maximum", "minimum"):
            self._others(x, x.reduce(step.name, axes, True))
        return x.reduce(step.name, axes, keepdims)

    def _others(self, x: Variable, extreme: Variable) -> None:
        """Whether another is the extreme one but for rounding."""
        found, best = elements(x.value), elements(extreme.value)
        if isinstance(found, Noisy):
            limit = limits(found)[0] + limits(best)[0]
            close = (np.abs(found.v - best.v) <= limit) & (limit > 0)
            axes = tuple(k for k, n in enumerate(best.shape) if n != found.shape[k])
            self.near |= bool((close.sum(axis=axes) > 1).any())

    def matmul(self, step: Step, a: Variable, b: Variable) -> Variable:
        return a @ b

    def concat(self, step: Step, a: Variable, b: Variable) -> Variable:
        return concat([a, b])

    def view(self, step: Step, x: Variable) -> Variable:
        return {
            "permute": x.permute_dims,
            "flip": x.flip,
            "reshape": lambda shape: x.contiguous().reshape(shape),
            "expand_dims": x.expand_dims,
            "squeeze": x.squeeze,
            "broadcast": x.broadcast_to,
            "slice": x.__getitem__,
        }[step.name](step.told)
