"""Numbers of forty digits and nested lists of them: what the oracles compute with, one number at a time.

At forty digits an oracle's own rounding is nowhere to be seen beside that of the float64 results it confirms.  Nothing
here or in the oracles comes from the reference, nor from NumPy: NaN and infinities follow the decimal standard.
"""

from __future__ import annotations

import decimal
import itertools
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from decimal import Decimal
from typing import Any

DIGITS = 40
PI = Decimal("3.1415926535897932384626433832795028841971693993751058209749")

Number = Decimal
Vector = Sequence[Number]
Matrix = Sequence[Vector]
Nested = Any  # a number, or a list of what has one axis less


def precise() -> AbstractContextManager[decimal.Context]:
    """Compute with forty digits and any exponent; what has no value is NaN or infinite rather than an error."""
    wide = decimal.Context(prec=DIGITS, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=[])
    return decimal.localcontext(wide)


def tensor(shape: Sequence[int], value: Callable[..., Any]) -> Nested:
    """Return nested lists whose entries are value(*index)."""
    if not shape:
        return value()
    return [tensor(shape[1:], lambda *rest, i=i: value(i, *rest)) for i in range(shape[0])]


def shape(nested: Nested) -> tuple[int, ...]:
    """Return the lengths of nested lists, outermost first."""
    return (len(nested), *shape(nested[0])) if isinstance(nested, list) else ()


def flat(nested: Nested) -> list[Any]:
    """Return the entries of nested lists in order."""
    return list(itertools.chain.from_iterable(map(flat, nested))) if isinstance(nested, list) else [nested]


def dot(a: Iterable[Number], b: Iterable[Number]) -> Number:
    """Return the sum of products."""
    return sum((x * y for x, y in zip(a, b, strict=True)), Decimal(0))


def exp(x: Number) -> Number:
    return x.exp()


def hyperbolic_tangent(x: Number) -> Number:
    """Return tanh(x): near 0 by the power series of the sine, since 1 - exp(-2 x) would lose digits there."""
    e = exp(-2 * abs(x))
    if not abs(x) < 1:
        return ((1 - e) / (1 + e)).copy_sign(x)
    sine = term = x
    n = 1
    while abs(term) > abs(sine) * Decimal(10) ** -DIGITS:
        n += 2
        term = term * x * x / (n * (n - 1))
        sine += term
    return 2 * sine / (exp(x) + exp(-x))


def erf(x: Number) -> Number:
    """Return 2 x / sqrt(pi) exp(-x^2) sum of (2 x^2)^n / (1 * 3 * ... (2 n + 1)), whose terms have one sign.

    From 9.5 on it is 1 to forty digits.
    """
    if not abs(x) < Decimal("9.5"):
        return x if x.is_nan() else Decimal(1).copy_sign(x)
    total = term = Decimal(1)
    n = 1
    while term > total * Decimal(10) ** -DIGITS:
        n += 2
        term = term * 2 * x * x / n
        total += term
    return 2 * x / PI.sqrt() * exp(-x * x) * total


def largest(values: Vector) -> Number:
    """Return the maximum; a NaN counts as the largest."""
    return values[descending(values)[0]]


def descending(values: Vector) -> list[int]:
    """Return the places of the values in descending order: NaN first, equal ones by place."""
    return sorted(range(len(values)), key=lambda i: (0, Decimal(0), i) if values[i].is_nan() else (1, -values[i], i))


def cosine_sine(angle: Number) -> tuple[Number, Number]:
    """Return (cos, sin) by their power series, the whole turns taken off first."""
    if not angle.is_finite():
        return Decimal("NaN"), Decimal("NaN")
    x = angle - 2 * PI * (angle / (2 * PI)).to_integral_value()
    sums, term, n = [Decimal(0), Decimal(0)], Decimal(1), 0
    while abs(term) > Decimal(10) ** -DIGITS or n < 2:
        sums[n % 2] += term if n % 4 < 2 else -term
        n += 1
        term = term * x / n
    return sums[0], sums[1]
