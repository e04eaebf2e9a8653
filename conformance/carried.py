"""The reference, and where training stands, on another kind of number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import reference
from conformance.decisions import near_choices
from conformance.noise import Noisy
from reference.step import State


class Carried:
    """The reference on another kind of number; scalars and tables reach it rounded to float32, as they reach C."""

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        self._convert = convert
        self.near = 0  # routing choices within the noise
        self.used: set[str] = set()  # operations

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        function = getattr(reference, operation)
        self.used.add(operation)

        def call(*args: Any, **named: Any) -> Any:
            if operation == "softmax_topk" and isinstance(args[0], Noisy):
                self.near += near_choices(args[0], named["k"])
            return function(*map(self._taken, args), **{name: self._taken(value) for name, value in named.items()})

        return call

    def _taken(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._taken(v) for v in value]
        if isinstance(value, float):
            return self._convert(np.float32(value))
        return value


class Stored:
    """The reference, with numbers and plain arrays as float32 holds them, in whatever precision it computes."""

    def __getattr__(self, operation: str) -> Any:
        def called(*arrays: Any, **scalars: Any) -> Any:
            return getattr(reference, operation)(*map(_stored, arrays), **{n: _stored(s) for n, s in scalars.items()})

        return called


def _stored(value: Any) -> Any:
    if isinstance(value, float):
        return float(np.float32(value))
    return value.astype(np.float32) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value


def converted(state: State, convert: Callable[[Any], Any]) -> State:
    """The same state in another kind of number."""
    parameters, m, v = ({n: convert(a) for n, a in part.items()} for part in (state.parameters, state.m, state.v))
    return State(parameters, m, v, state.step)
