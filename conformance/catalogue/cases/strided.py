"""Cases, facts and designs of the operations on strided tensors; a row is read by strided_calls.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts
from conformance.catalogue.full_model import HIDDEN, TOKENS
from conformance.catalogue.layouts import LAYOUTS, WRITTEN
from conformance.operations import OPERATIONS, layout_arrays

from . import strided_rows as rows
from .data import Array, Draw
from .spec import Maker, Sizes, Spec
from .strided_calls import MAPS, REDUCTIONS, ZIPS, Derive, Row, map_call, matmul_call, reduce_call, sums_call, zip_call


def _near_one(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Numbers near 1, of both signs: a product of many is neither lost nor infinite."""
    signs = np.where(draw.of("sign").integers(0, 2, shape) == 1, -1.0, 1.0)
    return signs * np.exp(draw.normal(shape) * 0.0625)


def _halves(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Whole numbers and those midway between two."""
    return draw.integers(-9, 10, shape) / 2


def _close(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Numbers of which many are equal, and many nearly so."""
    return draw.integers(-2, 3, shape) + draw.of("near").integers(0, 2, shape) * 2.0**-9


def _positive(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    return np.exp(draw.normal(shape))


def _near_the_largest(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Positive numbers of the last eighth below the largest."""
    return float(np.finfo(np.float32).max) * (1 - draw.of("below").uniform(shape) / 8)


def _subnormal(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Positive numbers most of which are subnormal."""
    return np.exp2(-135.0 + 12.0 * draw.normal(shape).clip(-1, 1))


def _near_and_far(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Numbers near 0, and others near -38 and near 38."""
    far = 38.0 * draw.of("far").integers(-1, 2, shape)
    numbers: Array = far + draw.normal(shape).clip(-1.5, 1.5)
    return numbers


def _large_powers(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Powers of two from 2^30 to 2^60, whose squares are floats; their powers of 36 or -36 no double holds."""
    powers: Array = 2.0 ** draw.integers(30, 61, shape)
    return powers


_NUMBERS = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 2.0**-20, -(2.0**-20), 100.0, -100.0])
# Of a power those bases of which C and the header say the same: not below 0, and no 0 of another sign.
_BASES = np.array([np.nan, np.inf, 0.0, 1.0, 0.5, 2.0, 2.5, 0.9, 1.1, 2.0**-10, 2.0**10, 3.0, 7.0])
_EXPONENTS = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, 5.0])


def _each(numbers: Array) -> Maker:
    """Each number in turn."""
    return lambda draw, shape, sizes: np.resize(numbers, shape)


def _each_again(numbers: Array) -> Maker:
    """Each number as often as there are numbers, before the next."""
    return lambda draw, shape, sizes: np.resize(np.repeat(numbers, len(numbers)), shape)


_NOTHING = "there is no element, or no number to join"

