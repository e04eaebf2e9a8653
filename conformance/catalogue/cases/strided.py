"""Cases of operations on strided tensors: every function, every layout, sizes either side of what kernels are cut by.

A row names a shape ("3x17", "scalar" for one without axes), the layout of each operand, and a function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bindings.header.read import read_header
from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts
from conformance.catalogue.layouts import LAYOUTS, WRITTEN, Shape, described, matrix_layout
from conformance.operations import OPERATIONS, layout_arrays

from .data import Array, Draw
from .spec import Sizes, Spec

Row = Mapping[str, Any]
Derive = Callable[[Row], Row]


def functions(kind: str) -> dict[str, int]:
    """Return the header's numbers of MAP, ZIP or REDUCE functions, by name."""
    prefix = f"ASSAYER_{kind}_"
    found = read_header().constants.items()
    return {name.removeprefix(prefix).lower(): each.value for name, each in found if name.startswith(prefix)}


MAPS, ZIPS, REDUCTIONS = functions("MAP"), functions("ZIP"), functions("REDUCE")
SCALAR = "scalar"


def shape_of(text: str) -> Shape:
    """Return the shape that a row names."""
    return () if text == SCALAR else tuple(int(length) for length in text.split("x"))


def _told(shape: Shape, **operands: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"shape": shape, "axes": len(shape)}
    for operand, layout in operands.items():
        told |= described(operand, layout)
    return told


def _map(row: Row) -> Mapping[str, Any]:
    shape = shape_of(row["shape"])
    layouts = {"input": LAYOUTS[row["input_layout"]](shape), "output": WRITTEN[row["output_layout"]](shape)}
    return {**_told(shape, **layouts), "function": MAPS[row["function"]]}


def _zip(row: Row) -> Mapping[str, Any]:
    shape = shape_of(row["shape"])
    layouts = {
        name: (WRITTEN if name == "output" else LAYOUTS)[row[f"{name}_layout"]](shape) for name in ("a", "b", "output")
    }
    return {**_told(shape, **layouts), "function": ZIPS[row["function"]]}


def _reduce(row: Row) -> Mapping[str, Any]:
    shape, kept = shape_of(row["shape"]), row["kept"]
    layouts = {"input": LAYOUTS[row["input_layout"]](shape), "output": WRITTEN[row["output_layout"]](shape[:kept])}
    told = _told(shape, **layouts)
    return {**told, "kept": kept, "function": REDUCTIONS[row["function"]], "start": row["start"]}


def _matmul(row: Row) -> Mapping[str, Any]:
    shape = shape_of(row["shape"])
    layouts = {
        "a": matrix_layout(shape, row["a_layout"], -2),
        "b": matrix_layout(shape, row["b_layout"], -3),
        "output": WRITTEN[row["output_layout"]](shape[:-1]),
    }
    return _told(shape, **layouts)


def _unlike_a_product(row: Row) -> Mapping[str, Any]:
    """Factors that change along every axis: sums of products, but of no matrices."""
    shape = shape_of(row["shape"])
    layouts = {"a": LAYOUTS[row["a_layout"]](shape), "b": LAYOUTS[row["b_layout"]](shape)}
    return _told(shape, **layouts, output=WRITTEN[row["output_layout"]](shape[:-1]))


def _rows(names: str, *rows: tuple[Any, ...]) -> list[dict[str, Any]]:
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


_MAP_NAMES, _ZIP_NAMES = "function shape input_layout output_layout", "function shape a_layout b_layout output_layout"
_REDUCE_NAMES, _MATMUL_NAMES = (
    "function shape kept input_layout output_layout start",
    "shape a_layout b_layout output_layout",
)
SHAPES = ("1", "7", "1025", "3x17", "65x40", "2x3x5", "4x1x33", "33x34x3", "2x3x4x5", SCALAR)
EMPTY = ("0", "3x0x2")
# More axes than most loops expect, the most there may be, and long runs.
BORDERS = ("2x1x2x1x2x1x2x1x3", "x".join(["1", "2", *["1"] * 28, "2", "3"]), "20011", "1030x3", "3x1030")
_PAIRS = [(i, o) for i in LAYOUTS for o in WRITTEN]


