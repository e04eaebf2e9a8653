"""The operations that give products of matrices, and the factors of each product in a call."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from conformance import operations

Array = NDArray[Any]


@dataclass(frozen=True)
class Product:
    """One product of a call: what of an output it gives, by factors whose last axis is k.

    output: by flat name; at: the rows of it, or its matrix; a: (M, K); b: (N, K).
    """

    output: str
    at: Any
    a: Array
    b: Array


_Products = Callable[[Mapping[str, Any]], Iterator[Product]]


def _one(a_transposed: bool, b_transposed: bool) -> _Products:
    def products(arguments: Mapping[str, Any]) -> Iterator[Product]:
        A, B = arguments["A"], arguments["B"]
        yield Product("C", ..., A.T if a_transposed else A, B if b_transposed else B.T)

    return products


def _batched(arguments: Mapping[str, Any]) -> Iterator[Product]:
    for at, (a, b) in enumerate(zip(arguments["A"], arguments["B"], strict=True)):
        yield Product("C", at, a, b)


def _gated(arguments: Mapping[str, Any]) -> Iterator[Product]:
    for name in ("gate", "up"):
        yield Product(name, ..., arguments["A"], arguments[f"B_{name}"])


def _of_rows(outputs: Mapping[str, str], transposed: bool) -> _Products:
    """Experts own rows of A and of the outputs, each of which has factors of its own."""

    def products(arguments: Mapping[str, Any]) -> Iterator[Product]:
        for output, factor in outputs.items():
            for rows, b in zip(_rows(arguments), arguments[factor], strict=True):
                yield Product(output, rows, arguments["A"][rows], b if transposed else b.T)

    return products


def _over_rows(arguments: Mapping[str, Any]) -> Iterator[Product]:
    for expert, rows in enumerate(_rows(arguments)):
        yield Product("C", expert, arguments["A"][rows].T, arguments["B"][rows].T)


def _rows(arguments: Mapping[str, Any]) -> list[slice]:
    return [slice(start, stop) for start, stop in itertools.pairwise(arguments["offsets"].tolist())]


_OF_FLOAT32: Mapping[str, _Products] = {
    "gemm": _one(False, True),
    "gemm_beta": _one(False, True),
    "gemm_nn": _one(False, False),
    "gemm_tn": _one(True, False),
    "gemm_tt": _one(True, True),
    "batched_gemm": _batched,
    "router_gemm": _one(False, True),
    "gemm_swiglu": _gated,
    "grouped_gemm": _of_rows({"C": "B"}, True),
    "grouped_gemm_nn": _of_rows({"C": "B"}, False),
    "grouped_gemm_tn": _over_rows,
    "grouped_gemm_swiglu": _of_rows({"gate": "B_gate", "up": "B_up"}, True),
}
PRODUCTS: Mapping[str, _Products] = {
    operation: _OF_FLOAT32[operations.base_of(operation)]
    for operation in operations.OPERATIONS
    if operations.base_of(operation) in _OF_FLOAT32
}


def operands(operation: str) -> str:
    """Return the format that the factors of an operation's products are stored in."""
    return operations.OPERATIONS[operation].by_name["A"].element
