"""A small model, batches for it, and how far two float64 computations with it may differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.limits.measure import SIGMAS
from conformance.limits.noise import Precision, exact, using
from reference import random
from reference.model.config import Config
from reference.model.parameters import Parameters, initialise
from reference.namespace import Wrapped

# No two sizes alike, more than one KV head, an expert more than a power of two.
SMALL = Config(hidden=24, layers=2, q_heads=6, kv_heads=2, head_dim=4, experts=5, top_k=2, ffn=20, vocab=37)
BATCH, SEQ = 4, 7

FLOAT64 = Precision("float64", 2.0**-53, 2.0**-1022, float(np.finfo(np.float64).max))


def parameters(config: Config = SMALL, seed: int = 0, dtype: Any = np.float64) -> Parameters:
    """A start with weights large enough that every part of the model has a say."""
    return initialise(config, seed, dtype, deviation=0.25)


def batch(config: Config = SMALL, seed: int = 0, shape: tuple[int, int] = (BATCH, SEQ)) -> tuple[Any, Any]:
    """Tokens and targets; two targets do not count."""
    tokens, targets = (
        random.integers(random.stream("model", name, seed), 0, config.vocab, shape).astype(np.int32)
        for name in ("tokens", "targets")
    )
    targets[0, 1] = targets[-1, -1] = -1
    return tokens, targets


def noisy(arrays: Parameters) -> dict[str, Any]:
    """The same numbers, known to be exact, with the noise of what is computed from them."""
    return {name: exact(array) for name, array in arrays.items()}


def in_float64() -> Any:
    """Counts the roundings of noise numbers as those of float64."""
    return using(FLOAT64)


def assert_close(got: Any, noise: Any, what: str = "") -> None:
    """A float64 result is that of the noisy computation: both err by its sigma, independently of each other."""
    got = np.asarray(got)
    assert got.shape == noise.shape, what
    error, limit = np.abs(got - noise.v), SIGMAS * np.sqrt(2.0) * noise.sigma
    place = np.unravel_index(np.argmax(error - limit), error.shape)
    assert (error <= limit).all(), f"{what}{list(map(int, place))}: off by {error[place]:.3g}, limit {limit[place]:.3g}"


class Recorded(Wrapped):
    """A namespace of operations that keeps what one of them returned."""

    def __init__(self, ops: Any, operation: str) -> None:
        super().__init__(ops)
        self._operation = operation
        self.results: list[Any] = []

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        results = super()._call(operation, *args, **named)
        if operation == self._operation:
            self.results.append(results)
        return results
