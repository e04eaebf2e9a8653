"""What reaches the library: every argument of every operation, in its place."""

from __future__ import annotations

import inspect
import random
from typing import Any

import numpy as np
import pytest

from bindings import CallError, Function, read_header
from tests.bindings.spy import Spy
from tests.bindings.valid import arguments_of

OPERATIONS = read_header().operations
every_operation = pytest.mark.parametrize("function", OPERATIONS.values(), ids=OPERATIONS)


def results(returned: Any) -> tuple[Any, ...]:
    return returned if isinstance(returned, tuple) else (returned,)


@every_operation
def test_every_argument_arrives_in_its_place(function: Function, spy: Spy) -> None:
    arguments = arguments_of(function, random.Random(function.symbol))
    operation = getattr(spy.library, function.operation)
    names = [parameter.name for parameter in operation.signature.returned]
    arrays = arguments | dict(zip(names, results(operation(**arguments)), strict=True))
    numbers = operation.signature.sizes(arguments)
    for index, parameter in enumerate(function.parameters):
        if parameter.is_scalar:
            assert spy.number(index) == numbers[parameter.name], parameter.name
        elif parameter.is_array and parameter.name in arrays:
            assert spy.address(index) == arrays[parameter.name].ctypes.data, parameter.name
        elif parameter.name == "stream":
            assert spy.address(index) == 0


@every_operation
def test_outputs_are_those_of_the_header(function: Function, spy: Spy) -> None:
    arguments = arguments_of(function, random.Random(function.symbol))
    operation = getattr(spy.library, function.operation)
    sizes = operation.signature.sizes(arguments)
    returned = results(operation(**arguments))
    for parameter, result in zip(operation.signature.returned, returned, strict=True):
        if parameter.direction == "updated":
            assert result is arguments[parameter.name]
        else:
            assert result.dtype == parameter.type.dtype
            assert result.shape == tuple(axis.size(sizes) for axis in parameter.shape)


@every_operation
def test_outputs_may_be_given(function: Function, spy: Spy) -> None:
    arguments = arguments_of(function, random.Random(function.symbol))
    operation = getattr(spy.library, function.operation)
    outputs = {p.name: r for p, r in zip(operation.signature.returned, results(operation(**arguments)), strict=True)}
    given = {p.name: outputs[p.name] for p in operation.signature.outputs}
    again = results(operation(**arguments, **given))
    assert all(first is second for first, second in zip(outputs.values(), again, strict=True))


@every_operation
def test_python_shows_documentation_and_signature(function: Function, spy: Spy) -> None:
    operation = getattr(spy.library, function.operation)
    assert operation.__name__ == function.operation
    assert inspect.getdoc(operation)
    positional = [p.name for p in inspect.signature(operation).parameters.values() if p.kind != p.KEYWORD_ONLY]
    arguments = arguments_of(function, random.Random(function.symbol))
    assert positional == list(arguments)
    operation(*arguments.values())


@pytest.mark.parametrize(("code", "meaning"), [(-1, "not in this build"), (-2, "ASSAYER_INVALID"), (700, "runtime")])
def test_a_refusal_names_operation_and_meaning(code: int, meaning: str, spy: Spy) -> None:
    x = np.ones(3, np.float32)
    spy.answer(code)
    try:
        with pytest.raises(CallError, match=rf"silu: the library returned {code}: .*{meaning}") as caught:
            spy.library.silu(x)
    finally:
        spy.answer(0)
    assert caught.value.code == code


def test_an_array_that_is_not_read_may_be_left_out(spy: Spy) -> None:
    a, b = np.ones((2, 3), np.float32), np.ones((4, 3), np.float32)
    assert spy.library.gemm_beta(a, b, None, alpha=1.0, beta=0.0).shape == (2, 4)
    given = np.full((2, 4), np.nan, np.float32)
    assert spy.library.gemm_beta(a, b, given, alpha=1.0, beta=0.0) is given


def test_a_size_that_only_an_output_shows_alone_is_solved_for(spy: Spy) -> None:
    a, b, offsets = np.ones((5, 3), np.float32), np.ones((5, 4), np.float32), np.array([0, 2, 5], np.int32)
    assert spy.library.grouped_gemm_tn(a, b, offsets, None, beta=0.0).shape == (2, 3, 4)


def test_lists_arrive_as_tables_of_addresses(spy: Spy) -> None:
    arrays = [np.ones((2, 3), np.float32), np.ones(5, np.float32)]
    returned = spy.library.multi_scale(arrays, np.ones(1, np.float32))
    assert returned is arrays
    assert spy.number(3) == 2


def test_numbers_may_be_numpy_scalars(spy: Spy) -> None:
    freqs = spy.library.rope_freqs(np.int64(8), np.int32(4), np.float32(10000.0), 1)
    assert freqs.shape == (8, 2)
    assert [spy.number(index) for index in (1, 2, 3, 4)] == [8, 4, 10000.0, 1.0]
