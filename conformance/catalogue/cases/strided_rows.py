"""Rows of the strided tensors' cases: every function, every layout, sizes either side of what kernels are cut by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from conformance.catalogue.layouts import LAYOUTS, WRITTEN

from .strided_calls import MAPS, REDUCTIONS, SCALAR, ZIPS


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
MOST_AXES = "x".join(["1", "2", *["1"] * 28, "2", "3"])
BORDERS = ("2x1x2x1x2x1x2x1x3", MOST_AXES, "20011", "1030x3", "3x1030")
# Axes that no two operands have in one order, so that none can be joined: more than a loop for each is written for.
DEEP = ("2x3x2x2x3x2x2x2", "x".join("2" * 11))
_PAIRS = [(i, o) for i in LAYOUTS for o in WRITTEN]


def _all_layouts(function: str, shapes: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Every layout of the input with every one of the output, at each shape by turns."""
    yield from ((function, shapes[n % len(shapes)], i, o) for n, (i, o) in enumerate(_PAIRS))


LAID_OUT = _rows(_MAP_NAMES, *_all_layouts("exp", ("3x17", "65x40", "2x3x5", "33x34x3")))
EVERY_MAP = _rows(
    _MAP_NAMES, *((f, "65x9", "turned", "dense") for f in MAPS), *((f, "33", "dense", "dense") for f in MAPS)
)
MOVES = _rows(_MAP_NAMES, *(("identity", s, "sliced", "padded") for s in (*SHAPES, *BORDERS)))
SHAPED = _rows(
    _MAP_NAMES,
    *(("sigmoid", s, i, "dense") for s in (*SHAPES, *BORDERS) for i in ("rotated", "dense")),
    *(("sigmoid", s, "turned", o) for s, o in zip(DEEP, ("dense", "padded"), strict=True)),
)
OF_WIDE = [row for row in EVERY_MAP[: len(MAPS)] if row["function"] != "exp"]  # which overflows somewhere
# In runs and not: what a loop is cut into may be divided by a length.
_WAYS = (("sliced", "padded"), ("dense", "dense"))
NO_ELEMENT = _rows(_MAP_NAMES, *(("exp", s, i, o) for i, o in _WAYS for s in EMPTY))
OF_POSITIVE = _rows(_MAP_NAMES, *((f, "3x41", "dense", "dense") for f in ("sqrt", "rsqrt", "log", "reciprocal")))
OF_SUBNORMAL = _rows(_MAP_NAMES, *((f, "3x41", "dense", "dense") for f in ("sqrt", "rsqrt", "log")))
OF_LARGEST = _rows(_MAP_NAMES, *((f, "3x41", "dense", "dense") for f in ("sqrt", "rsqrt", "log", "floor")))
HALVES = _rows(_MAP_NAMES, *((f, "2x65", "dense", "dense") for f in ("round", "floor", "ceil", "sign")))

# Rows of whole vectors of four: the storages of one operand at a time begin beside where vectors do, or its planes or
# its rows do.
_ALIGNED = ("dense", "dense", "dense")
_BESIDE = ("behind_one", "planes_apart", "padded")


def _beside(operands: int) -> Iterator[tuple[str, ...]]:
    """How operands lie: all begin where vectors do, then one of them does not."""
    yield _ALIGNED[:operands]
    for at in range(operands):
        yield from ((*_ALIGNED[:at], kind, *_ALIGNED[at + 1 : operands]) for kind in _BESIDE)


MAPPED_BESIDE = _rows(_MAP_NAMES, *(("sigmoid", "3x4x12", *each) for each in _beside(2)))
ZIPPED_BESIDE = _rows(_ZIP_NAMES, *(("subtract", "3x4x12", *each) for each in _beside(3)))
REDUCED_BESIDE = _rows(
    _REDUCE_NAMES, *(("sum", "3x8x36", kept, each, "dense", 0.5) for kept in (1, 2) for each in ("dense", *_BESIDE))
)
MULTIPLIED_BESIDE = _rows(_MATMUL_NAMES, *(("3x4x8x12", *each) for each in _beside(3)))

