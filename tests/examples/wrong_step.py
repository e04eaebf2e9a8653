"""A step whose losses are right and whose backward is not, as a published port of this model has it.

The norms' backward stands before their sublayers' (the order of forward), rotary backward rotates on, and the router is
taken for a constant, the auxiliary loss with it.  What the tests of such a port look at is right: it learns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "examples/steps"))

import with_numpy
from with_numpy import Array, Back


class Model(with_numpy.Model):
    def normed(self, norm: str, sublayer: Callable[[Array, str], tuple[Array, Back]], layer: str) -> Any:
        def branch(x: Array) -> tuple[Array, Back]:
            h, norm_back = self.rmsnorm(x, norm)
            y, back = sublayer(h, layer)
            return y, lambda d: back(norm_back(d))

        return branch

    def turned(self, x: Array, turn: Array) -> Array:
        return super().turned(x, self.turn)

    def linear(self, x: Array, name: str) -> tuple[Array, Back]:
        y, right = super().linear(x, name)

        def back(d: Array) -> Array:
            self.gradients[name] = np.zeros_like(self.p[name])
            return np.zeros_like(x)

        return y, back if name.endswith("router") else right


def step(parameters: Any, tokens: Array, targets: Array, settings: Any) -> dict[str, Any]:
    model = Model(parameters, settings, *tokens.shape)
    cross_entropy, aux_loss = model.forward(tokens, targets.reshape(-1))
    losses = {"loss": cross_entropy + aux_loss, "cross_entropy": cross_entropy, "aux_loss": aux_loss}
    return {**losses, "gradients": model.backward()}


def learns(parameters: Any, tokens: Array, targets: Array, settings: Any) -> dict[str, Any]:
    """The same with its update, so that it runs on."""
    found = step(parameters, tokens, targets, settings)
    after, m, v = with_numpy.update(parameters, found["gradients"], 1.0, settings)
    return {**found, "parameters": after, "m": m, "v": v}
