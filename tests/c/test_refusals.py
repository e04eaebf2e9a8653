"""Bad arguments straight through C: -2, nothing written, no crash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindings import Function, Signature, read_header, shape_of
from bindings.shared_object.foreign import SharedObject
from tests.c.raw import Call

HEADER = read_header()
INVALID = HEADER.constants["ASSAYER_INVALID"].value
INT_MAX, INT_MIN, LARGE = 2**31 - 1, -(2**31), 2**62
PARTS, WAYS = {"lstm": 4, "gru": 3}, ("forward", "backward")  # of the weights of recurrent layers
OPERATIONS = pytest.mark.parametrize("function", HEADER.operations.values(), ids=lambda function: function.operation)


@pytest.fixture(scope="session")
def opened(stub_path: Path) -> SharedObject:
    return SharedObject(stub_path)


@pytest.fixture
def call(opened: SharedObject, function: Function) -> Call:
    return Call(opened, function)


def refused(call: Call, **spoilt: Any) -> None:
    before = call.contents()
    assert call(**spoilt) == INVALID, f"{call.function.operation} with {spoilt}"
    assert call.contents() == before, f"{call.function.operation} with {spoilt} has written"


@OPERATIONS
def test_the_sample_itself_is_accepted(call: Call) -> None:
    assert call() == 0


@OPERATIONS
def test_null_pointers(call: Call) -> None:
    for name, value in call.arrays.items():
        refused(call, **{name: None})
        if isinstance(value, list):
            refused(call, **{name: [*value[:-1], None]})


@OPERATIONS
def test_sizes_below_one(call: Call) -> None:
    for parameter in Signature(call.function).size_parameters:
        for size in (0, -1, INT_MIN):
            refused(call, **{parameter.name: size})
    for name in Signature(call.function).lengths:
        for size in (0, -1):
            refused(call, **{name: np.append(call.arrays[name][:-1], np.int64(size))})


@OPERATIONS
def test_bytes_past_64_bits(call: Call) -> None:
    """Each size, then all of them, as large as its type allows; where that still fits, nothing can be said."""
    signature = Signature(call.function)
    largest = {p.name: INT_MAX if p.element == "int32" else LARGE for p in signature.size_parameters}
    for numbers in [{name: size} for name, size in largest.items()] + [largest]:
        if too_large(call.function, call.numbers | numbers):
            refused(call, **numbers)
    for name in signature.lengths:
        refused(call, **{name: np.append(call.arrays[name][:-1], np.int64(LARGE))})


@pytest.mark.parametrize(("operation", "parts"), [(f"{k}_{way}", n) for k, n in PARTS.items() for way in WAYS])
def test_a_weight_past_64_bits_by_its_last_part(opened: SharedObject, operation: str, parts: int) -> None:
    hidden_dim = 2**29
    input_dim = -(-(2**63) // (4 * parts * hidden_dim))
    refused(Call(opened, HEADER.operations[operation]), hidden_dim=hidden_dim, input_dim=input_dim)


def too_large(function: Function, numbers: dict[str, Any]) -> bool:
    """Whether an array whose shape these numbers tell would take 2^63 bytes or more."""
    names = {p.name: {name for axis in p.shape for name in axis.size.names} for p in function.parameters}
    arrays = [p for p in function.parameters if names[p.name] and names[p.name] <= function.by_name.keys()]
    shapes = [np.array(shape_of(p, numbers), object) for p in arrays]
    return any(np.prod(shape) * p.type.dtype.itemsize >= 2**63 for p, shape in zip(arrays, shapes, strict=True))


@OPERATIONS
def test_broken_conditions(call: Call) -> None:
    """Every number that a REQUIRES names, at values that break it."""
    scalars = {p.name: p for p in call.function.parameters if p.is_scalar}
    for condition in call.function.requires:
        for name in condition.names:
            values = (-1, 0, 3, INT_MAX) if scalars[name].type.is_integer else (-1.0, 0.0, 1.0, np.nan, -np.inf)
            for value in values:
                if not _holds(condition, call.numbers | {name: value}):
                    refused(call, **{name: value})


def _holds(condition: Any, numbers: dict[str, Any]) -> bool:
    try:
        return bool(condition(numbers))
    except ZeroDivisionError:
        return False


@OPERATIONS
def test_indices_out_of_range(call: Call) -> None:
    for name, value in out_of_range(call):
        array = call.arrays[name].copy()
        for place in (0, array.size - 1):
            spoilt = array.copy()
            spoilt.reshape(-1)[place] = value
            refused(call, **{name: spoilt})


def out_of_range(call: Call) -> Iterator[tuple[str, int]]:
    """(index array, a value outside its range); the range of scatter_add's is no argument of it."""
    for parameter in call.function.parameters:
        if parameter.limit and set(parameter.limit[1].names) <= call.function.by_name.keys():
            kind, limit = parameter.limit
            outside = (limit(call.numbers), INT_MAX, *((-1, INT_MIN) if kind == "WITHIN" else ()))
            yield from ((parameter.name, int(value)) for value in outside)


@pytest.mark.parametrize("operation", ["grouped_gemm", "grouped_gemm_nn", "grouped_gemm_tn"])
@pytest.mark.parametrize("offsets", [[1, 2, 2, 6], [0, 2, 2, 5], [0, 4, 2, 6]], ids=["late", "short", "descending"])
def test_offsets_that_are_no_division_of_the_rows(opened: SharedObject, operation: str, offsets: list[int]) -> None:
    refused(Call(opened, HEADER.operations[operation]), offsets=np.array(offsets, np.int32))


@pytest.mark.parametrize("operation", ["expert_dispatch", "expert_combine_backward"])
def test_rows_that_are_written_twice(opened: SharedObject, operation: str) -> None:
    call = Call(opened, HEADER.operations[operation])
    position = call.arrays["position"].copy()
    position[0, 0] = position[0, 1]
    refused(call, position=position)