def _all_layouts(function: str, shapes: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Every layout of the input with every one of the output, at each shape by turns."""
    yield from ((function, shapes[n % len(shapes)], i, o) for n, (i, o) in enumerate(_PAIRS))


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


_LAID_OUT = _rows(_MAP_NAMES, *_all_layouts("exp", ("3x17", "65x40", "2x3x5", "33x34x3")))
_EVERY_MAP = _rows(
    _MAP_NAMES, *((f, "65x9", "turned", "dense") for f in MAPS), *((f, "33", "dense", "dense") for f in MAPS)
)
_MOVES = _rows(_MAP_NAMES, *(("identity", s, "sliced", "padded") for s in (*SHAPES, *BORDERS)))
_SHAPED = _rows(_MAP_NAMES, *(("sigmoid", s, i, "dense") for s in (*SHAPES, *BORDERS) for i in ("rotated", "dense")))
_OF_WIDE = [row for row in _EVERY_MAP[: len(MAPS)] if row["function"] != "exp"]  # which overflows somewhere
_NO_ELEMENT = _rows(_MAP_NAMES, *(("exp", s, "sliced", "padded") for s in EMPTY))
_OF_POSITIVE = _rows(_MAP_NAMES, *((f, "3x41", "dense", "dense") for f in ("sqrt", "rsqrt", "log", "reciprocal")))
_HALVES = _rows(_MAP_NAMES, *((f, "2x65", "dense", "dense") for f in ("round", "floor", "ceil", "sign")))

_EVERY_ZIP = _rows(
    _ZIP_NAMES,
    *((f, "9x65", "repeated", "turned", "dense") for f in ZIPS if "equal" not in f),
    *((f, "33", "dense", "dense", "dense") for f in ZIPS if "equal" not in f),
)
_OF_EACH = _rows(_ZIP_NAMES, *((f, "33", "dense", "turned", "dense") for f in ("power", "divide", "sqrt_backward")))
# Whole numbers, of which some are equal.
_COMPARED = _rows(_ZIP_NAMES, *((f, "65", "dense", "dense", "sliced") for f in ZIPS))
_OF_SPECIAL = [row for row in _EVERY_ZIP if row["function"] != "power"]
_NO_PAIR = _rows(_ZIP_NAMES, *(("subtract", s, "sliced", "repeated", "rotated") for s in EMPTY))
_ZIPPED = _rows(
    _ZIP_NAMES,
    *(
        ("subtract", s, a, b, o)
        for s, a, b, o in zip(
            (*SHAPES, *BORDERS) * 3,
            [*LAYOUTS] * 6,
            [*list(LAYOUTS)[3:], *list(LAYOUTS)[:3]] * 6,
            [*WRITTEN] * 8,
            strict=False,
        )
    ),
)

_REDUCED = _rows(
    _REDUCE_NAMES,
    *(
        (f, "5x7x9", kept, i, "dense", 0.0)
        for f in ("sum", "maximum")
        for kept in (0, 1, 2, 3)
        for i in ("dense", "turned")
    ),
    *(("sum", "33x65", 1, i, o, 0.5) for i, o in zip(LAYOUTS, [*WRITTEN, *WRITTEN], strict=False)),
    *(
        ("sum", s, k, "dense", "dense", -1.5)
        for s, k in (("1", 0), ("1", 1), (SCALAR, 0), ("1025", 0), ("1025", 1), ("2x0x3", 1))
    ),
    *((f, "2x0", 1, "dense", "dense", 0.25) for f in REDUCTIONS),
    *(
        ("sum", s, k, "turned", "dense", 1.0)
        for s, k in (("3x1030", 1), ("1030x3", 1), ("2x20011", 1), ("70001", 0), ("1030x33", 0))
    ),
    *((f, "4x37", 1, "dense", "padded", start) for f in ("minimum", "maximum", "mean") for start in (0.0, 3.0, -3.0)),
)
_MULTIPLIED = _rows(
    _REDUCE_NAMES,
    *(
        ("product", s, k, i, "dense", start)
        for s, k, i, start in (
            ("5x7", 1, "dense", 1.0),
            ("5x7", 1, "turned", 2.0),
            ("33x65", 1, "reversed", -0.5),
            ("3x257", 1, "dense", 1.0),
            ("65x5x3", 2, "sliced", 1.0),
            ("2x0", 1, "dense", 3.0),
            ("1", 0, "dense", 1.5),
        )
    ),
)
_TURNS = ("dense", "turned")
_EXTREMES = _rows(
    _REDUCE_NAMES,
    *(
        (f, "6x33", 1, i, "dense", s)
        for f in ("maximum", "minimum")
        for i in ("dense", "turned")
        for s in (-0.0625, -2.0)
    ),
)

MATRICES = (
    "3x4x5",
    "33x65x17",
    "1x1x1",
    "64x64x64",
    "2x7x9x5",
    "2x3x4x5x6",
    "130x5x300",
    "1x257x33",
    "5x1x40",
)
_PRODUCTS = _rows(
    _MATMUL_NAMES,
    *((s, "dense", "dense", "dense") for s in MATRICES),
    *(
        (s, a, b, o)
        for s, a, b, o in zip(
            ("3x4x5", "2x33x17x9", "2x3x4x5x6") * 10,
            [*LAYOUTS] * 3,
            [*list(LAYOUTS)[2:], *list(LAYOUTS)[:2]] * 3,
            [*WRITTEN] * 5,
            strict=False,
        )
    ),
)
_SUMS_OF_PRODUCTS = _rows(
    _MATMUL_NAMES,
    ("3x4x5", "dense", "dense", "dense"),
    ("2x5x3x33", "turned", "sliced", "padded"),
    ("7x1x1x9", "repeated", "dense", "turned"),
)
_NO_RESULT = _rows(
    _REDUCE_NAMES, ("sum", "0x3", 1, "dense", "padded", 2.0), ("mean", "2x0x3", 2, "dense", "sliced", 2.0)
)
_NO_SIZES = ("0x3x4", "2x0x3x4", "3x0x0x4", "3x2x0")
_NO_PRODUCT = _rows(_MATMUL_NAMES, *((s, "dense", "turned", "padded") for s in _NO_SIZES))
_NOTHING = "there is no element, or no number to join"

SPECS = (
    Spec(
        "map_strided",
        {"plain": [*_LAID_OUT, *_EVERY_MAP, *_SHAPED], "range": _OF_WIDE, "special": _EVERY_MAP[: len(MAPS)]},
        derive=_map,
    ),
    Spec("map_strided", {"plain": _MOVES, "signed": _MOVES[3:6]}, derive=_map, why="moved", signed_zeros=True),
    Spec("map_strided", {"plain": _OF_POSITIVE}, {"input": _positive}, derive=_map, why="of_positive"),
    Spec("map_strided", {"exact": _HALVES}, {"input": _halves}, derive=_map, why="of_halves"),
    Spec(
        "zip_strided",
        {"plain": [*_ZIPPED, *_EVERY_ZIP], "special": _OF_SPECIAL, "exact": _COMPARED},
        derive=_zip,
    ),
    Spec("map_strided", {"plain": _NO_ELEMENT}, derive=_map, why="empty", trivial=_NOTHING),
    Spec("zip_strided", {"plain": _NO_PAIR}, derive=_zip, why="empty", trivial=_NOTHING),
    Spec("reduce_strided", {"plain": _NO_RESULT}, derive=_reduce, why="empty", trivial=_NOTHING),
    Spec("matmul_strided", {"plain": _NO_PRODUCT}, derive=_matmul, why="empty", trivial=_NOTHING),
    Spec("zip_strided", {"plain": _COMPARED[7:11]}, {"a": _close, "b": _close}, derive=_zip, why="close"),
    Spec("zip_strided", {"plain": _OF_EACH}, {"a": _positive}, derive=_zip, why="of_positive"),
    Spec(
        "reduce_strided",
        {
            "plain": _REDUCED,
            "exact": _REDUCED[:8],
            "cancel": _REDUCED[:4],
            "swamp": _REDUCED[:4],
            "special": _REDUCED[4:8],
        },
        derive=_reduce,
    ),
    Spec("reduce_strided", {"plain": _MULTIPLIED}, {"input": _near_one}, derive=_reduce, why="near_one"),
    Spec(
        "reduce_strided",
        {"negative": _EXTREMES, "lone": _EXTREMES, "ties": _EXTREMES[:2]},
        derive=_reduce,
        why="extremes",
    ),
    Spec("matmul_strided", {"plain": _PRODUCTS, "exact": _PRODUCTS[3:7], "special": _PRODUCTS[:2]}, derive=_matmul),
    Spec("matmul_strided", {"plain": _SUMS_OF_PRODUCTS}, derive=_unlike_a_product, why="unlike_a_product"),
)


def _one_element(operation: str, axes: int) -> Row:
    """The arguments of the simplest call: each tensor is the first place of its storage."""
    layouts = layout_arrays(OPERATIONS[operation])
    arrays = {name: (0,) * (axes - (operation == "matmul_strided" and name == "output_strides")) for name in layouts}
    offsets = dict.fromkeys(("input_offset", "output_offset", "a_offset", "b_offset"), 0)
    return {**arrays, "shape": (1,) * axes, "axes": axes, **offsets, "function": 0, "start": 0.0}


FACTS = (
    *(Facts(name, neutral=_one_element(name, 1)) for name in ("map_strided", "zip_strided", "reduce_strided")),
    Facts("matmul_strided", neutral=_one_element("matmul_strided", 3), multiplies=True, factors=("a", "b")),
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
    _designed("map_strided", _axes_of(_map), {}, function=tuple(MAPS), input_layout=_I, output_layout=_O),
    _designed("zip_strided", _axes_of(_zip), {}, function=tuple(ZIPS), a_layout=_I, b_layout=_I, output_layout=_O),
    _designed(
        "reduce_strided",
        _axes_of(_reduce),
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
            _axes_of(_matmul, batch=True),
            {"depth": _RUNS},
            a_layout=_I,
            b_layout=_I,
            output_layout=_O,
        ),
        work=lambda sizes: math.prod(sizes["shape"]),
    ),
)
