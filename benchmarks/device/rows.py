"""What is timed on a device: operations at the full model's shapes, 8,192 tokens at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import Case, make_case
from conformance import operations

WIDE = "float32"
FORMATS = (WIDE, "bf16")
SHORTEN, KEPT, LONG = 16, 64, 1 << 20  # lengths above KEPT are divided in the short form, again above LONG

_T, _H, _F, _V = 8192, 768, 6144, 32000  # tokens, hidden, FFN, vocabulary
_EXPERTS, _ROUTED = 16, 4 * _T
_Q, _KV = (4, 2048, 12, 64), (4, 2048, 1, 64)
_PARAMETERS = 100_000_000
_ADAMW = {"lr": 1e-4, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1, "step": 3}
_NONE = {"alpha": 1.0, "beta": 0.0}
_ATTENTION = {"scale": 0.125}

_PIECE = 1 << 20  # numbers drawn; longer arrays repeat them


class Row(NamedTuple):
    """An operation, the shapes of the arrays that it reads, and its numbers.

    (..., "of", n): indices below n.  "offsets": rows shared out to experts as evenly as can be.  None: not given.
    """

    operation: str
    arrays: tuple[Any, ...]
    numbers: Mapping[str, Any] = {}


ROWS = (
    Row("gemm", ((_T, _H), (_H, _H))),
    Row("gemm", ((_T, _H), (_F, _H))),
    Row("gemm", ((4096, 4096),) * 2),
    Row("gemm_nn", ((_T, _F), (_F, _H), None), _NONE),
    Row("gemm_tn", ((_T, _H), (_T, _H), None), _NONE),
    Row("grouped_gemm", ((_ROUTED, _H), (_EXPERTS, _F, _H), "offsets")),
    Row("grouped_gemm", ((_ROUTED, _F), (_EXPERTS, _H, _F), "offsets")),
    Row("gemm_swiglu", ((_T, _H), (_F, _H), (_F, _H))),
    Row("grouped_gemm_swiglu", ((_ROUTED, _H), (_EXPERTS, _F, _H), (_EXPERTS, _F, _H), "offsets")),
    Row("grouped_gemm_nn", ((_ROUTED, _F), (_EXPERTS, _F, _H), "offsets")),
    Row("grouped_gemm_tn", ((_ROUTED, _F), (_ROUTED, _H), "offsets", None), {"beta": 0.0}),
    Row("attention_forward", (_Q, _KV, _KV), _ATTENTION | {"kv_len": 2048}),
    Row("rmsnorm", ((_T, _H), (_H,)), {"eps": 1e-6}),
    Row("rmsnorm_backward", ((_T, _H), (_H,), (_T, _H), None), {"eps": 1e-6, "beta": 0.0}),
    Row("rmsnorm_residual", ((_T, _H), (_T, _H), (_H,)), {"eps": 1e-6}),
    Row("add", ((_T * _H,),) * 2),
    Row("swiglu", ((_ROUTED * _F // 4,),) * 2),
    Row("swiglu_backward", ((_ROUTED * _F // 4,),) * 3),
    Row("softmax", ((98304, 2048),)),
    Row("softmax_topk", ((_T, _EXPERTS),), {"k": 4}),
    Row("topk_router", ((_T, _EXPERTS),), {"top_k": 4, "alpha": 0.01}),
    Row("rope_qk", (_Q, _KV, (2048, 32)), {"offset": 0}),
    Row("cross_entropy_forward", ((_T, _V), (_T, "of", _V))),
    Row("cross_entropy_backward", ((_T, _V), (_T, "of", _V)), {"scale": 1 / _T}),
    Row("fused_cross_entropy", ((_T, _V), (_T, "of", _V)), {"scale": 1 / _T}),
    Row("embedding", ((_V, _H), (_T, "of", _V))),
    Row("scatter_add", ((_T, _H), (_T, "of", _V), (_V, _H))),
    Row("adamw_step", ((_PARAMETERS,),) * 4, _ADAMW),
    Row("layernorm", ((_T, _H), (_H,), (_H,)), {"eps": 1e-5}),
    Row("gelu", ((_T * _F,),)),
)


class Timed(NamedTuple):
    """An operation in a format: a small case of it, and the one to be timed, each made when it is asked for."""

    operation: str
    form: str
    small: Callable[[], Case]
    case: Callable[[], Case]


def timed(*, short: bool) -> Iterator[Timed]:
    """Yield each row in each of the formats that its operation has."""
    for row in ROWS:
        for form in FORMATS:
            if (operation := _in(row.operation, form)) in operations.OPERATIONS:
                whole = partial(_case, row, form, short=short)
                yield Timed(operation, form, partial(_case, row, form, short=True), whole)


def _in(operation: str, form: str) -> str:
    return operation if form == WIDE else f"{operation}_{form}"


def product(side: int, form: str) -> Case:
    """The product of two square matrices: what a device can multiply, by whoever multiplies best."""
    return _case(Row("gemm", ((side, side),) * 2), form, short=False)


def _case(row: Row, form: str, *, short: bool) -> Case:
    rng = np.random.default_rng(0)
    arrays = tuple(_drawn(spec, row, rng, short=short) for spec in row.arrays)
    numbers = {name: _shorter(n, short=short) if name == "kv_len" else n for name, n in row.numbers.items()}
    case = make_case(row.operation, arrays, numbers)
    if form == WIDE:
        return case
    operation = _in(row.operation, form)
    return Case(case.id, operation, operations.as_declared(operation, case.arguments))


def _drawn(spec: Any, row: Row, rng: np.random.Generator, *, short: bool) -> NDArray[Any] | None:
    if spec is None:
        return None
    if spec == "offsets":
        rows = _shorter(row.arrays[0][0], short=short)
        return (np.arange(_EXPERTS + 1) * rows // _EXPERTS).astype(np.int32)
    shape = tuple(_shorter(n, short=short) for n in spec if n != "of")
    if "of" in spec:
        return rng.integers(0, shape[-1], shape[:-1], np.int32)
    is_moments = row.operation == "adamw_step"  # the second is never negative
    piece = (rng.random if is_moments else rng.standard_normal)(min(_PIECE, int(np.prod(shape))), np.float32)
    return np.resize(piece, shape)


def _shorter(length: int, *, short: bool) -> int:
    if not short or length <= KEPT:
        return length
    return _shorter(length // SHORTEN, short=length > LONG)


_MULTIPLIED: dict[str, Callable[[dict[str, int]], int]] = {
    "gemm": lambda s: s["M"] * s["N"] * s["K"],
    "gemm_nn": lambda s: s["M"] * s["N"] * s["K"],
    "gemm_tn": lambda s: s["M"] * s["N"] * s["K"],
    "grouped_gemm": lambda s: s["rows"] * s["N"] * s["K"],
    "gemm_swiglu": lambda s: 2 * s["M"] * s["N"] * s["K"],
    "grouped_gemm_swiglu": lambda s: 2 * s["rows"] * s["N"] * s["K"],
    "grouped_gemm_nn": lambda s: s["rows"] * s["N"] * s["K"],
    "grouped_gemm_tn": lambda s: s["rows"] * s["M"] * s["N"],
    # two products, of the half below the diagonal
    "attention_forward": lambda s: s["batch"] * s["n_q_heads"] * s["q_len"] * s["kv_len"] * s["head_dim"],
}


def flops(case: Case) -> int:
    """Return the multiplications and additions of a call's products, 0 of an operation without."""
    counted = _MULTIPLIED.get(operations.base_of(case.operation))
    return 2 * counted(operations.sizes(case.operation, case.arguments)) if counted else 0
