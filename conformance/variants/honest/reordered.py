"""Honest implementations that evaluate the reference's formulas in an order drawn at random.

A `Reordered` array is a float32 array that remembers what it is a product or a sum of.  What is multiplied or added to
it next gives a longer expression, which is evaluated anew, in an order of its own (expressions.py); so the whole
reference runs on it.  Sums over axes and matrix products take their terms in a random order, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .expressions import Floats, MatrixProduct, Orders, Product, Sum
from .replicas import ORDERS, Replica, plain, product, reduced

MAY_FLUSH = (np.exp, np.log, np.power, np.exp2)


class Reordered(Replica):
    """made_of: the product or sum that it is, where it is one; given: it is, or is a part of, an input."""

    orders: Orders  # of the class
    made_of: Product | Sum | None
    given: bool

    def __array_finalize__(self, source: Any) -> None:
        self.made_of = None
        self.given = bool(getattr(source, "given", False))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc is np.add and method == "reduce" and "out" not in options:
            return self._reduced(inputs[0], **options)
        if method != "__call__" or options.get("out") or not all(map(_is_float, inputs)):
            return super().__array_ufunc__(ufunc, method, *inputs, **options)
        if ufunc in _EXPRESSIONS:
            return self._evaluated(_EXPRESSIONS[ufunc](*inputs))
        if ufunc is np.matmul:
            return self._multiplied(*inputs)
        result = super().__array_ufunc__(ufunc, method, *inputs, **options)
        return self._wrap(self.orders.stored(plain(result))) if ufunc in MAY_FLUSH else result

    def _evaluated(self, made_of: Product | Sum) -> Any:
        value = self.orders.total(made_of) if isinstance(made_of, Sum) else self.orders.value(made_of)
        return self._of(value, made_of)

    def _of(self, value: Any, made_of: Product | Sum) -> Any:
        result = self._wrap(value)
        result.made_of = made_of
        return result

    def _multiplied(self, a: Any, b: Any) -> Any:
        left, right = plain(a), plain(b)
        if self.orders.toss():
            total = self._order()
            multiply: Callable[[Floats, Floats], Floats] = lambda x, y: product(x, y, total)  # noqa: E731
        else:
            multiply = np.matmul
        value = multiply(left, right)
        return self._of(value, Product((MatrixProduct(left, right, value, multiply),)))

    def _order(self) -> Callable[[Floats], Floats]:
        """A named order of terms, which stand in any order first."""
        name, source = self.orders.pick(list(ORDERS)), self.orders
        return lambda terms: ORDERS[name](terms[..., source.shuffled(terms.shape[-1])])

    def _reduced(self, terms: Any, axis: Any = 0, keepdims: bool = False, **_: Any) -> Any:
        """What all terms have in common may be multiplied by after they are added up."""
        whole, axes = terms.made_of, range(terms.ndim) if axis is None else np.atleast_1d(axis) % terms.ndim
        outer: list[Any] = []
        if isinstance(whole, Product) and self.orders.toss():
            shared = [f for f in whole.factors if isinstance(f, np.ndarray) and _is_constant(f, terms, axes)]
            outer = shared[: len(whole.factors) - 1]
        rest = [f for f in whole.factors if not any(f is one for one in outer)] if outer else []
        inner = self.orders.value(Product(tuple(rest), whole.divisors)) if outer else plain(terms)
        total = reduced(np.broadcast_to(inner, terms.shape), self._order(), axis, keepdims)
        parts = [np.broadcast_to(f, _padded(f, terms)).reshape(_reduced_shape(f, terms, axes, keepdims)) for f in outer]
        return self._evaluated(Product((total, *parts)))


def _padded(factor: Floats, terms: Any) -> tuple[int, ...]:
    """The factor's shape with as many axes as the terms."""
    return (*[1] * (terms.ndim - factor.ndim), *factor.shape)


def _is_constant(factor: Floats, terms: Any, axes: Any) -> bool:
    return all(_padded(factor, terms)[axis] == 1 for axis in axes)


def _reduced_shape(factor: Floats, terms: Any, axes: Any, keepdims: bool) -> tuple[int, ...]:
    return tuple(n for axis, n in enumerate(_padded(factor, terms)) if keepdims or axis not in axes)


def _is_float(value: Any) -> bool:
    """Float32, or a number that does not widen it."""
    return type(value) in (float, int) or getattr(value, "dtype", None) == np.float32


def _product(value: Any) -> Product:
    made_of = getattr(value, "made_of", None)
    if made_of is None:
        return Product((np.asarray(plain(value), np.float32),))
    return made_of if isinstance(made_of, Product) else Product((made_of,))


def _terms(value: Any) -> Sum:
    made_of = getattr(value, "made_of", None)
    if isinstance(made_of, Sum):
        return made_of
    exact = made_of is None and getattr(value, "given", True)  # plain arrays and numbers are
    return Sum((_product(value),), int(exact))


def _negative(value: Sum) -> Sum:
    minus = Product((np.asarray(-1, np.float32),))
    return Sum(tuple(minus.times(term) for term in value.terms), value.exact)


def _added(a: Sum, b: Sum) -> Sum:
    return Sum(a.terms + b.terms, a.exact + b.exact)


def _quotient(a: Any, b: Any) -> Product:
    return _product(a).times(Product((), (np.asarray(plain(b), np.float32),)))


_EXPRESSIONS: dict[np.ufunc, Callable[..., Product | Sum]] = {
    np.multiply: lambda a, b: _product(a).times(_product(b)),
    np.true_divide: _quotient,
    np.add: lambda a, b: _added(_terms(a), _terms(b)),
    np.subtract: lambda a, b: _added(_terms(a), _negative(_terms(b))),
}


def reordered(seed: int, flushes_all: bool = False) -> Callable[[Any], Any]:
    """Return what makes the inputs of one implementation: the same seed, the same orders.

    flushes_all: every subnormal result is taken as zero, as a contract may declare.
    """
    kind = type("_Reordered", (Reordered,), {"orders": Orders(seed, flushes_all)})

    def given(array: Any) -> Any:
        view = array.view(kind)
        view.given = True
        return view

    return given
