"""The noise number: value, variance and worst case, carried through NumPy's own functions.

First-order propagation: f(x, y) has variance f_x^2 var(x) + f_y^2 var(y) + that of its own rounding, and worst case
|f_x| worst(x) + |f_y| worst(y) + the reach of its own rounding.  Arguments are taken as independent, except for a
number multiplied by itself.

What several elements have in common (a row's norm, one clipping factor) errs in all of them at once, so that averages
over elements do not even it out.  `shared` keeps count: each part of the variance divided by the number of independent
errors behind it.  It only ever widens what chance may do to an average (see verdict.py).

A sum knows how many `terms` it has, until something else is done with it: what is added to it may have been the first
of its terms (a product added to what its result holds), and then is in every partial sum.  A sum that is exact in any
order has no roundings of its own; what it is `spared`, the size of its partial sums, counts then after all.

A product knows its `factors`, which may be multiplied in any order, until something else is done with it (factors.py);
a sum of two or three its `addends`, likewise; and what a row was computed from a number of its own knows the error that
all of the row have `in_common`, until it is moved or summed (common.py).  A sum over rows of numbers that are not
negative knows what it is the `sum_of`: their shares of it lie between 0 and 1, however much they err.

Where the arithmetic stores what one step of a formula hands to the next in a short format, each result of a step is
rounded to it once more (`between_steps`).

Sums that are rounded toward zero are off in one direction: what they may `lean` by, and hand on to what is computed
from them, is carried apart, since it neither evens out nor adds up in squares (None where nothing leans).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .factors import Factors, alone
from .precision import ARRANGEMENTS, Floats, Precision, current, roundings

# What NumPy's functions, ufuncs and methods of ufuncs do with noise numbers; functions.py, which builds on this file,
# fills them.
FUNCTIONS: dict[Any, Callable[..., Any]] = {}
UFUNCS: dict[Any, Callable[..., Any]] = {}
METHODS: dict[tuple[Any, str], Callable[..., Any]] = {}
REACH = 8.0  # standard deviations within which an error lies; the verdict's limit
LAST_BIT = 1.5  # numbers of one size lose one bit in their sum: it errs by 0 or all of u, with variance u^2 / 2
FIELDS = ("v", "variance", "shared", "worst", "terms", "lean", "spared")  # of a noise number


class Scalable(NamedTuple):
    """What a matrix product has for a number that is multiplied into its factors first (scaled.py)."""

    in_common: Floats  # variance that all of a column, or of a row, have in common
    variance: Floats  # of products and sums that came out exact; 0 elsewhere
    reach: Floats  # the largest error of these
    sizes: Floats  # of all products together
    grain: float  # of which every product is a whole multiple; 0 where none is


class Noisy(NDArrayOperatorsMixin):
    """An array of values; for each the variance of its error, how much of it is shared, and a bound unless None."""

    __slots__ = (*FIELDS, "made_of", "addends", "in_common", "sum_of", "scalable", "is_number", "_looked_at", "_errs")
    __array_priority__ = 100

    def __init__(
        self, v: Any, variance: Any, shared: Any, worst: Any, *, terms: Any = None, lean: Any = None, spared: Any = None
    ) -> None:
        self.v: Floats = v
        self.variance: Floats = variance
        self.shared: Floats = shared
        self.worst: Floats | None = worst
        self.terms: Floats | None = terms
        self.lean: Floats | None = lean
        self.spared: Floats | None = spared
        self.made_of: Factors | None = None
        self.addends: tuple[Floats, ...] = ()
        self.in_common: tuple[Floats, ...] = ()
        self.sum_of: Noisy | None = None
        self.scalable: Scalable | None = None
        self.is_number = False  # of two inputs, as 1 - beta2 is: nobody multiplies that out
        self._looked_at: Floats | None = None  # the variance of which `errs` holds
        self._errs = False

    # ---- what an array offers -------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        return self.v.shape

    @property
    def ndim(self) -> int:
        return self.v.ndim

    @property
    def size(self) -> int:
        return self.v.size

    @property
    def dtype(self) -> np.dtype[np.float64]:
        return self.v.dtype

    @property
    def errs(self) -> bool:
        """Whether any element has an error; looked up once for each array of variances."""
        if self._looked_at is not self.variance:
            self._looked_at, self._errs = self.variance, bool(np.logical_or.reduce(self.variance, axis=None))
        return self._errs

    @property
    def sigma(self) -> Floats:
        """Standard deviation of each element's error."""
        return np.asarray(np.sqrt(self.variance))

    @property
    def reach(self) -> Floats:
        """How far off the verdict lets each element be, but for its terms of second order."""
        likely = REACH * self.sigma if self.lean is None else REACH * self.sigma + self.lean
        return likely if self.worst is None else np.minimum(likely, ARRANGEMENTS * self.worst)

    @property
    def factors(self) -> Factors:
        """What each element has been multiplied of: itself, where nothing else is known."""
        if self.made_of is None:
            self.made_of = alone(self.v)
        return self.made_of

    def __len__(self) -> int:
        return len(self.v)

    def __bool__(self) -> bool:
        return bool(self.v)

    def __repr__(self) -> str:
        return f"Noisy({self.v!r}, sigma={self.sigma!r})"

    def map(self, move: Callable[[Floats], Any]) -> Noisy:
        """Apply a function that only moves elements to values and errors alike."""
        held: dict[int, Any] = {id(None): None}  # exact numbers have the same zeros for all of their errors
        for part in (parts := [getattr(self, name) for name in FIELDS]):
            if id(part) not in held:
                held[id(part)] = move(part)
        moved = Noisy(**{name: held[id(part)] for name, part in zip(FIELDS, parts, strict=True)})
        return moved if self.made_of is None else moved.of_factors(self.made_of.moved(move))

    def of_factors(self, factors: Factors | None) -> Noisy:
        """Note what these numbers are multiplied of (None: they are no products); returns them."""
        self.made_of = factors
        return self

    def in_memory(self) -> Noisy:
        """Forget how these numbers were made: what is stored is rounded, and joined in no other order; returns them."""
        self.made_of, self.addends, self.in_common, self.sum_of, self.scalable = None, (), (), None, None
        return self

    def as_read(self) -> Noisy:
        """These numbers as the next operation reads them.

        What they may lean by counts as one more error from here on: through many operations leans point in all
        directions.  Returns them.
        """
        if self.lean is not None:
            self.variance, self.shared = self.variance + self.lean**2, self.shared + self.lean**2
            self.lean = None
        return self.in_memory()

    def replaced(self, **fields: Any) -> Noisy:
        """The same numbers with some fields replaced, by name."""
        return Noisy(**({name: getattr(self, name) for name in FIELDS} | fields))

    def __getitem__(self, index: Any) -> Noisy:
        return self.map(lambda part: part[index])

    def reshape(self, *shape: Any) -> Noisy:
        return self.map(lambda part: part.reshape(*shape))

    def ravel(self) -> Noisy:
        return self.map(np.ravel)

    def transpose(self, *axes: Any) -> Noisy:
        return self.map(lambda part: part.transpose(*axes))

    def swapaxes(self, a: int, b: int) -> Noisy:
        return self.map(lambda part: part.swapaxes(a, b))

    def squeeze(self, axis: Any = None) -> Noisy:
        return self.map(lambda part: part.squeeze(axis))

    @property
    def T(self) -> Noisy:  # noqa: N802
        return self.transpose()

    def sum(self, axis: Any = None, keepdims: bool = False) -> Noisy:
        total: Noisy = np.sum(self, axis=axis, keepdims=keepdims)
        return total

    def mean(self, axis: Any = None, keepdims: bool = False) -> Noisy:
        mean: Noisy = np.mean(self, axis=axis, keepdims=keepdims)
        return mean

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        """NumPy asks for this where a function knows nothing of noise numbers: say so rather than lose the noise."""
        raise TypeError("a noise number reached a NumPy function that does not carry noise; see noise/functions.py")

    # ---- how NumPy reaches it -------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and not options and ufunc in UFUNCS:
            return UFUNCS[ufunc](*inputs)
        if (ufunc, method) in METHODS:
            return METHODS[ufunc, method](*inputs, **options)
        return NotImplemented

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in FUNCTIONS:
            return FUNCTIONS[function](*args, **kwargs)
        return NotImplemented


