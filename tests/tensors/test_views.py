"""Views against NumPy's: the same numbers, the same strides, the same memory."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn_numpy

from bindings import ArgumentError, Library
from tensors import Tensor, TensorError, TensorIndexError

Draw = Any
SHAPES = drawn_numpy.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


def dense(shape: tuple[int, ...]) -> Any:
    return np.arange(np.prod(shape, dtype=int), dtype=np.float64).reshape(shape)


def agree(tensor: Tensor, array: Any) -> None:
    """The same shape and numbers, at the same places in memory."""
    mine = tensor.numpy()
    assert mine.shape == array.shape
    assert np.array_equal(mine, array)
    if array.size:
        assert mine.ctypes.data == array.ctypes.data
        assert [s for s, n in zip(mine.strides, array.shape, strict=True) if n > 1] == [
            s for s, n in zip(array.strides, array.shape, strict=True) if n > 1
        ]


@st.composite
def views(draw: Draw) -> tuple[Tensor, Any]:
    """A view several steps away from a dense array, and NumPy's."""
    array = dense(draw(SHAPES))
    tensor = Tensor(array)
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["index", "permute", "flip", "expand", "squeeze"]))
        if kind == "index":
            key = draw(drawn_numpy.basic_indices(array.shape, allow_newaxis=True, allow_ellipsis=True))
            found = array[key]
            if not isinstance(found, np.ndarray):
                found = array[(*key, ...)] if isinstance(key, tuple) else array[key, ...]
            tensor, array = tensor[key], found
        elif kind == "permute":
            order = draw(st.permutations(range(array.ndim)))
            tensor, array = tensor.permute_dims(order), array.transpose(order)
        elif kind == "flip" and array.ndim:
            axis = draw(st.none() | st.integers(-array.ndim, array.ndim - 1))
            tensor, array = tensor.flip(axis), np.flip(array, axis)
        elif kind == "expand":
            axis = draw(st.integers(-array.ndim - 1, array.ndim))
            tensor, array = tensor.expand_dims(axis), np.expand_dims(array, axis)
        elif kind == "squeeze" and 1 in array.shape:
            axis = draw(st.sampled_from([k for k, n in enumerate(array.shape) if n == 1]))
            tensor, array = tensor.squeeze(axis), np.squeeze(array, axis)
    return tensor, array


@given(views())
def test_views_of_views(pair: tuple[Tensor, Any]) -> None:
    agree(*pair)


@given(views())
def test_any_array_is_taken_where_it_lies(pair: tuple[Tensor, Any]) -> None:
    agree(Tensor(pair[1]), pair[1])


@given(views(), st.data())
def test_a_view_is_written_through(pair: tuple[Tensor, Any], data: Any) -> None:
    tensor, array = pair
    values = -1.0 - dense(array.shape)
    tensor[...] = Tensor(values)
    assert np.array_equal(array, values)


@given(views(), st.data())
def test_reshape_is_a_view_where_numpys_can_be_one_and_else_an_error(pair: tuple[Tensor, Any], data: Any) -> None:
    tensor, array = pair
    factors, shape = array.size, []
    while factors > 1 and len(shape) < 4:
        n = data.draw(st.sampled_from([k for k in range(1, factors + 1) if factors % k == 0]))
        shape.append(n)
        factors //= n
    shape += [factors] if factors != 1 else []
    given_shape = [*shape]
    if shape and array.size and data.draw(st.booleans()):
        given_shape[data.draw(st.integers(0, len(shape) - 1))] = -1
    expected = array.reshape(shape)
    if np.shares_memory(expected, array) or not array.size:
        agree(tensor.reshape(given_shape), expected)
    else:
        with pytest.raises(TensorError, match=r"contiguous\(\) copies"):
            tensor.reshape(given_shape)
        copied = tensor.contiguous().reshape(given_shape)
        assert np.array_equal(copied.numpy(), expected)


