"""Optimisers: how one parameter moves by its gradient, with decay, and what is kept of it from step to step."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

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


def check_number(where: str, value: Any, below: float = math.inf) -> None:
    """Raise GraphError for what is no finite number of 0 or more, below a bound."""
    if not _is_number(value) or not 0 <= value < below:
        raise refuse(where, "a number of 0 or more" + (f", below {below:g}" if below < math.inf else ""), value)


def check_clip_norm(where: str, value: Any) -> None:
    """Raise GraphError for what is neither None nor a number above 0."""
    if value is not None and not (_is_number(value) and value > 0):
        raise refuse(f"{where}: clip_norm", "a number above 0", value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


@dataclass(frozen=True)
class Optimizer(ABC):
    """lr: the rate; weight_decay: of every parameter."""

    lr: float
    weight_decay: float = 0.0
    count: ClassVar[int] = 0  # of moments that a parameter has

    def __post_init__(self) -> None:
        for name in ("lr", "weight_decay"):
            self._check(name)

    def _check(self, name: str, below: float = math.inf) -> None:
        check_number(f"{type(self).__name__}: {name}", getattr(self, name), below)

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
        self._check("momentum")

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
            self._check(name, below=1)
        self._check("eps")

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
