"""The reference, and where training stands, on another kind of number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import reference
from bindings.header.records import Function
from conformance import operations
from reference.namespace import Namespace, Wrapped
from reference.step import State

from .choices import ROUTING, near_choices
from .noise import Noisy
from .noise.drawn import Drawn
from .noise.precision import FORMATS


class OnNumbers(Namespace):
    """The reference on another kind of number; scalars and tables reach it rounded to float32, as they reach C."""

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        self._convert = convert
        self.near = 0  # routing choices within the noise
        self.used: set[str] = set()  # operations

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        self.used.add(operation)
        if operation == ROUTING and isinstance(args[0], Noisy):
            self.near += near_choices(args[0], named["k"])
        given = {name: self._converted(value) for name, value in named.items()}
        return _as_stored(getattr(reference, operation)(*map(self._converted, args), **given))

    def _converted(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._converted(v) for v in value]
        if isinstance(value, float):
            return self._convert(np.float32(value))
        return value


def _as_stored(results: Any) -> Any:
    """What an operation gives lies in memory: how it was made is settled."""
    if isinstance(results, (list, tuple)):
        return type(results)(_as_stored(one) for one in results)
    return results.as_read() if isinstance(results, Noisy) else results


class Stored(Wrapped):
    """The reference on noise numbers, each result of which lies in memory before another operation reads it."""

    def __init__(self) -> None:
        super().__init__(reference)

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        return _as_stored(super()._call(operation, *args, **named))


class OnFloat32(Namespace):
    """The reference, with numbers and plain arrays as float32 holds them, in whatever precision it computes."""

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        given = {name: _in_float32(value) for name, value in named.items()}
        return _as_stored(getattr(reference, operation)(*map(_in_float32, args), **given))


def _in_float32(value: Any) -> Any:
    if isinstance(value, float):
        return float(np.float32(value))
    return value.astype(np.float32) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value


class OnStored(Namespace):
    """The reference on plain arrays of the declared types: each call computes on another kind of number, and what it
    gives is stored as the header has it.

    Of numbers drawn at random what is stored in 16 bits is drawn too: honest implementations part where one of their
    sums lies next to the middle between two such numbers, and few replicas meet that as often as all there are.
    """

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        self._convert = convert
        self.used: set[str] = set()  # operations

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        self.used.add(operation)
        function = operations.OPERATIONS[operation]
        arguments = operations.signature(function).named(args, named)
        given = {name: value for name, value in arguments.items() if value is not None}
        given = {name: self._converted(value) for name, value in operations.typed(function, given).items()}
        with np.errstate(all="ignore"):
            results = operations.by_name(function, getattr(reference, operation)(**(arguments | given)))
            plain = {name: _plain(function, name, value) for name, value in operations.flat(results).items()}
            outputs = tuple(operations.gathered(function, plain).values())
        return outputs[0] if len(outputs) == 1 else outputs

    def _converted(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._converted(v) for v in value]
        is_float = isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")
        return self._convert(value) if is_float else value


def _plain(function: Function, name: str, value: Any) -> Any:
    if not isinstance(value, Noisy):
        return value
    element = function.by_name[name.partition("[")[0]].type
    if not (isinstance(value, Drawn) and element.is_half) or function.operation.startswith("cast_to"):
        return value.v
    format = FORMATS[element.name]
    sigma = np.where(format.holds(value.v), 0.0, np.sqrt(format.variance(value.v)))
    return value.v + sigma * value.errors.take(value.shape)


def converted(state: State, convert: Callable[[Any], Any]) -> State:
    """The same state in another kind of number."""
    parameters, m, v = ({n: convert(a) for n, a in part.items()} for part in (state.parameters, state.m, state.v))
    return State(parameters, m, v, state.step)