_ONE = ("repeated_last", "dense")
EVERY_ZIP = _rows(
    _ZIP_NAMES,
    *((f, "9x65", "repeated", "turned", "dense") for f in ZIPS if "equal" not in f),
    *((f, "33", "dense", "dense", "dense") for f in ZIPS if "equal" not in f),
)
OF_EACH = _rows(_ZIP_NAMES, *((f, "33", "dense", "turned", "dense") for f in ("power", "divide", "sqrt_backward")))
# One number with each of a run: loops of their own read it once.
_WITH_ONE = _rows(_ZIP_NAMES, *((f, "65", a, b, "dense") for f in ZIPS for a, b in (_ONE, _ONE[::-1])))
OF_ONE = [row for row in _WITH_ONE if "equal" not in row["function"]]
LIKE_ONE = [row for row in _WITH_ONE if "equal" in row["function"]]
# Every number of one operand with every one of the other: as runs, and each of them with a run of the other's.
CROSSED = _rows(
    _ZIP_NAMES,
    *(
        (f, "13x13", a, b, "dense")
        for f in ZIPS
        for a, b in (("repeated_last", "repeated"), ("repeated", "repeated_last"))
    ),
)
PAIRED = _rows(_ZIP_NAMES, *((f, "169", "dense", "dense", "dense") for f in ZIPS))
FAR = _rows(_ZIP_NAMES, ("power", "33", "dense", "turned", "dense"))
# Whole numbers, of which some are equal.
COMPARED = _rows(_ZIP_NAMES, *((f, "65", "dense", "dense", "sliced") for f in ZIPS))
OF_SPECIAL = [row for row in EVERY_ZIP if row["function"] != "power"]
_PAIRED = (("sliced", "repeated", "rotated"), ("dense", "dense", "dense"))
NO_PAIR = _rows(_ZIP_NAMES, *(("subtract", s, a, b, o) for a, b, o in _PAIRED for s in EMPTY))
ZIPPED = _rows(
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
    ("subtract", DEEP[0], "turned", "half_reversed", "dense"),
    ("subtract", DEEP[1], "dense", "turned", "half_reversed"),
    # Runs of one number each, longer than what a loop may have room to repeat it in.
    ("subtract", "3x4099", "dense", "repeated_last", "dense"),
    ("subtract", "3x4099", "repeated_last", "dense", "dense"),
)