def exact(value: Any, worst: bool = True) -> Noisy:
    """Return numbers without error; worst says whether a bound is carried beside the variance."""
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        v = np.asarray(value, np.float64)
    zeros = np.zeros_like(v)
    result = Noisy(v, zeros, zeros, zeros if worst else None)
    result._looked_at = zeros
    return result


def lift(value: Any) -> Noisy:
    """Take a plain number or array as an exact one."""
    return value if isinstance(value, Noisy) else exact(value)


def weighted(slope: Floats, error: Floats) -> Floats:
    """Slope times error, where an exact operand (error 0) adds nothing even at an infinite slope."""
    with np.errstate(invalid="ignore"):
        return _weighted(slope, error)


def _weighted(slope: Floats, error: Floats) -> Floats:
    if isinstance(slope, float) and slope == 1.0:  # of sums
        return error
    return np.where(error == 0, 0.0, slope * error)


def propagate(v: Any, *terms: tuple[Noisy, Any]) -> Noisy:
    """Return the values v with the errors that come from each (argument, slope), to first order.

    Most arguments are exact: nothing is computed for errors that are zero everywhere.
    """
    value = np.asarray(v)
    variance = shared = np.zeros_like(value)
    worst: Floats | None = variance
    lean: Floats | None = None
    with np.errstate(invalid="ignore"):
        for x, slope in terms:
            if x.errs or (x.shared is not x.variance and x.shared.any()):
                steep = np.square(slope)
                variance = variance + _weighted(steep, x.variance)
                common = x.shared if x.size == value.size else np.maximum(x.shared, x.variance / x.size)
                shared = shared + _weighted(steep, common)
            if worst is None or x.worst is None:
                worst = None
            elif x.errs if x.worst is x.variance else x.worst.any():
                worst = worst + _weighted(np.abs(slope), x.worst)
            if x.lean is not None:
                lean = together(lean, _weighted(np.abs(slope), x.lean) + np.zeros_like(value))
    return Noisy(value, variance, shared, worst, lean=lean)