@given(views(), st.data())
def test_broadcasting_repeats_by_strides_of_0(pair: tuple[Tensor, Any], data: Any) -> None:
    tensor, array = pair
    wide = data.draw(drawn_numpy.broadcastable_shapes(array.shape, max_dims=6, max_side=4))
    try:
        expected = np.broadcast_to(array, wide)
    except ValueError:
        with pytest.raises(TensorError, match="broadcast_to: expected"):
            tensor.broadcast_to(wide)
        return
    agree(tensor.broadcast_to(wide), expected)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda t: t[2], "index: expected -2 to 1 for axis 0 of shape (2, 3), got 2"),
        (lambda t: t[0, 0, 0], "index: expected one ellipsis and 2 indices at most, got (0, 0, 0)"),
        (lambda t: t[..., ...], "index: expected one ellipsis and 2 indices at most, got (Ellipsis, Ellipsis)"),
        (lambda t: t[True], "index: expected a whole number, a slice, an ellipsis or None, got bool True"),
        (lambda t: t[[0]], "index: expected a whole number, a slice, an ellipsis or None, got list [0]"),
        (lambda t: t[::0], "index: expected whole numbers, and a step other than 0, got slice(None, None, 0)"),
        (lambda t: t[0.5:], "index: expected whole numbers, and a step other than 0, got slice(0.5, None, None)"),
    ],
)
def test_wrong_indices(wrong: Any, message: str) -> None:
    with pytest.raises(TensorIndexError) as raised:
        wrong(Tensor(dense((2, 3))))
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda t: t.permute_dims((0, 0)), "permute_dims: expected each axis once, got (0, 0)"),
        (lambda t: t.permute_dims((0,)), "permute_dims: expected every axis of shape (2, 3), got (0,)"),
        (lambda t: t.flip(2), "flip: expected an axis from -2 to 1, got 2"),
        (lambda t: t.squeeze(0), "squeeze: expected axes of length 1 of shape (2, 3), got 0"),
        (lambda t: t.expand_dims(4), "expand_dims: expected an axis from -3 to 2, got 4"),
        (lambda t: t.reshape((4, -1)), "reshape: expected a shape of 6 elements, as (2, 3) has, got (4, -1)"),
        (lambda t: t.reshape((-1, -1)), "reshape: expected at most one length of -1, got (-1, -1)"),
        (lambda t: t.reshape((2.5,)), "reshape: expected a shape of whole numbers, got (2.5,)"),
        (lambda t: t.broadcast_to((3,)), "broadcast_to: expected a shape that (2, 3) broadcasts to, got (3,)"),
        (lambda t: t[0].T, "T: expected 2 axes, got shape (3,)"),
        (lambda t: t[0].mT, "mT: expected at least 2 axes, got shape (3,)"),
        (lambda t: len(t[0, 0]), "len: expected an axis, got none: shape ()"),
    ],
)
def test_wrong_views(wrong: Any, message: str) -> None:
    with pytest.raises(TensorError) as raised:
        wrong(Tensor(dense((2, 3))))
    assert str(raised.value) == message


def test_empty_axes_have_no_index() -> None:
    with pytest.raises(TensorIndexError, match="none, for the axis is empty"):
        Tensor(dense((0, 2)))[0]


def test_a_tensor_is_a_sequence_of_its_rows() -> None:
    rows = [row.numpy().tolist() for row in Tensor(dense((2, 3)))]
    assert rows == [[0, 1, 2], [3, 4, 5]]


def test_a_write_that_reads_what_it_writes() -> None:
    array = dense((5,))
    tensor = Tensor(array)
    tensor[1:] = tensor[:-1]
    assert array.tolist() == [0, 0, 1, 2, 3]


def test_two_elements_at_one_place_are_not_written() -> None:
    array = dense((1, 3))
    with pytest.raises(ValueError, match="output"):
        Tensor(array).broadcast_to((2, 3))[...] = 1.0
    assert array.tolist() == [[0, 1, 2]]


def test_what_is_remembered_of_an_index_is_not_taken_for_an_equal_one_of_another_kind() -> None:
    x = Tensor(np.arange(6.0).reshape(2, 3))
    assert x[1].numpy().tolist() == [3, 4, 5]
    for other in (True, 1.0, [1], np.array([1])):
        with pytest.raises(TensorError, match="expected a whole number, a slice"):
            x[other]
    assert x[np.int64(1)].layout is x[1].layout
    assert x[:, None, ::2].layout is x[:, None, slice(None, None, 2)].layout
    assert x[0:1].shape == (1, 3)
    with pytest.raises(TensorError, match=r"got 1\.0"):
        x.permute_dims((1.0, 0))  # type: ignore[arg-type]


def test_layouts_stay_as_they_are() -> None:
    x = Tensor(np.arange(6.0).reshape(2, 3))
    with pytest.raises(AttributeError, match="which others have"):
        x.layout.offset = 1
    assert copy.deepcopy(x.layout) is x.layout


def test_what_is_read_only_is_not_written_by_a_plan(stub: Library) -> None:
    for _ in range(2):
        Tensor(np.zeros(3, np.float32), stub)[...] = 1.0
    array = np.zeros(3, np.float32)
    array.flags.writeable = False
    with pytest.raises(ArgumentError, match="read-only"):
        Tensor(array, stub)[...] = 1.0
    assert not array.any()