REDUCED = _rows(
    _REDUCE_NAMES,
    *(
        (f, "5x7x9", kept, i, "dense", 0.0)
        for f in ("sum", "maximum")
        for kept in (1, 0, 2, 3)
        for i in ("dense", "turned")
    ),
    # Of several axes that are not one: a divisor, and what a loop begins with, have the numbers of all of them.
    *(
        (f, "5x7x9", kept, i, "dense", 0.5)
        for f in ("mean", "minimum")
        for kept in (0, 1)
        for i in ("sliced", "turned")
    ),
    *(("sum", "33x65", 1, i, o, 0.5) for i, o in zip(LAYOUTS, [*WRITTEN, *WRITTEN], strict=False)),
    *(("sum", "3x5x7", 2, "repeated", o, 0.5) for o in WRITTEN),  # the same sums along a kept axis, close or apart
    *(("sum", s, 1, "turned_apart", "dense", 0.5) for s in ("9x7x5", "40x6x3x2")),  # of axes that are not one
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
    ("sum", MOST_AXES, 3, "turned", "reversed", 1.5),
    ("maximum", "9x2081", 1, "dense", "dense", 0.0),
    ("minimum", "9x2081", 1, "turned", "dense", 0.0),
    ("sum", DEEP[0], 6, "turned", "dense", 0.5),
    ("sum", DEEP[1], 3, "half_reversed", "turned", 0.5),
    ("sum", "1500x100", 1, "turned", "dense", 0.5),  # of more elements than are written at a time, in several parts
)
MULTIPLIED = _rows(
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
            ("5x7", 1, "repeated_last", 1.5),  # seven times one number, which a sum may count and a product may not
        )
    ),
)
# Runs whose numbers lie apart, some longer than what a loop may have room to collect them in.
LONG_APART = _rows(
    _REDUCE_NAMES,
    *((f, s, 1, "sliced", "dense", 0.5) for f, s in (("sum", "2x37"), ("sum", "2x1501"), ("maximum", "3x1409"))),
    *((f, "9x7x5", 1, "turned_apart", "dense", 0.5) for f in ("maximum", "minimum")),  # axes that are not one, abreast
)
# Columns side by side, eight rows at a time and more, of which the last are less than a vector, or none.
MULTIPLIED_ABREAST = _rows(
    _REDUCE_NAMES,
    *(("product", s, 1, "turned", "dense", start) for s, start in (("5x19", 1.5), ("37x19", -1.0), ("6x17", 1.5))),
)
_TURNS = ("dense", "turned")
# Past the vectors that a loop keeps side by side, in each of which a number that is none may stand.
LONG_EXTREMES = _rows(
    _REDUCE_NAMES,
    *(
        (f, s, 1, i, "dense", 0.5)
        for f in ("maximum", "minimum")
        for s, i in zip(("3x519", "37x5"), _TURNS, strict=True)
    ),
)
EXTREMES = _rows(
    _REDUCE_NAMES,
    *((f, "6x33", 1, i, "dense", s) for f in ("maximum", "minimum") for i in _TURNS for s in (-0.0625, -2.0)),
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
    "2x3x2081",
    MOST_AXES,
)
PRODUCTS = _rows(
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
    (DEEP[0], "turned", "dense", "dense"),
    (DEEP[1], "half_reversed", "turned", "dense"),
    ("2049x1x2049", "sliced", "dense", "dense"),  # more numbers apart than there may be room to copy at a time
    # One row, or one column, whose step is negative, which nobody takes: whole vectors are not to be told by it.
    ("1x257x33", "first_reversed", "dense", "first_reversed"),
    ("257x1x33", "dense", "first_reversed", "dense"),
)
# Rows and columns of one number or two, whose step may be any; two axes of products whose results do not join.
OF_FEW = _rows(
    _MATMUL_NAMES,
    ("1x4x5", "sliced", "dense", "sliced"),
    ("33x1x1", "sliced", "dense", "dense"),
    ("1x3x2", "reversed", "dense", "dense"),
    ("2x4x5", "first_reversed", "dense", "dense"),
    ("2x3x2x2x2", "dense", "dense", "planes_apart"),
)
SUMS_OF_PRODUCTS = _rows(
    _MATMUL_NAMES,
    ("3x4x5", "dense", "dense", "dense"),
    ("2x5x3x33", "turned", "sliced", "padded"),
    ("7x1x1x9", "repeated", "dense", "turned"),
    # One column, or one row, is no product of matrices either where the other factor changes along the other axis.
    ("5x1x9", "dense", "sliced", "dense"),
    ("3x1x6x9", "dense", "dense", "turned"),
    # Nor where it lies along that axis without a gap.
    ("1x6x9", "turned", "dense", "dense"),
    ("1x6x1", "dense", "dense", "dense"),
    ("5x1x1", "dense", "dense", "dense"),
)
NO_RESULT = _rows(
    _REDUCE_NAMES, ("sum", "0x3", 1, "dense", "padded", 2.0), ("mean", "2x0x3", 2, "dense", "sliced", 2.0)
)
_NO_SIZES = ("0x3x4", "2x0x3x4", "3x0x0x4", "3x2x0")
NO_PRODUCT = _rows(_MATMUL_NAMES, *((s, "dense", "turned", "padded") for s in _NO_SIZES))
