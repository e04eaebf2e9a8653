"""What is timed of tensors of any layout: dense ones, and such as transposes, slices and broadcasting leave."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance import operations
from conformance.catalogue.cases.strided_calls import MAPS, REDUCTIONS, ZIPS
from conformance.catalogue.layouts import LAYOUTS, Layout, matrix_layout

from .cases import Case

_PLANE, _PRODUCT = (4096, 1024), (16, 256, 256, 256)
# Operation, lengths, the layout of each operand, what else the call is told.
STRIDED: tuple[tuple[str, tuple[int, ...], dict[str, str], dict[str, Any]], ...] = (
    *(
        ("map_strided", _PLANE, {"input": i, "output": "dense"}, {"function": MAPS[f]})
        for f, i in (("exp", "dense"), ("identity", "dense"), ("sin", "dense"), ("exp", "turned"), ("exp", "sliced"))
    ),
    *(
        ("zip_strided", _PLANE, {"a": a, "b": b, "output": "dense"}, {"function": ZIPS["add"]})
        for a, b in (("dense", "dense"), ("turned", "dense"), ("dense", "repeated"), ("dense", "repeated_last"))
    ),
    *(
        (
            "reduce_strided",
            _PLANE,
            {"input": i, "output": "dense"},
            {"kept": kept, "function": REDUCTIONS[f], "start": 0.0},
        )
        for f, i, kept in (
            ("sum", "dense", 1),
            ("sum", "turned", 1),
            ("sum", "dense", 0),
            ("maximum", "dense", 1),
            ("maximum", "turned", 1),
        )
    ),
    *(
        ("matmul_strided", _PRODUCT, {"a": a, "b": b, "output": "dense"}, {})
        for a, b in (("dense", "dense"), ("turned", "dense"), ("repeated", "dense"))
    ),
)
_REPEATED_ALONG = {"a": -2, "b": -3}  # a factor has no columns, or no rows, of the product


def strided(number: int, divisor: int) -> Case:
    """One of STRIDED, its first axis divided."""
    operation, lengths, kinds, numbers = STRIDED[number]
    shape = (max(1, lengths[0] // divisor), *lengths[1:])
    given: dict[str, Any] = {"shape": np.array(shape), **numbers}
    rng = np.random.default_rng(0)
    for operand, kind in kinds.items():
        layout = _layout(operation, operand, shape, kind, numbers)
        given[operand] = rng.random(layout.size, np.float32)
        given[f"{operand}_strides"], given[f"{operand}_offset"] = np.array(layout.strides, np.int64), layout.offset
    function = operations.OPERATIONS[operation]
    names = operations.signature(function).names
    return Case(id_of(number, divisor), operation, operations.typed(function, {name: given[name] for name in names}))


def _layout(operation: str, operand: str, shape: tuple[int, ...], kind: str, numbers: dict[str, Any]) -> Layout:
    if operation == "matmul_strided" and operand != "output":
        return matrix_layout(shape, kind, _REPEATED_ALONG[operand])
    held = {"matmul_strided": shape[:-1], "reduce_strided": shape[: numbers.get("kept")]}
    return LAYOUTS[kind](held.get(operation, shape) if operand == "output" else shape)


def id_of(number: int, divisor: int) -> str:
    """Return what a case is called: its operation, function, lengths and layouts."""
    operation, lengths, kinds, numbers = STRIDED[number]
    tables = {"map_strided": MAPS, "zip_strided": ZIPS, "reduce_strided": REDUCTIONS}
    named = [name for name, value in tables.get(operation, {}).items() if value == numbers["function"]]
    shape = "x".join(map(str, (max(1, lengths[0] // divisor), *lengths[1:])))
    kept = [f"kept={numbers['kept']}"] if "kept" in numbers else []
    return " ".join([operation, *named, shape, *kept, *kinds.values()])
