"""The golden training step: one step of the tiny model on generated tokens, before its update.

The parameters are `initialise` with the seed and deviation below, and stand in the file whole, so that a port in any
language starts from them.  Of each parameter's gradient the file holds the norm, and some elements at places that are
given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.catalogue.oracles import Confirmation
from conformance.limits.namespaces import OnNumbers
from conformance.limits.noise import FLOAT32, Noisy, exact
from reference import random
from reference.model import transformer
from reference.model.config import TINY
from reference.model.parameters import Parameters, held_shapes, initialise
from reference.step import accumulate

from .slopes import confirm_gradients
from .tensors import Tensors, pack_expected

DEVIATION, CLIP_NORM, PLACES = 0.125, 1.0, 64
# Every ninth target is not counted: 64 are, so that 1 / 64 reaches the gradient as it is and not rounded to float32.
BATCH, SEQ, SKIPPED = 2, 36, 9
_PARAMETER = "input.parameters."


@dataclass(frozen=True)
class StepSource:
    """The step whose tokens come from one seed."""

    seed: int

    @property
    def id(self) -> str:
        return f"training_step/tiny/{BATCH}x{SEQ}"

    @property
    def generator(self) -> str:
        return f"tokens uniform, parameters initialised with seed 0 and deviation {DEVIATION:g}"

    @property
    def scenario(self) -> str:
        return "One step of the tiny model: loss, every parameter's gradient, norm; no routing choice within the noise."

    def inputs(self) -> Tensors:
        """Tokens, targets (some not counted), the parameters, and the places of each that are looked at."""
        tokens = random.integers(random.stream("golden step", self.seed), 0, TINY.vocab, (BATCH, SEQ + 1))
        targets = tokens[:, 1:].copy()
        targets[:, ::SKIPPED] = -1
        tensors: Tensors = {"input.tokens": _int32(tokens[:, :-1]), "input.targets": _int32(targets)}
        for name, array in parameters().items():
            places = _places(name, array, tokens)
            tensors[f"input.places.{name}"] = places
            tensors[_PARAMETER + name] = array
        return tensors

    def make(self) -> tuple[Tensors, Confirmation | None]:
        inputs = self.inputs()
        ops = OnNumbers(lambda array: exact(array, worst=False))
        noisy = {name: exact(array, worst=False) for name, array in parameters().items()}
        expected, gradients = results(ops, noisy, inputs)
        if ops.near:
            raise ValueError(f"{self.id}: {ops.near} routing choices lie within the noise: choose another seed")
        confirmation = self._confirmation(inputs, gradients, expected["loss"])
        return inputs | pack_expected(expected), confirmation

    def _confirmation(self, inputs: Tensors, gradients: Mapping[str, Noisy], loss: Noisy) -> Confirmation:
        plain = OnNumbers(lambda array: np.asarray(array, np.float64))

        def loss_at(at: Parameters) -> float:
            output = transformer.forward(plain, TINY, at, inputs["input.tokens"])
            return float(transformer.loss(plain, output, inputs["input.targets"])[0].total[0])

        start = {name: array.astype(np.float64) for name, array in parameters().items()}
        return confirm_gradients(loss_at, start, gradients, loss)


def results(ops: Any, start: Parameters, inputs: Tensors) -> tuple[dict[str, Any], Parameters]:
    """Run the step on a namespace of operations: what a golden expects, by its names there, and the whole gradients."""
    loss, gradients, _ = accumulate(ops, TINY, start, inputs["input.tokens"], inputs["input.targets"])
    norm, _ = ops.clip_scale(ops.multi_sum_squares(list(gradients.values())), clip_norm=CLIP_NORM)
    found = {"loss": loss.total, "cross_entropy": loss.cross_entropy, "aux_loss": loss.aux, "norm": norm}
    return found | of_gradients(gradients, inputs), gradients


def of_gradients(gradients: Parameters, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a golden expects of the gradients, by its names there: some elements of each, and its norm."""
    found = {}
    for name, gradient in gradients.items():
        found[f"gradient.{name}"] = gradient.reshape(-1)[inputs[f"input.places.{name}"]]
        found[f"gradient_norm.{name}"] = norm_of(gradient)
    return found


def in_order() -> list[str]:
    """Return the names of all results in the order in which a step comes to them: in backward the last layer first."""
    gradients = [f"{kind}.{name}" for name in reversed(held_shapes(TINY)) for kind in ("gradient", "gradient_norm")]
    return ["cross_entropy", "aux_loss", "loss", *gradients, "norm"]


def parameters() -> Parameters:
    """Where the step starts, in float32."""
    return initialise(TINY, seed=0, dtype=np.float32, deviation=DEVIATION)


def given_parameters(golden: Tensors) -> Parameters:
    """The parameters that a golden step holds, by name."""
    return {name.removeprefix(_PARAMETER): golden[name] for name in golden if name.startswith(_PARAMETER)}


def norm_of(gradient: Any) -> Any:
    """The norm of a gradient, computed exactly and rounded once, to float32.

    Its sigma is the most that it can be, however the elements' errors depend on each other: the standard deviation of
    a sum is at most the sum of the standard deviations.
    """
    if not isinstance(gradient, Noisy):
        return np.array([np.linalg.norm(np.asarray(gradient, np.float64))], np.float32)
    norm = np.array([np.linalg.norm(gradient.v)])
    sigma = np.sum(np.abs(gradient.v) * gradient.sigma) / norm
    variance = sigma**2 + FLOAT32.variance(norm)
    return Noisy(norm, variance, variance, None)


def _places(name: str, array: NDArray[Any], tokens: NDArray[Any]) -> NDArray[np.int64]:
    """Flat places drawn from a parameter, of the embedding from rows that some token reads."""
    rows = np.unique(tokens[:, :-1]) if name == "embedding" else np.arange(array.shape[0])
    width = array.size // array.shape[0]
    order = random.permutation(random.stream("golden step", name), rows.size * width)[:PLACES]
    return np.sort(rows[order // width] * width + order % width)


def _int32(array: NDArray[Any]) -> NDArray[np.int32]:
    return np.ascontiguousarray(array, np.int32)
