"""The array API standard's names for tensors: what of the standard they do, its other names are not there.

In: numbers, NumPy arrays, tensors of any namespace of operations.
Out: arrays of float32, float64 and bool, all computed by the strided operations.
Used by: who writes for the standard rather than for one library. left_out.toml says what is not there, and why.
"""

from __future__ import annotations

import math

from .array import Array, astype
from .constructors import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from .dtypes import VERSION, bool, can_cast, finfo, float32, float64, iinfo, isdtype, result_type
from .elementwise import (
    abs,
    add,
    bitwise_and,
    bitwise_invert,
    bitwise_or,
    bitwise_xor,
    ceil,
    clip,
    cos,
    divide,
    equal,
    exp,
    floor,
    greater,
    greater_equal,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    log,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    negative,
    not_equal,
    positive,
    pow,
    reciprocal,
    round,
    sign,
    sin,
    sqrt,
    square,
    subtract,
    tanh,
    trunc,
    where,
)
from .inspection import __array_namespace_info__
from .manipulation import (
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    matrix_transpose,
    moveaxis,
    permute_dims,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
    unstack,
)
from .reductions import all, any, matmul, max, mean, min, prod, std, sum, tensordot, var, vecdot

__array_api_version__ = VERSION
e, inf, nan, pi, newaxis = math.e, math.inf, math.nan, math.pi, None

__all__ = [
    "Array", "__array_api_version__", "__array_namespace_info__", "abs", "add", "all", "any", "arange", "asarray",
    "astype", "bitwise_and", "bitwise_invert", "bitwise_or", "bitwise_xor", "bool", "broadcast_arrays",
    "broadcast_shapes", "broadcast_to", "can_cast", "ceil", "clip", "concat", "cos", "divide", "e", "empty",
    "empty_like", "equal", "exp", "expand_dims", "eye", "finfo", "flip", "float32", "float64", "floor",
    "from_dlpack", "full", "full_like", "greater", "greater_equal", "iinfo", "inf", "isdtype", "isfinite", "isinf",
    "isnan", "less", "less_equal", "linspace", "log", "logical_and", "logical_not", "logical_or", "logical_xor",
    "matmul", "matrix_transpose", "max", "maximum", "mean", "meshgrid", "min", "minimum", "moveaxis", "multiply",
    "nan", "negative", "newaxis", "not_equal", "ones", "ones_like", "permute_dims", "pi", "positive", "pow", "prod",
    "reciprocal", "reshape", "result_type", "roll", "round", "sign", "sin", "sqrt", "square", "squeeze", "stack",
    "std", "subtract", "sum", "tanh", "tensordot", "tile", "tril", "triu", "trunc", "unstack", "var", "vecdot",
    "where", "zeros", "zeros_like",
]  # fmt: skip
