"""Which NumPy functions a noise number answers to, and with what: importing this fills the tables of number.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reference import special

from . import arithmetic, factors, reductions
from .number import FUNCTIONS, METHODS, UFUNCS, Noisy, exact, lift

_CARRIED: dict[Any, Callable[..., Any]] = {
    np.add: arithmetic.add,
    np.subtract: arithmetic.subtract,
    np.multiply: arithmetic.multiply,
    np.true_divide: arithmetic.divide,
    np.negative: arithmetic.negative,
    np.positive: lambda x: x,
    np.square: arithmetic.square,
    np.power: arithmetic.power,
    np.exp: arithmetic.exp,
    np.log: arithmetic.log,
    np.sqrt: arithmetic.sqrt,
    np.sin: arithmetic.sin,
    np.cos: arithmetic.cos,
    np.tanh: arithmetic.tanh,
    np.absolute: arithmetic.absolute,
    np.maximum: arithmetic.maximum,
    np.minimum: arithmetic.minimum,
    np.matmul: reductions.matmul,
    np.rint: arithmetic.to_whole(np.rint, 0.5),
    **{whole: arithmetic.to_whole(whole, 0.0) for whole in (np.trunc, np.floor, np.ceil)},
    **{
        test: arithmetic.by_value(test)
        for test in (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
    },
    **{test: arithmetic.by_value(test) for test in (np.isnan, np.isinf, np.isfinite, np.signbit, np.sign, np.frexp)},
}
UFUNCS |= _CARRIED

METHODS |= {
    (np.add, "reduce"): lambda x, axis=0, keepdims=False, **_: reductions.total(x, axis, keepdims),
    (np.add, "reduceat"): reductions.segments,
    (np.maximum, "reduce"): lambda x, axis=0, keepdims=False, **_: largest(x, axis, keepdims),
}


def largest(x: Noisy, axis: Any = None, keepdims: bool = False) -> Noisy:
    """The maximum, as an exact number: it is only ever a shift that cancels (log-sum-exp), and so does its error."""
    return exact(np.max(x.v, axis=axis, keepdims=keepdims), x.worst is not None)


def smallest(x: Noisy, axis: Any = None, keepdims: bool = False) -> Noisy:
    """The minimum, as an exact number (see `largest`)."""
    return exact(np.min(x.v, axis=axis, keepdims=keepdims), x.worst is not None)


def _gathered(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that moves elements of one array about."""
    return lambda x, *args, **kwargs: x.map(lambda part: function(part, *args, **kwargs))


def _joined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that joins a sequence of arrays."""

    def join(arrays: Sequence[Any], *args: Any, **kwargs: Any) -> Noisy:
        parts = [lift(a) for a in arrays]
        worsts = [p.worst for p in parts]
        worst = None if any(w is None for w in worsts) else function(worsts, *args, **kwargs)
        fields = ([getattr(p, field) for p in parts] for field in ("v", "variance", "shared"))
        v, variance, shared = (function(field, *args, **kwargs) for field in fields)
        rest = {name: _joined_where_any(function, parts, name, args, kwargs) for name in ("terms", "lean", "spared")}
        whole = Noisy(v, variance, shared, worst, **rest)
        made_of = factors.joined([p.factors for p in parts], lambda arrays: function(arrays, *args, **kwargs))
        return whole.of_factors(made_of)

    return join


def _joined_where_any(function: Callable[..., Any], parts: Sequence[Noisy], field: str, args: Any, kwargs: Any) -> Any:
    """A field that not every number has, joined; zero where it is missing, None where all lack it."""
    held = [getattr(part, field) for part in parts]
    if all(one is None for one in held):
        return None
    filled = [np.zeros_like(part.v) if one is None else one for part, one in zip(parts, held, strict=True)]
    return function(filled, *args, **kwargs)


def _valued(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose answer is plain and depends on values alone: orders, positions, shapes."""
    return lambda x, *args, **kwargs: function(x.v, *args, **kwargs)


def _filled(value: float) -> Callable[..., Noisy]:
    return lambda x, *_, **__: exact(np.full(x.shape, value), x.worst is not None)


_MOVES = (
    np.reshape,
    np.ravel,
    np.transpose,
    np.swapaxes,
    np.moveaxis,
    np.squeeze,
    np.expand_dims,
    np.broadcast_to,
    np.repeat,
    np.resize,
    np.delete,
    np.tile,
    np.take,
    np.take_along_axis,
    np.flip,
    np.roll,
    np.triu,
    np.tril,
    np.atleast_1d,
    np.atleast_2d,
)

FUNCTIONS |= {special.erf: arithmetic.erf, special.erfc: arithmetic.erfc}
FUNCTIONS |= {
    np.sum: reductions.total,
    np.mean: reductions.mean,
    np.max: largest,
    np.amax: largest,
    np.min: smallest,
    np.amin: smallest,
    np.cumsum: reductions.cumulative,
    np.where: arithmetic.where,
    np.clip: lambda x, low, high: arithmetic.minimum(arithmetic.maximum(x, low), high),
    np.concatenate: _joined(np.concatenate),
    np.stack: _joined(np.stack),
    np.copy: lambda x, **options: x.map(lambda part: np.copy(part, **options)).in_memory(),
    np.split: lambda x, *args, **kwargs: _split(x, *args, **kwargs),
    np.zeros_like: _filled(0.0),
    np.ones_like: _filled(1.0),
    np.full_like: lambda x, value, **_: _filled(value)(x),
    **{move: _gathered(move) for move in _MOVES},
    **{
        ask: _valued(ask)
        for ask in (np.argsort, np.argmax, np.argmin, np.shape, np.ndim, np.size, np.any, np.all, np.isneginf)
    },
}


def _split(x: Noisy, *args: Any, **kwargs: Any) -> list[Noisy]:
    pieces = [np.split(part, *args, **kwargs) for part in (x.v, x.variance, x.shared)]
    worsts, leans = (
        [None] * len(pieces[0]) if part is None else np.split(part, *args, **kwargs) for part in (x.worst, x.lean)
    )
    return [Noisy(*parts, lean=lean) for *parts, lean in zip(*pieces, worsts, leans, strict=True)]
