"""The bits of a matrix product whose order over k is declared: sums formed as the unit forms them, to the last bit."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations
from reference import cpu_matrix_unit, tensor_core

from .contract import NEAREST, Declaration
from .k_order import ALPHA_FUSED, BETA_FUSED, KOrder
from .noise import FLOAT32, FORMATS, Precision
from .noise.cutting import architecture_of
from .products import PRODUCTS, Product, operands

Array = NDArray[Any]
Dot = Callable[[Array, Array, Array], Array]  # c + sum(a * b) over the last axis, as a unit forms it
Places = Callable[[int], Array]  # of so many instructions: which comes when
_AT_ONCE = 1 << 21  # terms of sums, in the judge's memory
_CHECKED_WHOLE = (
    90  # sm_90's units agree with a device in any bits (docs/tensor_cores.md), others in normal numbers alone
)


@dataclass(frozen=True)
class Rearranged:
    """An order that no contract declares, of which a library's bits may be all the same.

    places: which instruction comes when.  halves: whether the first and the second half of k are summed apart, and then
    added.  exchanged: whether the halves of every instruction are.  begins: whether sums begin at beta * C.  backwards:
    whether the parts of k are added from the last.
    """

    places: Places = np.arange
    halves: bool = False
    exchanged: bool = False
    begins: bool = False
    backwards: bool = False


DECLARED = Rearranged()


def bits_due(
    operation: str, arguments: Mapping[str, Any], declared: Declaration, other: Rearranged = DECLARED
) -> dict[str, tuple[Array, Array]]:
    """Return by output what the declared order gives, as float32 holds what is stored, and where that is known.

    Nothing is known where a number is not finite; nor of a tensor core but sm_90's where a factor is subnormal, or
    a product so small that its digits may be (no device was asked); nor of a call in which a sum may be so small that a
    processor's unit takes it for zero, since a library that keeps subnormal numbers does not use the unit there.
    """
    assert declared.k_order is not None
    order, dot = declared.k_order, _dot(operation, declared)
    sizes, function = operations.sizes(operation, arguments), operations.OPERATIONS[operation]
    due: dict[str, tuple[Array, Array]] = {}
    products = [_rounded(product, operation, declared) for product in PRODUCTS[operation](arguments)]
    for product in products:
        parameter = function.by_name[product.output]
        if product.output not in due:
            shape = tuple(axis.size(operations.signature(function).sizes(arguments)) for axis in parameter.shape)
            due[product.output] = np.zeros(shape, np.float32), np.zeros(shape, bool)
        values, known = due[product.output]
        k = product.a.shape[1]
        part = _half(k, order.instruction) if other.halves else order.part(sizes, k)
        before = _before(arguments, product.at)
        begin = np.float32(arguments.get("beta", 0.0)) * before if other.begins and before is not None else None
        sums = _sums(_arranged(product, order.instruction, other), order, part, dot, begin, other.backwards)
        scaled = _scaled(sums, None if other.begins else before, arguments, order)
        values[product.at] = operations.widened(scaled.astype(parameter.type.dtype))
        known[product.at] = np.isfinite(values[product.at]) & _is_known(product, operation, declared)
    if declared.flushes_products and not all(_stays_normal(product) for product in products):
        return {name: (values, np.zeros_like(known)) for name, (values, known) in due.items()}
    return due


def _before(arguments: Mapping[str, Any], at: Any) -> Array | None:
    """What an output held, None where it is not read."""
    C = arguments.get("C")
    return None if C is None or arguments["beta"] == 0 else C[at]


def _half(k: int, step: int) -> int:
    """The first half of k, by whole instructions."""
    return max(1, -(-k // (2 * step)) * step)


def _arranged(product: Product, step: int, other: Rearranged) -> Product:
    """The product with its instructions in another order."""
    if other == DECLARED:
        return product
    count = -(-product.a.shape[1] // step)

    def moved(x: Array) -> Array:
        whole = _deep(x, count * step).reshape(len(x), count, 2, step // 2)[:, other.places(count)]
        return np.ascontiguousarray(whole[:, :, ::-1] if other.exchanged else whole).reshape(len(x), count * step)

    return Product(product.output, product.at, moved(product.a), moved(product.b))


def _multiplied(operation: str, declared: Declaration) -> str:
    """The format of the factors that the unit multiplies."""
    return operands(operation) if declared.inputs == FLOAT32.name else declared.inputs


def _rounded(product: Product, operation: str, declared: Declaration) -> Product:
    """The product of factors as they are rounded to the declared inputs."""
    if declared.inputs in (FLOAT32.name, operands(operation)):
        return product
    format, nearest = FORMATS[declared.inputs], declared.input_rounding == NEAREST
    a, b = (_shortened(x, format, nearest) for x in (product.a, product.b))
    return Product(product.output, product.at, a, b)


def _shortened(x: Array, format: Precision, nearest: bool) -> Array:
    exponent = np.frexp(np.where(np.isfinite(x), np.maximum(np.abs(x), format.smallest), 1.0))[1]
    digits = format.bits + 1 - exponent
    with np.errstate(all="ignore"):
        steps = np.ldexp(x.astype(np.float64), digits)
        value = np.ldexp(np.rint(steps) if nearest else np.trunc(steps), -digits)
        beyond = np.abs(value) > format.largest
        return np.asarray(np.where(beyond, np.copysign(np.inf if nearest else format.largest, x), value), np.float32)


def _dot(operation: str, declared: Declaration) -> Dot:
    if declared.accumulator in cpu_matrix_unit.UNITS:
        return cpu_matrix_unit.UNITS[declared.accumulator]
    format = _multiplied(operation, declared)
    unit = tensor_core.matrix_unit(architecture_of(declared.accumulator), format)
    return functools.partial(tensor_core.dot, operands=format, unit=unit)


def _sums(product: Product, order: KOrder, part: int, dot: Dot, begin: Array | None, backwards: bool) -> Array:
    """The sums of all parts, added in their order or backwards; begin: what the first of them is added to."""
    total = np.zeros((len(product.a), len(product.b)), np.float32)
    begin = total.copy() if begin is None else begin
    few = max(1, _AT_ONCE // max(1, len(product.b) * order.instruction))
    for row in range(0, len(total), few):
        rows = slice(row, row + few)
        parts = range(0, product.a.shape[1], part)
        for first in reversed(parts) if backwards else parts:
            k = slice(first, first + part)
            from_zero = np.zeros_like(begin[rows])
            total[rows] += _part(product.a[rows, k], product.b[:, k], order, dot, from_zero if first else begin[rows])
    return total


def _part(a: Array, b: Array, order: KOrder, dot: Dot, begin: Array) -> Array:
    """The sum of a part of k: by instructions, each promotion from zero; begin: what the first is added to."""
    step, k = order.instruction, a.shape[1]
    interval = order.promotion_interval or max(k, 1)
    total = begin
    for start in range(0, k, interval):
        sums = np.zeros_like(begin) if order.promotion_interval else total
        for at in range(start, min(start + interval, k), step):
            sums = dot(_deep(a[:, None, at : at + step], step), _deep(b[None, :, at : at + step], step), sums)
        total = total + sums if order.promotion_interval else sums
    return total


def _deep(x: Array, depth: int) -> Array:
    """Zeros behind the last k."""
    return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, depth - x.shape[-1])]) if x.shape[-1] < depth else x


def _scaled(sums: Array, C: Array | None, arguments: Mapping[str, Any], order: KOrder) -> Array:
    alpha, beta = np.float32(arguments.get("alpha", 1.0)), np.float32(arguments.get("beta", 0.0))
    with np.errstate(all="ignore"):
        if beta == 0 or C is None:
            return np.asarray(alpha * sums)
        if order.epilogue == ALPHA_FUSED:
            return fused(alpha, sums, beta * C)
        if order.epilogue == BETA_FUSED:
            return fused(beta, C, alpha * sums)
        return np.asarray(alpha * sums + beta * C)


def fused(a: Any, b: Array, c: Array) -> Array:
    """a * b + c of float32, rounded once.

    The product is exact in float64.  Their sum is rounded there to odd, which a second rounding to fewer digits cannot
    tell from the exact sum (Boldo and Melquiond 2008, "Emulation of a FMA and correctly rounded sums").
    """
    product, c = np.asarray(np.float64(a) * b.astype(np.float64)), c.astype(np.float64)
    total = np.asarray(product + c)
    of_c = total - product
    error = (product - (total - of_c)) + (c - of_c)
    is_even = total.view(np.int64) % 2 == 0
    toward = np.where(error > 0, np.inf, -np.inf)
    return np.where((error != 0) & is_even & np.isfinite(total), np.nextafter(total, toward), total).astype(np.float32)


def _is_known(product: Product, operation: str, declared: Declaration) -> Array:
    """Where a tensor core was held to a device: everywhere on sm_90, elsewhere among normal numbers."""
    if declared.flushes_products or architecture_of(declared.accumulator) == _CHECKED_WHOLE:
        return np.ones((len(product.a), len(product.b)), bool)
    format = _multiplied(operation, declared)
    unit = tensor_core.matrix_unit(architecture_of(declared.accumulator), format)
    least_a, least_b = _least(product.a)[:, None], _least(product.b)[None]
    # A term is cut to digits no smaller than 2^-F of the least product: then none is subnormal in float32.
    are_large = least_a * least_b >= 2.0 ** (unit.fraction - 126)
    return np.asarray(are_large & (np.minimum(least_a, least_b) >= FORMATS[format].smallest))


def _least(factor: Array) -> Array:
    """The least magnitude of each line, zeros apart."""
    sizes = np.where(factor == 0, np.inf, np.abs(factor.astype(np.float64)))
    return np.asarray(sizes.min(axis=1, initial=np.inf))


def _stays_normal(product: Product) -> bool:
    """Whether no sum can be subnormal: by bfloat16's least exponents a and b it is a multiple of 2^(a + b - 14)."""
    least = [float(_least(x).min(initial=np.inf)) for x in (product.a, product.b)]
    if not np.isfinite(least).all():
        return True
    a, b = (int(np.frexp(x)[1]) - 1 for x in least)
    return min(a, b) >= -126 and a + b - 14 >= -126
