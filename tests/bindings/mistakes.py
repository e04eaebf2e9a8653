"""Ways to spoil one argument of a valid call: each returns the spoilt value, or None where it does not apply."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from bindings import Parameter

WRONG_TYPES = ["float64", "float16", ">f4", "int64", "uint8", "bool", "complex64", "U3", "object"]
NOT_ARRAYS = [[1.0, 2.0], 1.0, "text", b"bytes", {}, object(), (1,), None, memoryview(b"abcd")]


def another_type(parameter: Parameter, array: Any, rng: random.Random) -> Any:
    names = [name for name in WRONG_TYPES if np.dtype(name) != array.dtype]
    return np.zeros(array.shape, rng.choice(names))


def no_array(parameter: Parameter, array: Any, rng: random.Random) -> Any:
    value = rng.choice(NOT_ARRAYS)
    return 0 if value is None and parameter.read_if else value if value is not None else ()


def another_dimension(parameter: Parameter, array: Any, rng: random.Random) -> Any:
    return array[None] if rng.random() < 0.5 else array.reshape(()) if array.size == 1 else array[..., None]


def no_elements(parameter: Parameter, array: Any, rng: random.Random) -> Any:
    axis = rng.randrange(array.ndim)
    return np.zeros([0 if index == axis else size for index, size in enumerate(array.shape)], array.dtype)


def every_second(parameter: Parameter, array: Any, rng: random.Random) -> Any:
    wide = np.zeros((*array.shape, 2), array.dtype)
    return wide[..., 0] if array.size > 1 else None


def by_columns(parameter: Parameter, array: Any, rng: random.Random) -> Any:
    other = np.asfortranarray(array)
    return None if other.flags.c_contiguous else other


def unaligned(parameter: Parameter, array: Any, rng: random.Random) -> Any:
    room = np.zeros(array.nbytes + 1, np.uint8)
    return room[1:].view(array.dtype).reshape(array.shape)


def read_only(parameter: Parameter, array: Any, rng: random.Random) -> Any:
    copy = array.copy()
    copy.flags.writeable = False
    return copy if parameter.written else None


def a_subclass(parameter: Parameter, array: Any, rng: random.Random) -> Any:
    return np.ma.masked_array(array)


def index_too_large(parameter: Parameter, array: Any, rng: random.Random) -> Any:
    return _one_wrong(array, 1 << 30, rng) if parameter.limit else None


def index_negative(parameter: Parameter, array: Any, rng: random.Random) -> Any:
    return _one_wrong(array, -1, rng) if parameter.limit and parameter.limit[0] == "WITHIN" else None


def _one_wrong(array: Any, value: int, rng: random.Random) -> Any:
    copy = array.copy()
    copy.reshape(-1)[rng.randrange(array.size)] = value
    return copy


OF_ARRAYS = [
    another_type,
    no_array,
    another_dimension,
    no_elements,
    every_second,
    by_columns,
    unaligned,
    read_only,
    a_subclass,
    index_too_large,
    index_negative,
]
OF_NUMBERS: dict[bool, list[Any]] = {
    True: [1.5, "1", None, True, [1], 1j, np.ones(1, np.int32), 2**63, -(2**63) - 1, float("nan"), np.float32(2)],
    False: ["1", None, True, [1.0], 1j, np.ones(1, np.float32), np.ones(()), 1e39, -1e39, 10**400, b"1"],
}
