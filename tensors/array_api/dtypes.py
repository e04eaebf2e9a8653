"""The types of numbers, and what they come to together."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tensors.errors import TensorError, check

VERSION = "2024.12"  # of the standard
bool, float32, float64 = np.dtype(np.bool_), np.dtype(np.float32), np.dtype(np.float64)
DTYPES = {"bool": bool, "float32": float32, "float64": float64}
DEFAULT = float32
_KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": (),
    "unsigned integer": (),
    "integral": (),
    "real floating": ("float32", "float64"),
    "complex floating": (),
    "numeric": ("float32", "float64"),
}


class FInfo(NamedTuple):
    """Limits of a type of floating-point numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


def dtype_of(operation: str, dtype: Any) -> Any:
    """Return one of the three; raises TensorError for others."""
    check(builtins.any(dtype is one for one in DTYPES.values()), operation, f"one of {', '.join(DTYPES)}", dtype)
    return dtype


def finfo(type: Any, /) -> FInfo:
    """The limits of a floating-point type, or of an array's."""
    dtype = dtype_of("finfo", getattr(type, "dtype", type))
    check(dtype is not bool, "finfo", "a floating-point type", dtype)
    found = np.finfo(dtype)
    eps, most, least, normal = (float(n) for n in (found.eps, found.max, found.min, found.smallest_normal))
    return FInfo(int(found.bits), eps, most, least, normal, dtype)


def iinfo(type: Any, /) -> NoReturn:
    """Raises TensorError: there are no types of whole numbers."""
    raise TensorError(f"iinfo: expected a type of whole numbers, of which there are none here, got {type}")


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Whether a type is one of that kind, or of those kinds: a type, or a name such as "real floating"."""
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, one) for one in kind)
    if not isinstance(kind, str):
        return builtins.bool(dtype == kind)
    check(kind in _KINDS, "isdtype", f"one of {', '.join(_KINDS)}", kind)
    return builtins.any(dtype == DTYPES[name] for name in _KINDS[kind])


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether a type, or an array's, becomes another by promotion."""
    dtype = getattr(from_, "dtype", from_)
    try:
        return result_type(dtype, to) is to
    except TensorError:
        return False


def result_type(*arrays_and_dtypes: Any) -> Any:
    """What the types come to together: the wider one. Numbers of Python take the others' type."""
    kinds = builtins.bool, int, float
    known = [getattr(one, "dtype", one) for one in arrays_and_dtypes if not isinstance(one, kinds)]
    check(known, "result_type", "at least one array or type", "none")
    found = {dtype_of("result_type", one) for one in known}
    check(len(found) == 1 or bool not in found, "result_type", "types of one kind", [str(one) for one in found])
    for one in arrays_and_dtypes:
        if isinstance(one, kinds):
            check(isinstance(one, builtins.bool) == (bool in found), "result_type", f"a number for {found}", one)
    return found.pop() if len(found) == 1 else float64
