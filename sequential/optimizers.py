"""Optimisers by Keras' names and with Keras' defaults; any of `graph.optimizers` may be given in their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from graph.optimizers import SGD, Adam, AdamW, Momentum, Optimizer

# Keras' eps is 1e-7 where PyTorch's and that of `graph.optimizers` is 1e-8, its weight decay of AdamW 0.004.
NAMED: dict[str, Callable[[], Optimizer]] = {
    "sgd": SGD,
    "momentum": Momentum,
    "adam": lambda: Adam(eps=1e-7),
    "adamw": lambda: AdamW(eps=1e-7, weight_decay=0.004),
}
_KINDS = {kind.__name__: kind for kind in (SGD, Momentum, Adam, AdamW)}


def optimizer_of(given: Any) -> Optimizer:
    """Return the optimiser of a name, of a configuration, or an optimiser itself.  Raises ValueError for others."""
    if isinstance(given, Optimizer):
        return given
    if isinstance(given, dict) and given.get("optimizer") in _KINDS:
        settings = {name: value for name, value in given.items() if name != "optimizer"}
        try:
            return _KINDS[given["optimizer"]](**settings)
        except TypeError as error:
            raise ValueError(f"compile: optimizer: {error}") from None
    if not isinstance(given, str) or given.lower() not in NAMED:
        raise ValueError(f"compile: optimizer: expected one of {', '.join(NAMED)} or an Optimizer, got {given!r}")
    return NAMED[given.lower()]()


def configuration(optimizer: Optimizer) -> dict[str, Any]:
    """What `optimizer_of` makes the optimiser of again.  Raises ValueError for one that it does not know."""
    if _KINDS.get(type(optimizer).__name__) is not type(optimizer):
        raise ValueError(f"save: optimizer: expected one of {', '.join(_KINDS)}, got {type(optimizer).__name__}")
    return {"optimizer": type(optimizer).__name__, **asdict(optimizer)}
