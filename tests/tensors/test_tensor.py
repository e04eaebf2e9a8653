"""Arithmetic against NumPy's: on the reference, and on the C library."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn_numpy

import reference
import tensors
from bindings import Library
from reference.ops.strided_functions import MAPS as F
from tensors import Tensor, TensorError
from tensors.numbers import MAPS, REDUCTIONS, ZIPS


def laid(array: Any, how: int) -> Any:
    """The same numbers in float32, otherwise laid out."""
    array = np.asarray(array, np.float32)
    if how == 1:
        return np.array(array, order="F")
    if how == 0:
        return array
    wide = np.zeros(tuple(2 * n + 1 for n in array.shape), np.float32)
    view = wide[(*(slice(2 * n - 1, None, -2) if n else slice(0, 0) for n in array.shape), ...)]
    view[...] = array
    return view


def whole(shape: tuple[int, ...], seed: int = 3) -> Any:
    """Small whole numbers: sums, differences and products of few are exact in float32, in any order."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


@pytest.fixture(params=["reference", "C library"])
def ops(request: pytest.FixtureRequest) -> Any:
    return reference if request.param == "reference" else request.getfixturevalue("stub")


PAIRS = drawn_numpy.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=4, min_side=0)
EXACT: dict[Callable[..., Any], str] = {
    operator.add: "add",
    operator.sub: "subtract",
    operator.mul: "multiply",
    operator.lt: "less",
    operator.le: "less_equal",
    operator.gt: "less",
    operator.ge: "less_equal",
    operator.eq: "equal",
    operator.ne: "not_equal",
}


def test_two_tensors_are_broadcast_as_numpys(ops: Any) -> None:
    @given(PAIRS, st.sampled_from([*EXACT]), st.integers(0, 2), st.integers(0, 2))
    def agree(shapes: Any, function: Any, first: int, second: int) -> None:
        a, b = (
            laid(whole(s, seed), how)
            for seed, (s, how) in enumerate(zip(shapes.input_shapes, (first, second), strict=True))
        )
        got = function(Tensor(a, ops), Tensor(b, ops))
        assert got.shape == shapes.result_shape
        assert got.layout.is_dense
        assert np.array_equal(got.numpy(), function(a, b).astype(np.float32))

    agree()


def test_numbers_on_either_side(ops: Any) -> None:
    a = whole((2, 3)) + 5
    t = Tensor(a, ops)
    for got, expected in [
        (t + 1, a + 1),
        (1 - t, 1 - a),
        (t - 1.5, a - 1.5),
        (2 * t, 2 * a),
        (t / 2, a / 2),
        (-t, -a),
        (abs(t - 5), abs(a - 5)),
        (t > 2, a > 2),
        (t.maximum(5), np.maximum(a, 5)),
        (t.minimum(5), np.minimum(a, 5)),
    ]:
        assert np.array_equal(got.numpy(), expected.astype(np.float32))
    powers = Tensor(np.array([0, 1, 3], np.float32), ops)
    assert np.array_equal((8 / Tensor(np.array([1, 2, 4], np.float32), ops)).numpy(), [8, 4, 2])
    assert np.array_equal((powers**2).numpy(), [0, 1, 9])
    assert np.array_equal((2**powers).numpy(), [1, 2, 8])


@pytest.mark.parametrize("name", MAPS)
def test_every_function_is_that_of_its_name(name: str) -> None:
    a = np.random.default_rng(3).uniform(0.1, 2.0, (3, 4))
    assert np.array_equal(Tensor(a.T).map(name).numpy(), F[MAPS[name]](a.T))


def test_reductions_along_any_axes(ops: Any) -> None:
    numpys = {"sum": np.sum, "product": np.prod, "maximum": np.max, "minimum": np.min}
    methods = {"sum": "sum", "product": "prod", "maximum": "max", "minimum": "min"}
    assert {*numpys, "mean"} == {*REDUCTIONS}

    @settings(max_examples=200)
    @given(st.sampled_from([*numpys]), drawn_numpy.array_shapes(min_dims=0, max_dims=4, max_side=3), st.data())
    def agree(name: str, shape: tuple[int, ...], data: Any) -> None:
        a = laid(whole(shape), data.draw(st.integers(0, 2)))
        axes = st.lists(st.sampled_from(range(len(shape))), unique=True).map(tuple) if shape else st.just(())
        axis, keepdims = data.draw(st.none() | axes), data.draw(st.booleans())
        a = np.sign(a) if name == "product" else a
        got = getattr(Tensor(a, ops), methods[name])(axis, keepdims)
        expected = numpys[name](a, axis=axis, keepdims=keepdims)  # type: ignore[operator]
        assert got.shape == np.shape(expected)
        assert np.array_equal(got.numpy(), expected)

    agree()