def together(a: Floats | None, b: Floats | None) -> Floats | None:
    """The sum of two leans."""
    return b if a is None else a if b is None else a + b


def rounded(
    x: Noisy,
    times: float = 1,
    free: Any = False,
    spread: float = 1,
    below: tuple[Floats, Floats, bool] | None = None,
    spared: Any = 0,
) -> Noisy:
    """Add the roundings of a result: `times` of them, none where it is `free` or exact and representable as it is.

    What may be computed in several steps (times > 1) need not come out exact because the result could be stored so.
    spread is the variance of one of them, in that of a rounding whose error can be anything up to u.
    spared: roundings of partial products that came out exact; another order of their factors makes them, unless the
    whole product can be stored as it is: then so can every part of it, which has no more digits.
    below: what another order of its factors can lose at the ends of the range (extremes.py).
    """
    precision, reach = current(), current().reach(x.v)
    if free is not False:
        free = free & ((x.v == 0) | (np.abs(x.v) >= precision.smallest))
    exact_ones = x.variance == 0
    if np.logical_or.reduce(exact_ones, axis=None):  # else it does not matter which could be stored as they are
        free = free | exact_ones & (precision.holds(x.v) if times == 1 else x.v == 0)
    count = times + spared
    own, most = count * spread * (reach * reach / 3), count * reach
    if free is not False and np.any(free):
        own, most = np.where(free, 0.0, own), np.where(free, 0.0, most)
    shared = x.shared + own if is_constant(x.v) else x.shared  # equal numbers are rounded alike
    if below is not None:
        own, most = np.maximum(own, below[0]), np.maximum(most, below[1])
        shared = shared + below[0] if below[2] else shared
    worst = None if x.worst is None else x.worst + most
    return between_steps(settled(x.v, x.variance + own, shared, worst, x.lean), 1 + spared)


