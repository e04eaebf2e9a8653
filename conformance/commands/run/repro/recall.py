"""Repeating one call from a file in the golden format: a repro, a golden, or one that somebody wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bindings.header.records import Function
from conformance import operations
from conformance.catalogue.goldens.tensors import TYPES, Tensors, described, read, unpack_arguments, unpack_expected
from conformance.limits.expectation import expect

from .calls import Given
from .keep import ReproError


def recall(path: Path) -> Given:
    """Read a call; what it must give is computed anew where the file does not say.

    The operation is the last part of the path that is one: `.../gemm.safetensors`, `gemm/plain/3x5.safetensors`.
    Raises ReproError and GoldenError, naming the file, what was expected and what was found.
    """
    held = read(path)
    operation = _operation(path)
    function = operations.OPERATIONS[operation]
    _check(path, function, held)
    arguments = unpack_arguments(function, held)
    try:
        computed = expect(operation, arguments)
    except ValueError as error:  # arguments that no call can have
        raise ReproError(f"{path}: {error}") from None
    expected = unpack_expected(held)
    for name in computed.keys() | expected.keys() if expected else ():
        due, got = _described(computed.get(name)), _described(expected.get(name))
        if due != got:
            raise ReproError(f"{path}: expected.{name}: expected {due}, got {got}")
    return Given(operation, arguments, {name: expected.get(name, right) for name, right in computed.items()})


def _operation(path: Path) -> str:
    for part in (path.stem, *reversed(path.absolute().parent.parts)):
        if part in operations.OPERATIONS:
            return part
    raise ReproError(f"{path}: expected a file named after an operation, such as gemm.safetensors, got {path.name}")


def _check(path: Path, function: Function, held: Tensors) -> None:
    """Hold the inputs of a file to the declaration: their names, types and numbers of dimensions."""
    due = dict(_due(function, held))
    for name, (type, dimensions, may_be_left_out) in due.items():
        if name in held or not may_be_left_out:
            wanted, got = f"{type} of {dimensions} dimensions", _described(held.get(name))
            if name not in held or (TYPES.get(held[name].dtype.name), held[name].ndim) != (type, dimensions):
                raise ReproError(f"{path}: {name}: expected {wanted}, got {got}")
    for name in held:
        if name.startswith(("input.", "argument.")) and name not in due:
            raise ReproError(f"{path}: {name}: expected no such tensor: {function.operation} takes {', '.join(due)}")


def _due(function: Function, held: Tensors) -> Iterator[tuple[str, tuple[str, int, bool]]]:
    """Yield every tensor that the inputs need: its type, its number of dimensions, whether it may be left out."""
    for parameter in operations.read_arrays(function):
        name, type = f"input.{parameter.name}", TYPES[parameter.type.dtype.name]
        if parameter.each:
            members = max(1, sum(other.startswith(f"{name}[") for other in held))
            yield from ((f"{name}[{i}]", (type, 1, False)) for i in range(members))
        else:
            yield name, (type, len(parameter.shape), parameter.updated_if is not None)
    for scalar in operations.scalars(function):
        type = "F32" if scalar in operations.float_scalars(function) else "I64"
        yield f"argument.{scalar}", (type, 0, False)


def _described(value: Any) -> str:
    return "no such tensor" if value is None else described(value)