def test_start_values_and_nothing(ops: Any) -> None:
    t = Tensor(np.array([[1, 2, 3], [4, 5, 6]], np.float32), ops)
    assert t.reduce("product", 1, start=2.0).numpy().tolist() == [12, 240]
    assert t.reduce("maximum", 0, start=4.5).numpy().tolist() == [4.5, 5, 6]
    assert t.mean(1).numpy().tolist() == [2, 5]
    empty = t[:, :0]
    assert empty.sum(1).numpy().tolist() == [0, 0]
    assert empty.prod(1, keepdims=True).numpy().tolist() == [[1], [1]]
    assert empty.reduce("maximum", 1, start=-1.0).numpy().tolist() == [-1, -1]
    assert empty.max(0).shape == (0,)
    with pytest.raises(TensorError) as raised:
        empty.max(1)
    assert str(raised.value) == "maximum: expected a start value, or elements along the axes, got none: shape (2, 0)"


def test_products_of_matrices_as_numpys(ops: Any) -> None:
    layouts = st.tuples(st.integers(0, 2), st.integers(0, 2))
    shapes = drawn_numpy.mutually_broadcastable_shapes(
        signature="(m?,k),(k,n?)->(m?,n?)", max_dims=3, max_side=3, min_side=0
    )

    @settings(max_examples=200)
    @given(shapes, layouts)
    def agree(drawn: Any, hows: tuple[int, int]) -> None:
        a, b = (laid(whole(s, seed), how) for seed, (s, how) in enumerate(zip(drawn.input_shapes, hows, strict=True)))
        got = Tensor(a, ops) @ Tensor(b, ops)
        assert got.shape == drawn.result_shape
        assert np.array_equal(got.numpy(), a @ b)

    agree()


def test_one_behind_the_other() -> None:
    a, b = whole((2, 3)), whole((2, 1))
    joined = tensors.concat([Tensor(a), Tensor(b)], axis=-1)
    assert np.array_equal(joined.numpy(), np.concatenate([a, b], axis=-1))
    with pytest.raises(TensorError, match="concat: expected shapes alike but for axis 0"):
        tensors.concat([Tensor(a), Tensor(b)])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda t: t + Tensor(whole((2,))), "add: expected shapes that broadcast together, got (2, 3) and (2,)"),
        (lambda t: t @ t, "matmul: expected (..., m, k) and (..., k, n), got (2, 3) and (2, 3)"),
        (lambda t: t @ t[0, 0], "matmul: expected (..., m, k) and (..., k, n), got (2, 3) and ()"),
        (lambda t: t + "1", "Tensor: expected a tensor or a number, got str"),
        (lambda t: t + Tensor(np.zeros(3)), "Tensor: expected numbers of float32, as the other has, got float64"),
        (lambda t: Tensor(np.zeros(3, int)), "Tensor: expected floating-point numbers, got int64"),
        (lambda t: t.item(), "item: expected one element, got shape (2, 3)"),
        (lambda t: bool(t), "bool: expected a number, such as item() gives, got a tensor"),
    ],
)
def test_errors_name_shapes_and_types(wrong: Any, message: str) -> None:
    with pytest.raises(TensorError) as raised:
        wrong(Tensor(whole((2, 3))))
    assert str(raised.value) == message


def test_a_wrong_name_says_the_right_one() -> None:
    with pytest.raises(TensorError, match="got sigmoyd; did you mean sigmoid"):
        Tensor(whole((2,))).map("sigmoyd")
    assert {"add", "power"} <= {*ZIPS}


def test_two_libraries_do_not_meet(stub: Library) -> None:
    a = whole((2,))
    with pytest.raises(TensorError, match="expected operations of"):
        Tensor(a, stub) + Tensor(a)


def test_dlpack_shares_memory() -> None:
    array = whole((3, 4))
    view = Tensor(array).T[1:, ::2]
    theirs = np.from_dlpack(view)
    assert np.array_equal(theirs, array.T[1:, ::2])
    assert np.shares_memory(theirs, array)
    mine = tensors.from_dlpack(array[:, ::-1])
    array[0, 0] = 100
    assert mine[0, -1].item() == 100


def test_a_copy_is_a_copy() -> None:
    array = whole((2, 3))
    t = Tensor(array)
    assert t.contiguous() is t
    for copied in (t.copy(), t.T.contiguous().T):
        copied[...] = 9.0
        assert not (array == 9).any()


def test_strides_that_are_no_whole_elements() -> None:
    records = np.zeros(3, [("a", "f4"), ("b", "i2")])
    with pytest.raises(TensorError, match="strides of whole elements"):
        Tensor(records["a"])


def test_a_resident_library_is_refused(stub_path: Any) -> None:
    with pytest.raises(TensorError, match="resident=True"):
        Tensor(whole((2,)), Library(stub_path, resident=True))
