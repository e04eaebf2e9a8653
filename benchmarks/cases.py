"""What is timed, operation by operation: large arrays by themselves, and every call of a training step."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

import reference
from conformance import operations
from reference.model.config import BENCH
from reference.model.parameters import Parameters, initialise
from reference.step import State, TrainingConfig, start, training_step

BATCH, SEQ = 4, 128
TRAINING = TrainingConfig()


class Case(NamedTuple):
    """One call: the operation and its arguments by the header's names, as they reach C."""

    id: str
    operation: str
    arguments: dict[str, Any]

    def call(self) -> list[Any]:
        """The arguments in order, the arrays copied: a library updates some in place."""
        return [_copy(value) for value in operations.ordered(operations.OPERATIONS[self.operation], self.arguments)]


def _copy(value: Any) -> Any:
    if isinstance(value, list):
        return [array.copy() for array in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def _case(id: str, operation: str, arrays: tuple[Any, ...], numbers: dict[str, Any]) -> Case:
    function = operations.OPERATIONS[operation]
    names = [parameter.name for parameter in operations.read_arrays(function)]
    given = dict(zip(names, arrays, strict=True)) | numbers
    present = operations.typed(function, {name: value for name, value in given.items() if value is not None})
    return Case(id, operation, {name: present.get(name) for name in given})


def batch() -> tuple[Any, Any]:
    """Tokens and targets of a step."""
    rng = np.random.default_rng(1)
    tokens, targets = (rng.integers(0, BENCH.vocab, (BATCH, SEQ), np.int32) for _ in range(2))
    return tokens, targets


@cache
def _parameters() -> Parameters:
    return initialise(BENCH, seed=0, dtype=np.float32)


def initial_state() -> State:
    """Where training starts, in arrays of its own: a library updates them in place."""
    return start({name: array.copy() for name, array in _parameters().items()})


class Recorder:
    """The reference, noting the first call of each operation on arrays of the same shapes."""

    def __init__(self) -> None:
        self.cases: dict[str, Case] = {}

    def __getattr__(self, operation: str) -> Any:
        def called(*arrays: Any, **numbers: Any) -> Any:
            id = " ".join([operation, *map(_sizes, arrays)])
            if id not in self.cases:
                self.cases[id] = _case(id, operation, arrays, numbers)
            return getattr(reference, operation)(*arrays, **numbers)

        return called


def _sizes(array: Any) -> str:
    if isinstance(array, list):
        return f"{len(array)}*{sum(a.size for a in array) // len(array)}"
    return "x".join(map(str, array.shape)) if array is not None else "-"


@cache
def of_a_step() -> dict[str, Case]:
    """Every call of a training step, by id."""
    recorder = Recorder()
    training_step(recorder, BENCH, TRAINING, initial_state(), *batch())
    return recorder.cases


# Sizes of figures published for CPUs: operation, shapes of its arrays (the range of indices), numbers.
LARGE: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "softmax 4096x4096": ("softmax", ((4096, 4096),), {}),
    "rmsnorm 8192x768": ("rmsnorm", ((8192, 768), (768,)), {"eps": 1e-6}),
    "gemm 1024^3": ("gemm", ((1024, 1024), (1024, 1024)), {}),
    "cross_entropy_forward 2048x32000": ("cross_entropy_forward", ((2048, 32000), (2048, "of", 32000)), {}),
    "cross_entropy_backward 2048x32000": (
        "cross_entropy_backward",
        ((2048, 32000), (2048, "of", 32000)),
        {"scale": 1 / 2048},
    ),
    "adamw_step 10M": (
        "adamw_step",
        ((10_000_000,),) * 4,
        {"lr": 1e-4, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1, "step": 3},
    ),
    "swiglu 8192x2048": ("swiglu", ((8192 * 2048,),) * 2, {}),
    "scatter_add 8192x768 into 32000": ("scatter_add", ((8192, 768), (8192, "of", 32000), (32000, 768)), {}),
}


def large(id: str) -> Case:
    """A case on large arrays; all numbers positive, as a second moment has to be."""
    operation, shapes, numbers = LARGE[id]
    rng = np.random.default_rng(0)
    arrays = tuple(
        rng.integers(0, shape[2], shape[0], np.int32) if "of" in shape else rng.random(shape, np.float32)
        for shape in shapes
    )
    return _case(id, operation, arrays, numbers)
