"""Cases to be timed: listed ones, and every call of a training step."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import reference
from conformance import operations
from reference.model.config import Config
from reference.model.parameters import Parameters, initialise
from reference.namespace import Namespace
from reference.step import State, TrainingConfig, start, training_step

from .listed import LISTED, OF_BOTH_SIGNS
from .sizes import Sizes

TRAINING = TrainingConfig()


class Case(NamedTuple):
    """One call: its operation and shapes, the operation, and its arguments by the header's names, as they reach C."""

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


def make_case(operation: str, arrays: tuple[Any, ...], numbers: dict[str, Any]) -> Case:
    """A call on these arrays in the header's order, None for one that is not given."""
    function = operations.OPERATIONS[operation]
    names = [parameter.name for parameter in operations.read_arrays(function)]
    given = dict(zip(names, arrays, strict=True)) | numbers
    present = operations.typed(function, {name: value for name, value in given.items() if value is not None})
    return Case(_id(operation, arrays), operation, {name: present.get(name) for name in given})


def batch(sizes: Sizes) -> tuple[Any, Any]:
    """Tokens and targets of a step."""
    rng = np.random.default_rng(1)
    tokens, targets = (rng.integers(0, sizes.config.vocab, (sizes.batch, sizes.seq), np.int32) for _ in range(2))
    return tokens, targets


@cache
def _parameters(config: Config) -> Parameters:
    return initialise(config, seed=0, dtype=np.float32)


def initial_state(sizes: Sizes) -> State:
    """Where training starts, in arrays of its own: a library updates them in place."""
    return start({name: array.copy() for name, array in _parameters(sizes.config).items()})


class Recorder(Namespace):
    """The reference, noting the first call of each operation on arrays of the same shapes."""

    def __init__(self) -> None:
        self.cases: dict[str, Case] = {}

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        id = _id(operation, args)
        if id not in self.cases:
            self.cases[id] = make_case(operation, args, named)
        return getattr(reference, operation)(*args, **named)


def _id(operation: str, arrays: tuple[Any, ...]) -> str:
    return " ".join([operation, *map(_shape, arrays)])


def _shape(array: Any) -> str:
    if isinstance(array, list):
        return f"{len(array)}*{sum(a.size for a in array) // len(array)}"
    return "x".join(map(str, array.shape)) if array is not None else "-"


@cache
def of_a_step(sizes: Sizes) -> dict[str, Case]:
    """Every call of a training step, by id."""
    recorder = Recorder()
    training_step(recorder, sizes.config, TRAINING, initial_state(sizes), *batch(sizes))
    return recorder.cases


def _pooled(arrays: tuple[Any, ...], numbers: dict[str, Any]) -> tuple[Any, ...]:
    """What the gradient of max pooling is given, of planes: the pooled ones for d_output, and their places."""
    output, places = reference.max_pool2d(*arrays, **{k: v for k, v in numbers.items() if k not in ("height", "width")})
    return output, places


def _multiplied(arrays: tuple[Any, ...], numbers: dict[str, Any]) -> tuple[Any, ...]:
    """What the gradient of the dense layer is given, of input and weight: pre of size one, and what is added to."""
    input, weight = arrays
    pre = input @ weight.T
    pre = (pre - pre.mean()) / pre.std()
    return input, weight, pre, np.flip(pre).copy(), weight.copy(), weight[:, 0].copy()


def _listed(arrays: tuple[Any, ...], numbers: dict[str, Any]) -> tuple[Any, ...]:
    """What works on a list of arrays is given the one in sixteen pieces."""
    return (np.array_split(arrays[0], 16),)


_FOLLOWING: dict[str, Callable[..., tuple[Any, ...]]] = {
    "multi_sum_squares_nonfinite": _listed,
    "max_pool2d_backward": _pooled,
    "dense_backward": _multiplied,
}


def _following(operation: str, arrays: tuple[Any, ...], numbers: dict[str, Any]) -> tuple[Any, ...]:
    """The arrays of a call: for some operations, what another makes of those that are listed."""
    return _FOLLOWING[operation](arrays, numbers) if operation in _FOLLOWING else arrays


def listed(number: int, divisor: int) -> Case:
    """One of LISTED, its rows divided; positive numbers, as a second moment has to be, but for OF_BOTH_SIGNS."""
    operation, _, numbers = LISTED[number]
    rng = np.random.default_rng(0)
    drawn = rng.standard_normal if operation.removesuffix("_backward") in OF_BOTH_SIGNS else rng.random
    arrays = tuple(
        rng.integers(0, shape[2], shape[0], np.int32) if "of" in shape else drawn(shape, np.float32)
        for shape in divided(number, divisor)
    )
    case = make_case(operation, _following(operation, arrays, numbers), numbers)
    return case._replace(id=_id(operation, arrays))


def divided(number: int, divisor: int) -> list[tuple[Any, ...]]:
    """The shapes of one of LISTED, rows and ranges of indices divided; a row's weight, and what is short, is not."""
    shapes = LISTED[number][1]

    def divided(rows: int, *others: Any) -> tuple[Any, ...]:
        if (rows, *others) == shapes[0][1:] or rows <= divisor:
            return (rows, *others)
        return rows // divisor, *(["of", max(1, others[1] // divisor)] if "of" in others else others)

    return [divided(*shape) for shape in shapes]
