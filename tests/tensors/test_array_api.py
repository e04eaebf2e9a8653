"""The array API's names: what they give beside NumPy's functions of the same names, and which are left out."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn

import tensors
from tensors import Tensor, TensorError
from tensors import array_api as xp

LEFT_OUT = tomllib.loads((Path(xp.__file__).parent / "left_out.toml").read_text())
EXACT = ("abs", "ceil", "floor", "trunc", "round", "negative", "positive", "square", "sqrt", "reciprocal")
TRUTHS = ("isnan", "isinf", "isfinite")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum")
COMPARED = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
CURVED = ("exp", "log", "sin", "cos", "tanh")
LOGICAL = ("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor")
REDUCED = ("sum", "prod", "max", "min", "all", "any")
DTYPES = (np.float32, np.float64)
ELEMENTS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, np.inf, -np.inf, np.nan]),
    st.floats(-1e3, 1e3, width=32, allow_subnormal=False),
)


def same(got: xp.Array, expected: Any) -> None:
    """Type, shape, numbers, and the signs of what is 0."""
    array = got.numpy()
    assert (array.shape, array.dtype) == (np.shape(expected), np.asarray(expected).dtype)
    np.testing.assert_array_equal(array, expected)
    if array.dtype.kind == "f":
        zero = np.asarray(expected) == 0
        assert np.array_equal(np.signbit(array)[zero], np.signbit(expected)[zero])


def arrays(dtype: Any, shape: Any = None) -> Any:
    return drawn.arrays(
        dtype, drawn.array_shapes(min_dims=0, max_side=4) if shape is None else shape, elements=ELEMENTS
    )


@given(st.sampled_from((*EXACT, *TRUTHS)), st.sampled_from(DTYPES).flatmap(arrays))
def test_functions_of_one_number(name: str, x: Any) -> None:
    with np.errstate(all="ignore"):
        same(getattr(xp, name)(xp.asarray(x)), getattr(np, name)(x))


@given(st.sampled_from(CURVED), st.sampled_from(DTYPES).flatmap(arrays))
def test_curved_functions_are_those_of_the_tensors(name: str, x: Any) -> None:
    with np.errstate(all="ignore"):
        same(getattr(xp, name)(xp.asarray(x)), Tensor(x).map(name).numpy())


@settings(max_examples=300)
@given(st.sampled_from((*BINARY, *COMPARED)), st.data())
def test_functions_of_two_numbers_are_broadcast_and_promoted(name: str, data: Any) -> None:
    shapes = data.draw(drawn.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3)).input_shapes
    a, b = (data.draw(arrays(data.draw(st.sampled_from(DTYPES)), shape)) for shape in shapes)
    with np.errstate(all="ignore"):
        same(getattr(xp, name)(xp.asarray(a), xp.asarray(b)), np.asarray(getattr(np, name)(a, b)))


@given(st.sampled_from(LOGICAL), drawn.arrays(np.bool_, (3, 4)), drawn.arrays(np.bool_, (4,)))
def test_truths(name: str, a: Any, b: Any) -> None:
    same(getattr(xp, name)(xp.asarray(a), xp.asarray(b)), getattr(np, name)(a, b))
    same(~xp.asarray(a), ~a)
    same(
        xp.where(xp.asarray(a), xp.asarray(np.arange(4.0)), xp.asarray(np.array(np.nan))),
        np.where(a, np.arange(4.0), np.nan),
    )


@given(st.sampled_from(REDUCED), st.data(), st.booleans())
def test_reductions(name: str, data: Any, keepdims: bool) -> None:
    """Of small whole numbers, which are exact in any order."""
    shape = data.draw(drawn.array_shapes(min_dims=0, max_dims=3, max_side=3))
    x = data.draw(drawn.arrays(np.float64, shape, elements=st.integers(-2, 2).map(float)))
    axes = st.lists(st.sampled_from(range(len(shape))), unique=True).map(tuple) if shape else st.just(())
    axis = data.draw(st.none() | axes)
    got = getattr(xp, name)(xp.asarray(x), axis=axis, keepdims=keepdims).numpy()
    expected = getattr(np, name)(x, axis=axis, keepdims=keepdims)
    assert got.dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(got, expected)


def test_spread() -> None:
    """Of numbers whose squared distances from the mean are exact."""
    x = np.array([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])
    for axis, correction in ((None, 0.0), (1, 0.0), (1, 1.0)):
        exact = np.asarray(np.var(x, axis=axis, correction=correction))
        same(xp.var(xp.asarray(x), axis=axis, correction=correction), exact)
        same(xp.std(xp.asarray(x), axis=axis, correction=correction), np.sqrt(exact))


@pytest.mark.parametrize(
    ("name", "args", "named"),
    [
        ("reshape", ((4, 3),), {}),
        ("permute_dims", ((1, 0),), {}),
        ("matrix_transpose", (), {}),
        ("expand_dims", (), {"axis": 1}),
        ("flip", (), {"axis": 0}),
        ("roll", ((2, -1),), {"axis": (1, 0)}),
        ("roll", (5,), {}),
        ("tile", ((2, 1, 2),), {}),
        ("moveaxis", (0, -1), {}),
        ("broadcast_to", ((2, 3, 4),), {}),
        ("tril", (), {"k": 1}),
        ("triu", (), {"k": -1}),
        ("astype", (np.dtype(np.float64),), {}),
        ("zeros_like", (), {}),
        ("full_like", (2.5,), {}),
    ],
)
def test_shapes_and_places(name: str, args: Any, named: Any) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    for array in (x, x[::-1, ::-1]):
        same(getattr(xp, name)(xp.asarray(array), *args, **named), getattr(np, name)(array, *args, **named))


def test_several_arrays_as_one() -> None:
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((2, 3))
    x, y = xp.asarray(a), xp.asarray(b)
    same(xp.concat([x, y], axis=1), np.concat([a, b], axis=1))
    same(xp.concat([x, y], axis=None), np.concat([a, b], axis=None))
    same(xp.stack([x, y], axis=-1), np.stack([a, b], axis=-1))
    for got, expected in zip(xp.unstack(x, axis=1), np.unstack(a, axis=1), strict=True):
        same(got, expected)
    for got, expected in zip(xp.meshgrid(x[0], y[0, :2]), np.meshgrid(a[0], b[0, :2]), strict=True):
        same(got, expected)


def test_products_of_whole_numbers() -> None:
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(20.0).reshape(4, 5)
    x, y = xp.asarray(a), xp.asarray(b)
    same(x @ y, a @ b)
    same(xp.vecdot(x, x[0]), np.vecdot(a, a[0]))
    same(xp.tensordot(x, y, axes=1), np.tensordot(a, b, axes=1))
    same(xp.tensordot(x, y, axes=((2,), (0,))), np.tensordot(a, b, axes=((2,), (0,))))


def test_what_is_made_of_numbers() -> None:
    for name, args in (("arange", (1.0, 4.0, 0.5)), ("linspace", (0.0, 1.0, 5)), ("eye", (2, 3)), ("ones", ((2,),))):
        same(getattr(xp, name)(*args), getattr(np, name)(*args).astype(np.float32))
    same(xp.asarray([[True, False]]), np.array([[True, False]]))
    assert xp.finfo(xp.float32).eps == np.finfo(np.float32).eps
    assert xp.result_type(xp.float32, xp.float64) is xp.float64
    assert xp.isdtype(xp.bool, ("numeric", "bool"))


def test_the_library_of_a_tensor_computes(stub: Any) -> None:
    x = xp.asarray(Tensor(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), stub))
    y = xp.sum(xp.where(x > 2.0, x * 2.0, -x), axis=0)
    assert y.tensor.ops is stub
    assert y.numpy().tolist() == [5.0, 6.0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda x: x + True, "add: expected an array or a number for float32, got True"),
        (lambda x: x & x, "logical_and: expected an array of bool, got float32"),
        (lambda x: xp.sum(x > 0), "sum: expected an array of floating-point numbers, got bool"),
        (lambda x: xp.zeros(2, dtype=np.dtype(np.int32)), "full: expected one of bool, float32, float64, got int32"),
        (lambda x: xp.add(x, x > 0), "result_type: expected types of one kind, got "),
        (lambda x: xp.from_dlpack(x > 0), "__dlpack__: expected floating-point numbers, got bool"),
        (lambda x: x.__array_namespace__(api_version="2021.12"), "__array_namespace__: expected version 2024.12, got"),
    ],
)
def test_errors_say_what_was_expected(wrong: Any, message: str) -> None:
    with pytest.raises(TensorError) as raised:
        wrong(xp.asarray([1.0, 2.0]))
    assert str(raised.value).startswith(message)


def test_names_are_there_or_left_out_with_a_reason() -> None:
    left_out = {name for kind, part in LEFT_OUT.items() if kind != "known" for name in part["names"]}
    assert not left_out & {*xp.__all__}
    assert not [name for name in left_out if hasattr(xp, name)]
    assert not [name for name in left_out if not hasattr(np, name)], "the standard's names, which NumPy has"
    functions = {name for name in xp.__all__ if inspect.isfunction(getattr(xp, name))}
    assert not [name for name in functions if not hasattr(np, name) and not name.startswith("__")]
    assert xp.asarray([1.0]).__array_namespace__() is tensors.array_api
