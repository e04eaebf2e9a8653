"""Repeating one call from a file in the golden format: a repro, a golden, or one that somebody wrote.

Such a file may come from anywhere.  What it holds is checked against the header before anything is made of it, by the
bindings' own checks of a call; what does not fit is one sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from bindings import ArgumentError, shape_of
from bindings.calls.checks import Checker
from bindings.header.records import Function
from conformance import operations
from conformance.catalogue.goldens.tensors import (
    TYPES,
    Tensors,
    described,
    read,
    stored_arguments,
    unpack_arguments,
    unpack_expected,
)
from conformance.judging.outputs import is_known, is_open
from conformance.limits import HEADER, Contract
from conformance.limits.expectation import Expected, expect
from conformance.limits.noise import using

from . import memory
from .calls import Given
from .keep import ReproError

_NOISE = 4 * np.dtype(np.float64).itemsize  # bytes of an element with its noise: value, variance, shared, worst
_ERRORS = ("sigma", "shared", "worst")  # what stands beside an expectation; the last may be left out


class MisfitError(ValueError):
    """What a file holds does not fit the declaration; the message names the tensor, what is expected, and what is."""


def recall(path: Path, operation: str = "", declared: Contract = HEADER) -> Given:
    """Read a call; what it must give is computed anew where the file does not say.

    operation: whose call it is.  Where that is not said, the path says it: `.../gemm.safetensors`,
    `gemm/plain/3x5.safetensors`.  declared: by whose arithmetic it is computed.  Raises ReproError and GoldenError,
    naming the file, what was expected and what was found.
    """
    operation = operation or named_by(path)
    function, most = operations.OPERATIONS[operation], memory.budget()
    held = read(path, most)
    try:
        _check_names(function, held)
        _check_call(function, stored_arguments(function, held), most)
        arguments = unpack_arguments(function, held)
        with using(declared.of(operation).arithmetic):
            computed = _computed(operation, arguments, most)
        _check_expected(computed, held)
        expected = computed | unpack_expected(held)
        _check_known(expected, is_stated=any(name.startswith("expected.") for name in held))
    except (ArgumentError, MisfitError) as error:
        raise ReproError(f"{path}: {error}") from None
    return Given(operation, arguments, expected)


def named_by(path: Path) -> str:
    """Return the operation that a path names: the last of its parts that is one.  Raises ReproError."""
    for part in (path.stem, *reversed(path.absolute().parent.parts)):
        if part in operations.OPERATIONS:
            return part
    near = get_close_matches(path.stem, operations.OPERATIONS, 1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    expected = "a file named after its operation, such as gemm.safetensors"
    raise ReproError(f"{path}: expected {expected}, got {path.name}{meant}")


def _check_names(function: Function, held: Tensors) -> None:
    """Hold the inputs to what a file has of each: a name, a type, a number of dimensions."""
    due = dict(_due(function, held))
    for name, (wanted, may_be_left_out) in due.items():
        if (name in held or not may_be_left_out) and _form(held.get(name)) != wanted:
            raise MisfitError(f"{name}: expected {wanted}, got {_described(held.get(name))}")
    for name in held:
        if name.startswith(("input.", "argument.")) and name not in due:
            raise MisfitError(f"{name}: expected no such tensor: {function.operation} takes {', '.join(due)}")


def _due(function: Function, held: Tensors) -> Iterator[tuple[str, tuple[str, bool]]]:
    """Yield every tensor that the inputs need, its form, and whether it may be left out."""
    for parameter in operations.read_arrays(function):
        name, type = f"input.{parameter.name}", TYPES[parameter.type.dtype.name]
        if parameter.each:
            members = max(1, sum(other.startswith(f"{name}[") for other in held))
            yield from ((f"{name}[{i}]", (f"{type} of 1 dimensions", False)) for i in range(members))
        else:
            yield name, (f"{type} of {len(parameter.shape)} dimensions", parameter.read_if is not None)
    for scalar in operations.scalars(function):
        type = "F32" if scalar in operations.float_scalars(function) else "I64"
        yield f"argument.{scalar}", (f"{type} of 0 dimensions", False)


def _form(array: Any) -> str:
    return "" if array is None else f"{TYPES.get(array.dtype.name, array.dtype.name)} of {array.ndim} dimensions"


def _check_call(function: Function, arguments: dict[str, Any], most: int) -> None:
    """Hold the arguments to all that the header says of them, and to the bytes that what they give may have."""
    signature = operations.signature(function)
    check = Checker(signature)
    sizes = check(arguments)
    check.limits(arguments, sizes)
    for parameter in (*signature.outputs, *signature.workspaces):
        shape = shape_of(parameter, sizes)
        if (due := prod(shape) * _NOISE) > most:
            expected = f"results that fit, with their noise, in {memory.in_words(most)}, half of this machine's memory"
            got = f"shape {parameter.shape_text} = {shape}, {memory.in_words(due)}"
            raise ArgumentError(function.operation, parameter.name, expected, got)


def _computed(operation: str, arguments: Mapping[str, Any], most: int) -> Expected:
    """What the call must give; the reference refuses what the header says in words alone, such as a permutation."""
    try:
        with memory.held_to(most):
            return expect(operation, arguments)
    except ValueError as error:
        raise MisfitError(str(error)) from None
    except MemoryError:
        wanted = f"a call whose result and noise take {memory.in_words(most)}, half of this machine's memory"
        raise MisfitError(f"{operation}: expected {wanted}, got one that takes more") from None


def _check_expected(computed: Expected, held: Tensors) -> None:
    """Hold what a file expects, if it expects anything, to the names and shapes of what the call gives."""
    stated = {name.removeprefix("expected.") for name in held if name.startswith("expected.")}
    for name in sorted(computed.keys() | stated) if stated else ():
        _check_like(f"expected.{name}", held, _described(computed.get(name)))
        floats = f"F32 {_described(computed[name]).partition(' ')[2]}"
        for kind in _ERRORS if any(f"{kind}.{name}" in held for kind in _ERRORS) else ():
            if kind != "worst" or f"worst.{name}" in held:
                _check_like(f"{kind}.{name}", held, floats)


def _check_known(expected: Expected, is_stated: bool) -> None:
    """Raise where nothing is known of a result: no library, right or wrong, could be judged by it.

    is_stated: whether the file says what is due, as the judge's own do; then some elements may be open, but not all.
    """
    if is_stated and not all(map(is_open, expected.values())):
        return
    for name, value in expected.items():
        if not is_known(value):
            unknown, every = int(np.sum(~np.isfinite(value.variance))), value.size
            got = f"{unknown} of {every} elements that an order overflows at, or that the header leaves open"
            raise MisfitError(f"{name}: expected inputs that leave every element's error bounded, got {got}")


def _check_like(name: str, held: Tensors, due: str) -> None:
    got = _described(held.get(name))
    if due != got:
        raise MisfitError(f"{name}: expected {due}, got {got}")


def _described(value: Any) -> str:
    return "no such tensor" if value is None else described(value)