SPECS = (
    Spec(
        "map_strided",
        {
            "plain": [*rows.LAID_OUT, *rows.EVERY_MAP, *rows.SHAPED],
            "range": rows.OF_WIDE,
            "special": rows.EVERY_MAP[: len(MAPS)],
        },
        derive=map_call,
    ),
    Spec(
        "map_strided", {"plain": rows.MOVES, "signed": rows.MOVES[3:6]}, derive=map_call, why="moved", signed_zeros=True
    ),
    Spec("map_strided", {"plain": rows.OF_POSITIVE}, {"input": _positive}, derive=map_call, why="of_positive"),
    Spec("map_strided", {"plain": rows.OF_LARGEST}, {"input": _near_the_largest}, derive=map_call, why="of_largest"),
    Spec("map_strided", {"subnormal": rows.OF_SUBNORMAL}, {"input": _subnormal}, derive=map_call, why="of_subnormal"),
    Spec("map_strided", {"exact": rows.HALVES}, {"input": _halves}, derive=map_call, why="of_halves"),
    Spec(
        "zip_strided",
        {"plain": [*rows.ZIPPED, *rows.EVERY_ZIP], "special": rows.OF_SPECIAL, "exact": rows.COMPARED},
        derive=zip_call,
    ),
    Spec("zip_strided", {"plain": rows.COMPARED[7:11]}, {"a": _close, "b": _close}, derive=zip_call, why="close"),
    Spec("zip_strided", {"plain": rows.OF_EACH}, {"a": _positive}, derive=zip_call, why="of_positive"),
    Spec("zip_strided", {"plain": rows.OF_ONE}, {"a": _positive}, derive=zip_call, why="with_one_number"),
    Spec("zip_strided", {"exact": rows.LIKE_ONE}, derive=zip_call, why="with_one_number"),
    *(
        Spec(
            "zip_strided",
            {"plain": [row for row in cases if (row["function"] == "power") == (b is _EXPONENTS)]},
            {"a": one(a), "b": _each(b)},
            derive=zip_call,
            why=why,
        )
        for a, b in ((_NUMBERS, _NUMBERS), (_BASES, _EXPONENTS))
        for cases, one, why in (
            (rows.CROSSED, _each, "every_number_with_every_other"),
            (rows.PAIRED, _each_again, "every_two_numbers"),
        )
    ),
    # What shifts the whole part of an exponent into a number's own shifts it past that number's end.
    Spec(
        "zip_strided",
        {"plain": rows.FAR},
        {"a": _large_powers, "b": _near_and_far},
        derive=zip_call,
        why="of_far_powers",
    ),
    Spec(
        "reduce_strided",
        {
            "plain": rows.REDUCED,
            "exact": rows.REDUCED[:8],
            "cancel": rows.REDUCED[:4],
            "swamp": rows.REDUCED[:4],
            "special": rows.REDUCED[4:8],
        },
        derive=reduce_call,
    ),
    Spec("reduce_strided", {"plain": rows.MULTIPLIED}, {"input": _near_one}, derive=reduce_call, why="near_one"),
    Spec("reduce_strided", {"tails": rows.LONG_APART}, derive=reduce_call, why="apart"),
    Spec("reduce_strided", {"plain": rows.MULTIPLIED_ABREAST}, {"input": _near_one}, derive=reduce_call, why="abreast"),
    Spec(
        "reduce_strided",
        {
            "negative": rows.EXTREMES,
            "lone": rows.EXTREMES,
            "ties": rows.EXTREMES[:2],
            "special": rows.LONG_EXTREMES,
        },
        derive=reduce_call,
        why="extremes",
    ),
    Spec(
        "matmul_strided",
        {"plain": rows.PRODUCTS, "exact": rows.PRODUCTS[3:7], "special": rows.PRODUCTS[:2]},
        derive=matmul_call,
    ),
    Spec("map_strided", {"plain": rows.MAPPED_BESIDE}, derive=map_call, why="beside_vectors"),
    Spec("zip_strided", {"plain": rows.ZIPPED_BESIDE}, derive=zip_call, why="beside_vectors"),
    Spec("reduce_strided", {"plain": rows.REDUCED_BESIDE}, derive=reduce_call, why="beside_vectors"),
    Spec("matmul_strided", {"plain": rows.MULTIPLIED_BESIDE}, derive=matmul_call, why="beside_vectors"),
    Spec("matmul_strided", {"plain": rows.OF_FEW}, derive=matmul_call, why="few_rows_or_columns"),
    Spec("matmul_strided", {"plain": rows.SUMS_OF_PRODUCTS}, derive=sums_call, why="unlike_a_product"),
    Spec("map_strided", {"plain": rows.NO_ELEMENT}, derive=map_call, why="empty", trivial=_NOTHING),
    Spec("zip_strided", {"plain": rows.NO_PAIR}, derive=zip_call, why="empty", trivial=_NOTHING),
    Spec("reduce_strided", {"plain": rows.NO_RESULT}, derive=reduce_call, why="empty", trivial=_NOTHING),
    Spec("matmul_strided", {"plain": rows.NO_PRODUCT}, derive=matmul_call, why="empty", trivial=_NOTHING),
)


