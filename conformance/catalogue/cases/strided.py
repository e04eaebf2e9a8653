"""Cases of operations on strided tensors: every function, every layout, sizes on either side of what kernels are cut by.

A row names a shape ("3x17", "scalar" for one without axes), the layout of each operand, and a function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bindings.header.read import read_header
from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts
from conformance.catalogue.full_model import HIDDEN, TOKENS
from conformance.catalogue.layouts import LAYOUTS, WRITTEN, Shape, described, matrix_layout

from .data import Array, Draw
from .spec import Sizes, Spec

Row = Mapping[str, Any]


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
    layouts = {"input": LAYOUTS[row["input"]](shape), "output": WRITTEN[row["output"]](shape)}
    return {**_told(shape, **layouts), "function": MAPS[row["function"]]}


def _zip(row: Row) -> Mapping[str, Any]:
    shape = shape_of(row["shape"])
    layouts = {name: (WRITTEN if name == "output" else LAYOUTS)[row[name]](shape) for name in ("a", "b", "output")}
    return {**_told(shape, **layouts), "function": ZIPS[row["function"]]}


def _reduce(row: Row) -> Mapping[str, Any]:
    shape, kept = shape_of(row["shape"]), row["kept"]
    layouts = {"input": LAYOUTS[row["input"]](shape), "output": WRITTEN[row["output"]](shape[:kept])}
    told = _told(shape, **layouts)
    return {**told, "kept": kept, "function": REDUCTIONS[row["function"]], "start": row["start"]}


def _matmul(row: Row) -> Mapping[str, Any]:
    shape = shape_of(row["shape"])
    layouts = {
        "a": matrix_layout(shape, row["a"], -2),
        "b": matrix_layout(shape, row["b"], -3),
        "output": WRITTEN[row["output"]](shape[:-1]),
    }
    return _told(shape, **layouts)


def _unlike_a_product(row: Row) -> Mapping[str, Any]:
    """Factors that change along every axis: sums of products, but of no matrices."""
    shape = shape_of(row["shape"])
    layouts = {"a": LAYOUTS[row["a"]](shape), "b": LAYOUTS[row["b"]](shape)}
    return _told(shape, **layouts, output=WRITTEN[row["output"]](shape[:-1]))


def _rows(names: str, *rows: tuple[Any, ...]) -> list[dict[str, Any]]:
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


_MAP_NAMES, _ZIP_NAMES = "function shape input output", "function shape a b output"
_REDUCE_NAMES, _MATMUL_NAMES = "function shape kept input output start", "shape a b output"
SHAPES = ("1", "7", "1025", "3x17", "65x40", "2x3x5", "4x1x33", "33x34x3", "2x3x4x5", SCALAR)
# Sizes that are 0, more axes than most loops expect, the most there may be, and one long run.
BORDERS = ("0", "3x0x2", "2x1x2x1x2x1x2x1x3", "x".join(["1", "2", *["1"] * 28, "2", "3"]), "20011", "1030x3", "3x1030")
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


def _positive(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    return np.exp(draw.normal(shape))


_LAID_OUT = _rows(_MAP_NAMES, *_all_layouts("exp", ("3x17", "65x40", "2x3x5", "33x34x3")))
_EVERY_MAP = _rows(
    _MAP_NAMES, *((f, "65x9", "turned", "dense") for f in MAPS), *((f, "33", "dense", "dense") for f in MAPS)
)
_MOVES = _rows(_MAP_NAMES, *(("identity", s, "sliced", "padded") for s in (*SHAPES, *BORDERS)))
_SHAPED = _rows(_MAP_NAMES, *(("sigmoid", s, i, "dense") for s in (*SHAPES, *BORDERS) for i in ("rotated", "dense")))
_OF_POSITIVE = _rows(_MAP_NAMES, *((f, "3x41", "dense", "dense") for f in ("sqrt", "rsqrt", "log", "reciprocal")))
_HALVES = _rows(_MAP_NAMES, *((f, "2x65", "dense", "dense") for f in ("round", "floor", "ceil", "sign")))

_EVERY_ZIP = _rows(
    _ZIP_NAMES,
    *((f, "9x65", "repeated", "turned", "dense") for f in ZIPS),
    *((f, "33", "dense", "dense", "dense") for f in ZIPS),
)
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
_EXTREMES = _rows(
    _REDUCE_NAMES,
    *((f, "6x33", 1, i, "dense", s) for f in ("maximum", "minimum") for i in ("dense", "turned") for s in (0.0, -2.0)),
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
    "3x2x0",
    "0x3x4",
    "2x0x3x4",
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

SPECS = (
    Spec(
        "map_strided",
        {"plain": [*_LAID_OUT, *_EVERY_MAP, *_SHAPED], "range": _EVERY_MAP[:23], "special": _EVERY_MAP[:23]},
        derive=_map,
    ),
    Spec("map_strided", {"plain": _MOVES, "signed": _MOVES[3:6]}, derive=_map, why="moved", signed_zeros=True),
    Spec("map_strided", {"plain": _OF_POSITIVE}, {"input": _positive}, derive=_map, why="of_positive"),
    Spec("map_strided", {"exact": _HALVES}, {"input": _halves}, derive=_map, why="of_halves"),
    Spec(
        "zip_strided",
        {"plain": [*_ZIPPED, *_EVERY_ZIP], "special": _EVERY_ZIP[:16], "exact": _EVERY_ZIP[16:]},
        derive=_zip,
    ),
    Spec("zip_strided", {"plain": _EVERY_ZIP[16:]}, {"a": _positive}, derive=_zip, why="of_positive"),
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
    Spec("matmul_strided", {"plain": _PRODUCTS, "exact": _PRODUCTS[:4], "special": _PRODUCTS[:2]}, derive=_matmul),
    Spec("matmul_strided", {"plain": _SUMS_OF_PRODUCTS}, derive=_unlike_a_product, why="unlike_a_product"),
)

_LENGTHS = {"axes": 2, "input_size": TOKENS * HIDDEN, "output_size": TOKENS * HIDDEN}
FACTS = (
    Facts("map_strided"),
    Facts("zip_strided"),
    Facts("reduce_strided"),
    Facts("matmul_strided", multiplies=True, factors=("a", "b")),
)

# Factors of the designs: three lengths, the layouts, and what the call does.
_PLANES, _LINES, _RUNS = (1, 2, 3, 8), (1, 2, 7, 16, 33, 65, 129), (1, 2, 3, 4, 8, 17, 32, 33, 64, 65, 129, 257, 1025)
_AXES = {"planes": _PLANES, "rows": _LINES, "columns": _RUNS}
_INTS = ("shape", "axes", "input_size", "output_size", "a_size", "b_size", "kept")


def _designed(derive: Any) -> Any:
    """A row's three lengths are its shape."""

    def from_row(row: Row) -> Mapping[str, Any]:
        return derive({**row, "shape": f"{row['planes']}x{row['rows']}x{row['columns']}"})

    return from_row


def _follow(*names: str) -> dict[str, Sequence[Any]]:
    """Sizes that follow from a row's lengths and layouts."""
    return dict.fromkeys(names, ())


_I, _O = tuple(LAYOUTS), tuple(WRITTEN)
DESIGNS = (
    Design(
        "map_strided",
        {**_follow("axes", "input_size", "output_size"), **_AXES},
        {"function": tuple(MAPS), "input": _I, "output": _O},
        derive=_designed(_map),
    ),
)
