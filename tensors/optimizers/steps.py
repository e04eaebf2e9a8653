"""SGD, Adam, AdamW."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensors.functions.arrays import array_of
from tensors.modules.module import Module
from tensors.tape import Variable
from tensors.tensor import Tensor

from .optimizer import Decays, Optimizer, Schedule, matrices, number


class SGD(Optimizer):
    """p - lr * (g + weight_decay * p); with momentum by a velocity that such gradients add up in."""

    def __init__(
        self, module: Module, lr: float | Schedule, *, momentum: float = 0.0, nesterov: bool = False,
        weight_decay: float = 0.0, decays: Decays | None = None,
    ) -> None:  # fmt: skip
        self._momentum, self._nesterov = number("SGD", "momentum", momentum, below=1.0), int(nesterov)
        self.MOMENTS = ("velocity",) if momentum else ()
        super().__init__(module, lr, weight_decay=weight_decay, decays=decays)

    def _moved(self, *arrays: Any) -> Sequence[Any]:
        param, *moments, grad, rate, decay = arrays
        ops = self._ops
        if not moments:
            return (ops.sgd_step(param, grad, lr=rate, weight_decay=decay),)
        told = {"momentum": self._momentum, "nesterov": self._nesterov, "weight_decay": decay}
        moved: Sequence[Any] = ops.momentum_step(param, grad, moments[0], lr=rate, **told)
        return moved


class Adam(Optimizer):
    """Kingma and Ba 2015, algorithm 1; the decay is part of the gradient."""

    MOMENTS = ("m", "v")

    def __init__(
        self, module: Module, lr: float | Schedule, *, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.0, decays: Decays | None = None,
    ) -> None:  # fmt: skip
        name = type(self).__name__
        beta1, beta2 = (number(name, "betas", beta, below=1.0) for beta in betas)
        self._told = {"beta1": beta1, "beta2": beta2, "eps": number(name, "eps", eps)}
        super().__init__(module, lr, weight_decay=weight_decay, decays=decays)

    def _moved(self, *arrays: Any) -> Sequence[Any]:
        param, m, v, grad, rate, decay = arrays
        moved: Sequence[Any] = self._ops.adam_step(
            param, grad, m, v, lr=rate, **self._told, weight_decay=decay, step=self.updates
        )
        return moved


class AdamW(Adam):
    """Loshchilov and Hutter 2019, algorithm 2: the decay is apart from the moments; all parameters in one call.

    decays: of matrices, where nothing else is said.
    """

    def __init__(
        self, module: Module, lr: float | Schedule, *, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.01, decays: Decays | None = matrices,
    ) -> None:  # fmt: skip
        super().__init__(module, lr, betas=betas, eps=eps, weight_decay=weight_decay, decays=decays)

    def _update(self, given: Mapping[str, Variable], rate: float, factor: Tensor | None) -> None:
        held = [[p.value.storage, *self.moments[name]] for name, p in given.items()]
        params, ms, vs = ([each[k].array for each in held] for k in range(3))
        grads = [array_of(p.grad, -1) for p in given.values() if p.grad is not None]
        dtype = next(iter(given.values())).value.dtype
        decays = np.array([self._decays[name] for name in given], dtype)
        scale = np.ones(1, dtype) if factor is None else array_of(factor, 1)
        found = self._ops.multi_adamw(params, grads, ms, vs, decays, scale, lr=rate, **self._told, step=self.updates)
        for storages, arrays in zip(held, zip(*found, strict=True), strict=True):
            for storage, array in zip(storages, arrays, strict=True):
                storage.write(array)
