"""Optimisers: parameters move by their gradients, in place, by the header's operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tensors.errors import check
from tensors.functions.arrays import array_of
from tensors.modules.module import Module
from tensors.storage import Storage
from tensors.tape import Variable
from tensors.tensor import Tensor

from .schedules import Constant

Schedule = Callable[[int], float]  # a rate by the update's number, which counts from 1
Decays = Callable[[str, Variable], bool]


def matrices(name: str, parameter: Variable) -> bool:
    """Whether a parameter has two axes or more: weights have, norms and biases have not."""
    return parameter.ndim >= 2


class Optimizer:
    """`step()` moves every parameter that has a gradient, and counts the update.

    lr: a rate or a schedule. weight_decay is that of the parameters that `decays` names; None: all. Raises TensorError
    for parameters that share a storage, or are not dense: an update would move others.
    """

    MOMENTS: tuple[str, ...] = ()  # arrays like the parameter that are kept of it from step to step

    def __init__(
        self, module: Module, lr: float | Schedule, *, weight_decay: float = 0.0, decays: Decays | None = None
    ) -> None:
        name = type(self).__name__
        self.parameters = dict(module.named_parameters())
        check(self.parameters, name, "a module with parameters", "none")
        _check_storages(name, self.parameters)
        self._ops = next(iter(self.parameters.values())).value.ops
        self.schedule = Constant(number(name, "lr", lr)) if isinstance(lr, int | float) else lr
        decay = number(name, "weight_decay", weight_decay)
        self._decays = {n: decay if decays is None or decays(n, p) else 0.0 for n, p in self.parameters.items()}
        self.updates = 0
        self.moments = {
            n: [Storage(np.zeros(p.size, p.value.dtype), p.value.ops) for _ in self.MOMENTS]
            for n, p in self.parameters.items()
        }

    def step(self, factor: Tensor | None = None) -> float:
        """Make one update, gradients taken times `factor` (what `clipping` gives); return its rate."""
        given = {name: p for name, p in self.parameters.items() if p.grad is not None}
        name, missing = type(self).__name__, ", ".join(sorted(self.parameters.keys() - given.keys()))
        check(given, name, "gradients: backward first", "none")
        check(
            not (missing and self.MOMENTS),
            name,
            "gradients of all: moments are of as many updates",
            f"none of {missing}",
        )
        rate = self.schedule(self.updates + 1)
        self.updates += 1
        try:
            self._update(given, rate, factor)
        except BaseException:
            self.updates -= 1
            raise
        return rate

    def _update(self, given: Mapping[str, Variable], rate: float, factor: Tensor | None) -> None:
        for name, parameter in given.items():
            assert parameter.grad is not None
            gradient = parameter.grad if factor is None else parameter.grad * factor
            held = [parameter.value.storage, *self.moments[name]]
            found = self._moved(*(each.array for each in held), array_of(gradient, -1), rate, self._decays[name])
            for storage, array in zip(held, found, strict=True):
                storage.write(array)

    def _moved(self, *arrays: Any) -> Sequence[Any]:
        """(param, moments ...) after an update: given those, the gradient, the rate and the decay."""
        raise NotImplementedError

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for parameter in self.parameters.values():
            parameter.zero_grad()

    def state_dict(self) -> dict[str, np.ndarray[Any, Any]]:
        """Copies of all moments as "m.NAME", and "updates"."""
        found = {"updates": np.array(self.updates, np.int64)}
        for name, parameter in self.parameters.items():
            for moment, storage in zip(self.MOMENTS, self.moments[name], strict=True):
                found[f"{moment}.{name}"] = np.array(storage.array.reshape(parameter.shape))
        return found

    def load_state_dict(self, state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take what `state_dict` gave; raises TensorError, and changes nothing, where it does not fit."""
        own, problems = self.state_dict(), []
        for name in own.keys() | state.keys():
            if name not in state or name not in own:
                problems.append(f"no {name}" if name in own else f"{name}, which there is not")
            elif (given := np.asarray(state[name])).shape != own[name].shape or given.dtype != own[name].dtype:
                wanted = f"{own[name].shape} of {own[name].dtype}"
                problems.append(f"{name} {given.shape} of {given.dtype}, not {wanted}")
        check(not problems, "load_state_dict", f"{len(own)} arrays by name", "; ".join(sorted(problems)))
        self.updates = int(state["updates"])
        for name, storages in self.moments.items():
            for moment, storage in zip(self.MOMENTS, storages, strict=True):
                storage.write(np.array(state[f"{moment}.{name}"]).reshape(-1))


def _check_storages(operation: str, parameters: Mapping[str, Variable]) -> None:
    owners: dict[int, str] = {}
    for name, parameter in parameters.items():
        value = parameter.value
        whole = value.layout.is_dense and len(value.storage) == value.size
        check(whole, operation, f"{name} in a dense storage of its own", f"strides {value.strides}")
        owner = owners.setdefault(id(value.storage), name)
        check(owner == name, operation, f"{name} in a storage of its own", f"that of {owner}")


def number(operation: str, name: str, value: float, below: float = math.inf) -> float:
    """Return a finite number from 0 up to below a bound; raises TensorError."""
    bound = "" if math.isinf(below) else f" up to below {below:g}"
    check(math.isfinite(value) and 0 <= value < below, operation, f"{name}: a finite number from 0{bound}", value)
    return float(value)
