"""Optimisers: how one parameter moves by its gradient, with decay, and what is kept of it from step to step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from reference.arrays import Array
from reference.namespace import Ops

from .errors import refuse

Moments = tuple[Array, ...]


@dataclass(frozen=True)
class State:
    """Where an optimiser stands: how many steps were made, and the moments of each parameter by name."""

    step: int = 0
    moments: Mapping[str, Moments] = field(default_factory=dict)


@dataclass(frozen=True)
class Optimizer(ABC):
    """lr: the rate; weight_decay: of every parameter."""

    lr: float
    weight_decay: float = 0.0
    count: ClassVar[int] = 0  # of moments that a parameter has

    def __post_init__(self) -> None:
        for name in ("lr", "weight_decay"):
            self._within(name, getattr(self, name) >= 0, "a number of 0 or more")

    def _within(self, name: str, holds: bool, expected: str) -> None:
        if not holds:
            raise refuse(f"{type(self).__name__}: {name}", expected, getattr(self, name))

    def start(self, parameters: Mapping[str, Array]) -> State:
        """Where training of these parameters starts: no steps, moments of 0."""
        return State(0, {name: self.zeros(array) for name, array in parameters.items()})

    def zeros(self, array: Array) -> Moments:
        return tuple(np.zeros_like(array) for _ in range(self.count))

    @abstractmethod
    def update(
        self, ops: Ops, param: Array, grad: Array, moments: Moments, step: int, lr: float
    ) -> tuple[Array, Moments]:
        """Return a parameter and its moments after step `step`, counted from 1; arrays of one dimension.

        A library writes to the arrays given.
        """


@dataclass(frozen=True)
class SGD(Optimizer):
    """param - lr * (grad + weight_decay * param)."""

    lr: float = 0.01

    def update(
        self, ops: Ops, param: Array, grad: Array, moments: Moments, step: int, lr: float
    ) -> tuple[Array, Moments]:
        return ops.sgd_step(param, grad, lr=lr, weight_decay=self.weight_decay), ()


@dataclass(frozen=True)
class Momentum(Optimizer):
    """A velocity that gradients add up in; nesterov looks one more step ahead. The rate is outside, as in PyTorch."""

    lr: float = 0.01
    momentum: float = 0.9
    nesterov: bool = False
    count: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._within("momentum", self.momentum >= 0, "a number of 0 or more")

    def update(
        self, ops: Ops, param: Array, grad: Array, moments: Moments, step: int, lr: float
    ) -> tuple[Array, Moments]:
        numbers = {"momentum": self.momentum, "weight_decay": self.weight_decay, "nesterov": int(self.nesterov)}
        param, velocity = ops.momentum_step(param, grad, *moments, lr=lr, **numbers)
        return param, (velocity,)


@dataclass(frozen=True)
class Adam(Optimizer):
    """Adam (Kingma and Ba 2015); its decay goes through the moments, as part of the gradient."""

    lr: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    count: ClassVar[int] = 2
    operation: ClassVar[str] = "adam_step"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("beta1", "beta2"):
            self._within(name, 0 <= getattr(self, name) < 1, "a number of 0 or more, below 1")
        self._within("eps", self.eps >= 0, "a number of 0 or more")

    def update(
        self, ops: Ops, param: Array, grad: Array, moments: Moments, step: int, lr: float
    ) -> tuple[Array, Moments]:
        numbers = {"beta1": self.beta1, "beta2": self.beta2, "eps": self.eps, "weight_decay": self.weight_decay}
        param, m, v = getattr(ops, self.operation)(param, grad, *moments, lr=lr, **numbers, step=step)
        return param, (m, v)


@dataclass(frozen=True)
class AdamW(Adam):
    """Adam with decoupled decay (Loshchilov and Hutter 2019): the parameter shrinks by lr * weight_decay."""

    weight_decay: float = 0.01
    operation: ClassVar[str] = "adamw_step"
