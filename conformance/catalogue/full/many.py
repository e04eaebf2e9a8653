"""Calls past what a grid of 65,535 blocks covers: of 256 elements a block, 128 columns or four rows."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from conformance.catalogue.cases.spec import Maker, Sizes, ids
from conformance.catalogue.full_model import NORM_EPS

from .call import FullCall
from .rows import MEMBERS, ROWS, apart

_ELEMENTS, _COLUMNS, _ROWS = 2**24 + 2**10 + 3, 2**23 + 2**10 + 3, 2**18 + 2**10 + 3
_WHY_ELEMENTS = "more elements than 65,535 blocks of 256 threads are"
_WHY_COLUMNS = "more columns than 65,535 blocks of 128 threads are"
_WHY_ROWS = "more rows than 65,535 blocks of four warps are, of eight numbers each"
_SHORT, _DRAWN = {"rows": _ROWS, "cols": 8}, {"rows": ROWS}
_NORM = {"rows": _ROWS, "hidden_dim": 8, "eps": NORM_EPS}
_TABLE = {"num_indices": _ROWS, "vocab_size": 1000, "embedding_dim": 8}


def _of_rows(
    operation: str,
    sizes: Sizes,
    drawn: Mapping[str, int] = _DRAWN,
    inputs: Mapping[str, str | Maker] = MappingProxyType({}),
) -> FullCall:
    return FullCall(operation, sizes, drawn, inputs, variant="many_rows", why=_WHY_ROWS)


CALLS = (
    FullCall("silu", {"n": _ELEMENTS}, {"n": MEMBERS}, variant="many", why=_WHY_ELEMENTS),
    _of_rows("softmax", _SHORT),
    _of_rows("softmax_topk", {**_SHORT, "k": 2}, inputs={"input": apart}),
    _of_rows("rmsnorm", _NORM),
    _of_rows("rmsnorm_residual", _NORM),
    _of_rows("layernorm", _NORM),
    _of_rows("embedding", _TABLE, {"num_indices": ROWS}, inputs={"indices": ids("vocab_size")}),
    FullCall(
        "scatter_add",
        {"num_indices": 3, "vocab_size": 2, "embedding_dim": _COLUMNS},
        {"embedding_dim": MEMBERS},
        {"indices": ids("vocab_size")},
        variant="many_columns",
        why=_WHY_COLUMNS,
    ),
    _of_rows("argmax", {"batch": _ROWS, "vocab_size": 8}, {"batch": ROWS}),
)
