"""A small model's loss and gradients by the tape, on any namespace of operations, and every call on the way.

The second formulation: modules composed of map, zip, reduce and matmul on strided tensors, whose gradients the tape
puts together. Every number that the model is told is exact in float32, so that both formulations are of the same one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import reference
from conformance import operations as declared
from conformance.steps import scenarios
from reference import random
from reference.model.config import Config
from reference.model.parameters import Parameters, initialise
from reference.namespace import Ops, Wrapped
from tensors import Tensor
from tensors.functions import COMPOSED
from tensors.modules import Decoder
from tensors.numbers import MAPS, REDUCTIONS, ZIPS

TAPE = "steps/tape"
CONFIG = Config(
    hidden=32, layers=2, q_heads=4, kv_heads=2, head_dim=16, experts=4, top_k=2, ffn=48, vocab=61,
    eps=2.0**-20, aux_alpha=2.0**-5,
)  # fmt: skip
BATCH, SEQ, CHOSEN = 2, 20, 0  # the seed: such that no routing choice lies within the noise
LOSS = "loss"
_FUNCTIONS = {"map_strided": MAPS, "zip_strided": ZIPS, "reduce_strided": REDUCTIONS}
Arrays = dict[str, NDArray[Any]]


class Made(NamedTuple):
    """One call of the tape: its operation, the function of its kind if it has several, and its results by flat name."""

    operation: str
    function: str
    results: dict[str, Any]

    @property
    def label(self) -> str:
        return f"{self.operation}({self.function})" if self.function else self.operation


class Recorded(Wrapped):
    """A namespace of operations whose calls are noted, their results as they were then."""

    def __init__(self, ops: Ops) -> None:
        super().__init__(ops)
        self.calls: list[Made] = []

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        function = declared.OPERATIONS[operation]
        arguments = declared.signature(function).named(args, named)
        results = super()._call(operation, *args, **named)
        outputs = declared.flat(declared.by_name(function, results))
        self.calls.append(Made(operation, named_function(operation, arguments), self.noted(arguments, outputs)))
        return results

    def noted(self, arguments: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
        """What is noted of a call's results."""
        return {name: array.copy() for name, array in outputs.items()}


def named_function(operation: str, arguments: dict[str, Any]) -> str:
    """Return the name of the function that a call of map, zip or reduce is told; nothing of other operations."""
    numbers = _FUNCTIONS.get(operation, {})
    return next((name for name, number in numbers.items() if number == arguments["function"]), "")


def batch() -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Tokens and targets; 32 of 40 targets count, so that each counts 1 / 32."""
    tokens, targets = (
        random.integers(random.stream("tape", name, CHOSEN), 0, CONFIG.vocab, (BATCH, SEQ)).astype(np.int32)
        for name in ("tokens", "targets")
    )
    targets[:, ::5] = -1
    return tokens, targets


def beginning() -> Parameters:
    """The parameters, float32."""
    return initialise(CONFIG, seed=0, dtype=np.float32, deviation=scenarios.DEVIATION)


def gradients(ops: Ops, dtype: Any, convert: Callable[[Any], Any] = np.asarray) -> dict[str, Any]:
    """The loss and the gradient of every parameter, by the tape; convert: arrays to the numbers to compute on."""
    model = Decoder(CONFIG, ops=ops, functions=COMPOSED, dtype=dtype)
    parameters = model.model_parameters()
    for name, array in beginning().items():
        parameters[name].value.storage.write(convert(array.astype(dtype).reshape(-1)))
    loss = model.loss(*batch()).total
    loss.backward()
    found = {name: parameter.grad for name, parameter in parameters.items()}
    return {LOSS: _elements(loss.value)} | {name: _elements(one) for name, one in found.items() if one is not None}


def _elements(tensor: Tensor) -> Any:
    return tensor.contiguous().storage.array.reshape(tensor.shape)


def run(library: Any) -> Arrays:
    """Run it on a library, in its worker."""
    return gradients(library, np.float32)


def calls(library: Any) -> list[Made]:
    """Run it on a library, in its worker, and return all its calls."""
    recorded = Recorded(library)
    run(recorded)
    return recorded.calls


@functools.cache
def operations() -> tuple[str, ...]:
    """The operations that it calls."""
    return tuple(sorted({call.operation for call in calls(reference)}))