def between_steps(x: Noisy, times: Any = 1, of_array: bool = False) -> Noisy:
    """The result of a step as the arithmetic stores it before the next step reads it.

    times: how many partial results an order may store where this one stores `x` alone.  of_array: whether it was
    computed of arrays although it is a single number; what is computed of numbers alone is stored nowhere.
    """
    format = roundings().intermediate
    return _stored(x, format, times) if format and (x.ndim or of_array) else x


def _stored(x: Noisy, format: Precision, times: Any) -> Noisy:
    """Numbers rounded once; of those that may pass the format's largest one nothing is known.

    They come of numbers as short, so that one bit may be all that is lost.
    """
    free = (x.variance == 0) & format.holds(x.v)
    reach = np.where(free, 0.0, format.reach(x.v))
    own = times * LAST_BIT * (reach * reach / 3)
    worst = None if x.worst is None else x.worst + times * reach
    shared = x.shared + own if is_constant(x.v) else x.shared
    result = Noisy(x.v, x.variance + own, shared, worst, lean=x.lean)
    with np.errstate(invalid="ignore"):
        may_overflow = np.isfinite(x.v) & (np.abs(x.v) + result.reach > format.largest)
    return given_up(result, may_overflow)


def is_constant(v: Floats) -> bool:
    """Whether several elements are all the same number."""
    if v.size < 2:
        return False
    first = v.item(0)
    return first == v.item(-1) and bool(np.logical_and.reduce(v == first, axis=None))


def flushed(x: Noisy) -> Noisy:
    """The same numbers, those below the smallest normal one perhaps taken as zero, where the arithmetic does that."""
    if not roundings().flushes:
        return x
    lost = np.where(np.abs(x.v) < current().smallest, np.abs(x.v), 0.0)
    if not np.any(lost):
        return x
    return x.replaced(variance=x.variance + lost**2, worst=None if x.worst is None else x.worst + lost)


def given_up(x: Noisy, unknown: Any) -> Noisy:
    """The same numbers, those of which nothing is known as finite ones of infinite variance: what is computed from them
    is not known either."""
    if not np.any(unknown):
        return x
    v = np.where(unknown, np.copysign(np.minimum(np.abs(x.v), current().largest), x.v), x.v)
    v, variance = np.where(unknown & np.isnan(v), 0.0, v), np.where(unknown, np.inf, x.variance)
    return x.replaced(v=v, variance=variance).of_factors(x.made_of)


def settled(v: Floats, variance: Floats, shared: Floats, worst: Floats | None, lean: Floats | None = None) -> Noisy:
    """Clear the errors of values that are not finite, and give up those of values past the format's range.

    Where a value passes the largest number of the format an honest result may be infinite, so nothing is known.
    """
    if not np.logical_and.reduce(np.abs(v) <= current().largest, axis=None):
        finite = np.isfinite(v)
        unknown = np.where(finite & (np.abs(v) > current().largest), np.inf, 0.0)
        variance = np.where(finite, variance, 0.0) + unknown
        shared = np.where(finite, shared, 0.0)
        worst = None if worst is None else np.where(finite, worst, 0.0) + unknown
        lean = None if lean is None else np.where(finite, lean, 0.0)
    return flushed(Noisy(v, variance, shared, worst, lean=lean))


def doubted(result: Noisy, unknown: Callable[[], Any]) -> Noisy:
    """A result, given up where it is infinite and of one of its parts nothing is known: with the other infinity, or
    with zero, it may be no number."""
    if not np.logical_or.reduce(infinite := np.isinf(result.v), axis=None):
        return result
    return given_up(result, infinite & unknown())
