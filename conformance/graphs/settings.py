"""How a step of a graph is made: what dropout draws by, the optimiser, the clipping."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

OPTIMIZERS = ("sgd", "momentum", "adam", "adamw")
_BELOW_ONE = ("beta1", "beta2")


class TaskError(ValueError):
    """A graph, its arrays or its settings cannot be judged; the message says where, what was expected and what came."""


@dataclass(frozen=True)
class Settings:
    """How the step is made.

    training   whether dropout draws and batch norm measures its batch
    seed       what dropout draws by, and `step` (`philox` of a task)
    step       how many steps were made before: Adam corrects its moments, which are 0, by one more
    optimizer  sgd, momentum, adam or adamw; "" where no update is asked for
    clip_norm  the norm of all gradients together is at most this; 0: they are taken as they are
    """

    training: bool = True
    seed: int = 0
    step: int = 0
    optimizer: str = ""
    lr: float = 0.1
    momentum: float = 0.9
    nesterov: bool = False
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    weight_decay: float = 0.0
    clip_norm: float = 0.0

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Settings:
        """Return the settings of a file.  Raises TaskError."""
        if not isinstance(given, Mapping):
            raise TaskError(f"settings: expected an object, got {given!r}")
        kinds = {one.name: type(one.default) for one in fields(cls)}
        for name, value in given.items():
            if name not in kinds:
                raise TaskError(f"settings: expected some of {', '.join(kinds)}, got {name}")
            due = kinds[name]
            if type(value) is not due and not (due is float and type(value) is int):
                raise TaskError(f"settings: {name}: expected a {due.__name__}, got {value!r}")
        numbers: dict[str, Any] = {n: float(value) if kinds[n] is float else value for n, value in given.items()}
        read = cls(**numbers)
        if read.optimizer not in ("", *OPTIMIZERS):
            raise TaskError(
                f"settings: optimizer: expected one of {', '.join(OPTIMIZERS)} or none, got {read.optimizer}"
            )
        if read.optimizer and not read.training:
            raise TaskError("settings: training: expected true where parameters are updated, got false")
        for name in (name for name in kinds if kinds[name] is float or name == "step"):
            below = 1.0 if name in _BELOW_ONE else math.inf
            if not 0 <= (number := getattr(read, name)) < below:
                bound = f", below {below:g}" if below < math.inf else ""
                raise TaskError(f"settings: {name}: expected a number of 0 or more{bound}, got {number}")
        return read
