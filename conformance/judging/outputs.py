"""Judges the outputs of one call, whoever made them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations
from conformance.catalogue.families import facts_of
from conformance.limits.expectation import Expected, expect, rounded
from conformance.limits.noise import FLOAT32, FORMATS, Noisy, roundings, using
from conformance.limits.unread import follow_factors

from .verdict import Verdict, judge

Outputs = Mapping[str, NDArray[Any]]


def judge_outputs(
    operation: str,
    arguments: Mapping[str, Any],
    expected: Expected,
    got: Outputs,
    signed_zeros: bool = False,
    again: Callable[[], Expected] | None = None,
) -> list[Verdict]:
    """Return a verdict for every output of a call; got holds them by flat name, as `operations.flat` gives them.

    Elements of which nothing is known are passed over: whether a call may have them the caller looks at (is_known).
    again: finds the expectation once more, where the reference does not make it of the arguments as they are.
    """
    return list(_verdicts(operation, arguments, expected, got, signed_zeros, again))


def passes(
    operation: str, arguments: Mapping[str, Any], expected: Expected, got: Outputs, signed_zeros: bool = False
) -> bool:
    """Say whether every output of a call is right, stopping at the first that is not."""
    return all(v.passed for v in _verdicts(operation, arguments, expected, got, signed_zeros))


def _verdicts(
    operation: str,
    arguments: Mapping[str, Any],
    expected: Expected,
    got: Outputs,
    signed_zeros: bool,
    again: Callable[[], Expected] | None = None,
) -> Iterator[Verdict]:
    function = operations.OPERATIONS[operation]

    @functools.cache
    def once_more() -> Expected:
        with using(replace(roundings(), in_the_mean=True)):
            return again() if again else expect(operation, arguments)

    def drifting(name: str) -> Any:
        return once_more()[name]

    for name, wanted in settled(operation, arguments, expected, got).items():
        stored = FORMATS.get(operations.declared(function, name).element, FLOAT32)
        yield judge(
            name,
            wanted,
            np.asarray(got[name]),
            signed_zeros,
            roundings().last_rounding(stored),
            leaves_open=True,
            drifting=functools.partial(drifting, name),
        )


def settled(operation: str, arguments: Mapping[str, Any], expected: Expected, got: Outputs) -> Expected:
    """Return what is held against the outputs: it follows their admissible choices; exact numbers are float32."""
    follow = facts_of(operation).follow_choice
    expected = follow_factors(operation, arguments, expected, got)
    return as_stored(follow(arguments, expected, got) if follow else expected)


def as_stored(expected: Expected) -> Expected:
    """Return the expectation with exact numbers in float32."""
    return {
        name: wanted.astype(np.float32) if not isinstance(wanted, Noisy) and wanted.dtype.kind == "f" else wanted
        for name, wanted in expected.items()
    }


def is_known(wanted: Any) -> bool:
    """Whether the noise of every element of an expectation is finite."""
    return not isinstance(wanted, Noisy) or bool(np.all(np.isfinite(wanted.variance)))


def is_open(wanted: Any) -> bool:
    """Whether nothing is known of any element of an expectation."""
    return isinstance(wanted, Noisy) and wanted.size > 0 and not np.any(np.isfinite(wanted.variance))


def impostors(operation: str, arguments: Mapping[str, Any], expected: Expected, last: Outputs) -> dict[str, Outputs]:
    """Return outputs that need no computing: if one of them passed, the case could not tell right from wrong.

    Left out is what happens to be the right answer.  last: the outputs of the case judged before.
    """
    right = operations.narrowed(operation, rounded(expected))
    made = {
        "zeros": {n: np.zeros_like(a) for n, a in right.items()},
        "poison": {n: _poison(a) for n, a in right.items()},
        "a copy of an input": _copies(operation, arguments, right),
        "the last case's output": {n: _fitted(last.get(n), a) for n, a in right.items()},
        "the transpose": {n: _transposed(a) for n, a in right.items()},
    }
    possible = {name: operations.narrowed(operation, outputs) for name, outputs in made.items()}
    return {name: outputs for name, outputs in possible.items() if not _same(outputs, right)}


def is_trivial(expected: Expected, arguments: Mapping[str, Any], operation: str) -> str:
    """Name what the right answer can be had from without computing: "zeros", "a copy of an input", or nothing."""
    right = operations.narrowed(operation, rounded(expected))
    if _same({n: np.zeros_like(a) for n, a in right.items()}, right):
        return "zeros"
    return "a copy of an input" if _same(_copies(operation, arguments, right), right) else ""


def _poison(array: NDArray[Any]) -> NDArray[Any]:
    """NaN, or -1: what untouched memory holds."""
    return np.frombuffer(b"\xff" * array.nbytes, array.dtype).reshape(array.shape)


def _copies(operation: str, arguments: Mapping[str, Any], right: Outputs) -> Outputs:
    """Fill each output with an input: itself where it is updated, else the first of its size, else the first."""
    inputs = operations.flat({n: v for n, v in arguments.items() if isinstance(v, (np.ndarray, list))})
    copies = {}
    for name, array in right.items():
        alike = [v for v in inputs.values() if v.size == array.size] or list(inputs.values())
        copies[name] = _fitted(inputs.get(name, alike[0] if alike else None), array)
    return copies


def _fitted(source: NDArray[Any] | None, array: NDArray[Any]) -> NDArray[Any]:
    """The source's values, repeated or cut to the array's shape."""
    if source is None or source.size == 0:
        return _poison(array)
    with np.errstate(invalid="ignore"):
        return np.resize(source, array.shape).astype(array.dtype)


def _transposed(array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim < 2:
        return array[::-1].copy()
    return np.ascontiguousarray(np.swapaxes(array, -1, -2)).reshape(array.shape)


def _same(outputs: Outputs, right: Outputs) -> bool:
    return all(np.array_equal(outputs[n], a, equal_nan=a.dtype.kind == "f") for n, a in right.items())