def _one_element(operation: str, axes: int) -> Row:
    """The arguments of the simplest call: each tensor is the first place of its storage."""
    layouts = layout_arrays(OPERATIONS[operation])
    arrays = {name: (0,) * (axes - (operation == "matmul_strided" and name == "output_strides")) for name in layouts}
    offsets = dict.fromkeys(("input_offset", "output_offset", "a_offset", "b_offset"), 0)
    return {**arrays, "shape": (1,) * axes, "axes": axes, **offsets, "function": 0, "start": 0.0}


_FULL = {"shape": f"{TOKENS}x{HIDDEN}", "output_layout": "dense"}
_FACTORS = {"a_layout": "dense", "b_layout": "dense"}
FACTS = (
    Facts(
        "map_strided",
        {**_FULL, "function": "gelu", "input_layout": "dense"},
        neutral=_one_element("map_strided", 1),
        multiplied_out=frozenset({"gelu", "gelu_tanh"}),
    ),
    Facts("zip_strided", {**_FULL, "function": "add", **_FACTORS}, neutral=_one_element("zip_strided", 1)),
    Facts(
        "reduce_strided",
        {**_FULL, "function": "sum", "kept": 1, "start": 0.0, "input_layout": "dense"},
        neutral=_one_element("reduce_strided", 1),
    ),
    Facts(
        "matmul_strided",
        {**_FULL, "shape": f"{TOKENS}x{HIDDEN}x{HIDDEN}", **_FACTORS},
        neutral=_one_element("matmul_strided", 3),
        multiplies=True,
        factors=("a", "b"),
    ),
)

# Factors of the designs: the lengths of three axes, the layouts, and what the call does.
_PLANES, _LINES = (1, 2, 3, 8), (1, 2, 7, 16, 33, 65, 129)
_RUNS = (1, 2, 3, 4, 8, 17, 32, 33, 64, 65, 129, 257, 1025)
_AXES = {"planes": _PLANES, "rows": _LINES, "columns": _RUNS}
_I, _O = tuple(LAYOUTS), tuple(WRITTEN)


def _axes_of(derive: Derive, *, batch: bool = False) -> Derive:
    """A row's lengths are its shape; batch: the last is that of the sums along, and the planes come before M."""

    def from_row(row: Row) -> Row:
        lengths = [row["planes"], row["rows"], row["columns"], *([row["depth"]] if batch else [])]
        return derive({**row, "shape": "x".join(map(str, lengths))})

    return from_row


def _designed(operation: str, derive: Derive, sizes: Row, **scalars: Sequence[Any]) -> Design:
    """A design whose sizes all follow from the lengths and the layouts."""
    function = OPERATIONS[operation]
    follow = {name: () for p in function.parameters for axis in p.shape for name in axis.size.names}
    return Design(operation, {**follow, **_AXES, **sizes}, scalars, derive=derive)


DESIGNS = (
    _designed("map_strided", _axes_of(map_call), {}, function=tuple(MAPS), input_layout=_I, output_layout=_O),
    _designed("zip_strided", _axes_of(zip_call), {}, function=tuple(ZIPS), a_layout=_I, b_layout=_I, output_layout=_O),
    _designed(
        "reduce_strided",
        _axes_of(reduce_call),
        {},
        function=tuple(REDUCTIONS),
        kept=(1, 0, 2, 3),
        start=(0.0, 1.0, -2.5),
        input_layout=_I,
        output_layout=_O,
    ),
    replace(
        _designed(
            "matmul_strided",
            _axes_of(matmul_call, batch=True),
            {"depth": _RUNS},
            a_layout=_I,
            b_layout=_I,
            output_layout=_O,
        ),
        work=lambda sizes: math.prod(sizes["shape"]),
    ),
)
