"""Mistakes in a call: one readable error that names operation and argument, and nothing written."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bindings import ArgumentError, ArgumentTypeError, Function, Parameter, Signature, read_header
from tests.bindings.mistakes import OF_ARRAYS, OF_NUMBERS
from tests.bindings.spy import Spy
from tests.bindings.valid import arguments_of
from tests.errors import error_of

OPERATIONS = read_header().operations
functions = st.sampled_from(list(OPERATIONS.values()))
SEEDS = st.integers(0, 2**32 - 1)


def contents(arguments: dict[str, Any]) -> list[bytes]:
    lists = (value if isinstance(value, list) else [value] for value in arguments.values())
    return [array.tobytes() for arrays in lists for array in arrays if isinstance(array, np.ndarray)]


def refuse(spy: Spy, function: Function, arguments: dict[str, Any], **outputs: Any) -> ArgumentError:
    """The call raises, the library is not called, and every array is as it was."""
    calls, before = spy.calls, contents(arguments | outputs)
    with pytest.raises(ArgumentError) as caught:
        getattr(spy.library, function.operation)(**arguments, **outputs)
    error = caught.value
    assert spy.calls == calls
    assert contents(arguments | outputs) == before
    assert error.operation == function.operation
    assert str(error) == (f"{error.operation}: argument {error.argument}: expected {error.expected}, got {error.got}")
    return error


@given(functions, SEEDS, st.sampled_from(OF_ARRAYS))
def test_a_spoilt_array(spy: Spy, function: Function, seed: int, spoil: Any) -> None:
    rng = random.Random(seed)
    arguments, signature = arguments_of(function, rng), Signature(function)
    assume(signature.given)
    parameter = rng.choice(signature.given)
    if parameter.is_list:
        entry = rng.randrange(len(arguments[parameter.name]))
        value = spoil(parameter, arguments[parameter.name][entry], rng)
        arguments[parameter.name][entry] = value
    else:
        value = arguments[parameter.name] = spoil(parameter, arguments[parameter.name], rng)
    assume(value is not None)
    if spoil.__name__ == "no_elements" and parameter.strided:  # right where the tensor has no element either
        assume(arguments[parameter.strided.shape].all())
    if parameter.is_list and spoil.__name__ == "another_dimension":
        assume(not all(p.is_array for p in signature.given if p is not parameter))  # else any shape will do
    error = refuse(spy, function, arguments)
    assert error.argument.partition("[")[0] in {p.name for p in function.parameters}
    if spoil.__name__ not in {"no_elements", "another_dimension"}:  # those may show at an array of the same sizes
        assert error.argument.partition("[")[0] == parameter.name


@given(functions, SEEDS)
def test_a_spoilt_number(spy: Spy, function: Function, seed: int) -> None:
    rng = random.Random(seed)
    arguments, signature = arguments_of(function, rng), Signature(function)
    assume(signature.scalars)
    parameter = rng.choice(signature.scalars)
    spoilt = rng.choice(OF_NUMBERS[parameter.type.is_integer])
    assume(not (parameter.element == "uint64" and spoilt == 2**63))  # which it can hold
    arguments[parameter.name] = spoilt
    assert refuse(spy, function, arguments).argument == parameter.name


CONDITIONS = [
    (function, name)
    for function in OPERATIONS.values()
    for condition in function.requires
    for name in condition.names
    if name in {p.name for p in Signature(function).scalars} - {p.name for p in Signature(function).size_parameters}
]


def _fits(parameter: Parameter, array: Any, numbers: dict[str, Any]) -> bool:
    """Whether an array has the shape that the numbers give it: where it has not, that is said first."""
    shape = zip(parameter.shape, array.shape, strict=True) if array is not None else ()
    return all(at == axis.size(numbers) or (axis.at_least and at > axis.size(numbers)) for axis, at in shape)


@given(st.sampled_from(CONDITIONS), SEEDS)
def test_a_condition_of_the_header_broken(spy: Spy, condition: tuple[Function, str], seed: int) -> None:
    function, name = condition
    rng = random.Random(seed)
    arguments, signature = arguments_of(function, rng), Signature(function)
    whole = function.by_name[name].type.is_integer
    arguments[name] = rng.choice([-1, -7, 1 << 20] if whole else [-0.5, -1e30, float("nan"), -float("inf")])
    numbers = signature.sizes(arguments)
    broken = [condition for condition in function.requires if not condition(numbers)]
    assume(broken and all(_fits(p, arguments[p.name], numbers) for p in signature.given if p.is_array))
    assert refuse(spy, function, arguments).expected == broken[0].text


@given(functions, SEEDS)
def test_an_array_of_another_size(spy: Spy, function: Function, seed: int) -> None:
    rng = random.Random(seed)
    arguments, signature = arguments_of(function, rng), Signature(function)
    arrays = [p for p in signature.given if p.is_array]
    assume(len(arrays) > 1)
    parameter = rng.choice(arrays)
    array = arguments[parameter.name]
    index = rng.randrange(array.ndim)
    shown_elsewhere = {n for p in arrays if p is not parameter for a in p.shape for n in a.size.names}
    assume(set(parameter.shape[index].size.names) <= shown_elsewhere and not parameter.shape[index].at_least)
    shape = [size + (axis == index) for axis, size in enumerate(array.shape)]
    arguments[parameter.name] = np.zeros(shape, array.dtype)
    error = error_of(ArgumentError, getattr(spy.library, function.operation), **arguments)
    if error:
        assert error.operation == function.operation
        return
    sizes = signature.sizes(arguments)  # every array has the shape of the header then, for other sizes
    assert all(
        length == axis.size(sizes) or axis.at_least
        for p in arrays
        for axis, length in zip(p.shape, arguments[p.name].shape, strict=True)
    )


@given(functions, SEEDS)
def test_arrays_that_overlap(spy: Spy, function: Function, seed: int) -> None:
    rng = random.Random(seed)
    arguments, signature = arguments_of(function, rng), Signature(function)
    outputs = [p for p in signature.returned if p.is_array]
    inputs = [p for p in signature.given if p.is_array]
    assume(outputs and inputs)
    written, other = rng.choice(outputs), rng.choice(inputs)
    assume(written is not other and written.type == other.type)
    sizes = signature.sizes(arguments)
    shape = [axis.size(sizes) for axis in written.shape]
    room = np.zeros(int(np.prod(shape)) + arguments[other.name].size, written.type.dtype)
    shift = rng.randrange(arguments[other.name].size)
    arguments[other.name] = room[: arguments[other.name].size].reshape(arguments[other.name].shape)
    target = room[shift : shift + int(np.prod(shape))].reshape(shape)
    if written.direction == "updated":
        arguments[written.name] = target
        error = refuse(spy, function, arguments)
    else:
        error = refuse(spy, function, arguments, **{written.name: target})
    assert {error.argument, error.expected} & {written.name, f"memory apart from {written.name}"}


@given(functions, SEEDS)
def test_names_that_do_not_fit(spy: Spy, function: Function, seed: int) -> None:
    rng = random.Random(seed)
    arguments = arguments_of(function, rng)
    dropped = dict(arguments)
    name = rng.choice(list(dropped))
    del dropped[name]
    assert refuse(spy, function, dropped).argument == name
    assert refuse(spy, function, arguments | {name + "_": 1}).argument == name + "_"
    operation = getattr(spy.library, function.operation)
    with pytest.raises(ArgumentTypeError, match="one value, got two"):
        operation(*arguments.values(), **{name: arguments[name]})
    with pytest.raises(ArgumentTypeError, match=f"{function.operation}: argument number {len(arguments) + 1}"):
        operation(*arguments.values(), 1)


def test_an_output_larger_than_memory(spy: Spy) -> None:
    largest = 2**31 - 1
    with pytest.raises((ArgumentError, MemoryError), match="rope_freqs"):
        spy.library.rope_freqs(largest, largest - 1, 1.0, 1.0)


@pytest.mark.parametrize("size", [0, -1, 2**31])
def test_a_size_outside_its_type(size: int, spy: Spy) -> None:
    with pytest.raises(ArgumentError, match="rope_freqs: argument max_seq_len: expected"):
        spy.library.rope_freqs(size, 4, 1.0, 1.0)


def test_an_output_without_elements(spy: Spy) -> None:
    with pytest.raises(ArgumentError, match="expert_sort: argument"):
        spy.library.expert_sort(np.zeros((2, 2), np.int32), 0)


def test_a_list_that_differs_from_the_first(spy: Spy) -> None:
    a, b = np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)
    numbers = {"lr": 0.1, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "step": 1}
    decays, scale = np.zeros(1, np.float32), np.ones(1, np.float32)
    with pytest.raises(ArgumentError, match=r"argument grads\[0\]: expected shape \(2, 3\), that of params"):
        spy.library.multi_adamw([a], [b], [a.copy()], [a.copy()], decays, scale, **numbers)
    with pytest.raises(ArgumentError, match="multi_adamw: argument vs: expected 1 arrays, as many as params, got 0"):
        spy.library.multi_adamw([a], [a.copy()], [a.copy()], [], decays, scale, **numbers)
    with pytest.raises(ArgumentError, match=r"multi_adamw: argument vs\[0\]: expected memory apart from ms\[0\]"):
        spy.library.multi_adamw([a], [a.copy()], [b.reshape(2, 3)], [b.reshape(2, 3)], decays, scale, **numbers)
