"""What a row of the strided cases comes to: the arguments of a call, whose storages and strides follow from it.

A row names a shape ("3x17", "scalar" for one without axes), the layout of each operand, and a function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bindings.header.read import read_header
from conformance.catalogue.layouts import OF_ROWS, Shape, described, matrix_layout

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


def map_call(row: Row) -> Mapping[str, Any]:
    shape = shape_of(row["shape"])
    layouts = {"input": OF_ROWS[row["input_layout"]](shape), "output": OF_ROWS[row["output_layout"]](shape)}
    return {**_told(shape, **layouts), "function": MAPS[row["function"]]}


def zip_call(row: Row) -> Mapping[str, Any]:
    shape = shape_of(row["shape"])
    layouts = {name: OF_ROWS[row[f"{name}_layout"]](shape) for name in ("a", "b", "output")}
    return {**_told(shape, **layouts), "function": ZIPS[row["function"]]}


def reduce_call(row: Row) -> Mapping[str, Any]:
    shape, kept = shape_of(row["shape"]), row["kept"]
    layouts = {"input": OF_ROWS[row["input_layout"]](shape), "output": OF_ROWS[row["output_layout"]](shape[:kept])}
    told = _told(shape, **layouts)
    return {**told, "kept": kept, "function": REDUCTIONS[row["function"]], "start": row["start"]}


def matmul_call(row: Row) -> Mapping[str, Any]:
    shape = shape_of(row["shape"])
    layouts = {
        "a": matrix_layout(shape, row["a_layout"], -2),
        "b": matrix_layout(shape, row["b_layout"], -3),
        "output": OF_ROWS[row["output_layout"]](shape[:-1]),
    }
    return _told(shape, **layouts)


def sums_call(row: Row) -> Mapping[str, Any]:
    """Factors that change along every axis: sums of products, but of no matrices."""
    shape = shape_of(row["shape"])
    layouts = {"a": OF_ROWS[row["a_layout"]](shape), "b": OF_ROWS[row["b_layout"]](shape)}
    return _told(shape, **layouts, output=OF_ROWS[row["output_layout"]](shape[:-1]))
