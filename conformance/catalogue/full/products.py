"""Matrix products: rows and columns of the result are drawn, and stand in it times powers of two of either sign."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conformance.catalogue.cases.data import Draw
from conformance.catalogue.cases.spec import Sizes, nan
from conformance.catalogue.full_model import EXPERTS, FFN, HIDDEN, VOCAB

from .call import Arranged, FullCall
from .places import Places, shuffled
from .rows import TOKENS

_TWO = {"M": ("A", "C"), "N": ("B", "C")}
WHY_FEW = "8,192 tokens by 32,000 words are 0.4 * 10^12 multiplications, too many for every run"
WHY_ROWS = "1,024 rows for 16 experts: the sizes of their weights are what is full"
_UP = {"N": ("B_up", "up", "output")}  # SwiGLU is linear in up alone
WHY_GATED = "512 tokens: with 8,192 they are 0.15 * 10^12 multiplications, too many for every run"
_IDLE = 3  # the expert that owns no row


def _owned(sizes: Sizes, least: int, draw: Draw) -> NDArray[np.int64]:
    """Where each expert's rows begin: at least so many for each, the others anywhere; one expert owns none."""
    busy = sizes["n_experts"] - 1
    others = np.sort(draw.integers(0, sizes["rows"] - busy * least + 1, (busy - 1,)))
    ends = np.concatenate([[0], others + np.arange(1, busy) * least, [sizes["rows"]]])
    return np.insert(ends, _IDLE, ends[_IDLE])


def _by_expert(small: Sizes, full: Sizes, draw: Draw) -> Arranged:
    """Each row of an expert is one of those that were drawn for it."""
    each = small["rows"] // (small["n_experts"] - 1)
    few, many = (_owned(sizes, each, draw.of("offsets")) for sizes in (small, full))
    row = np.arange(full["rows"])
    owner = np.searchsorted(many, row, side="right") - 1
    place = row - many[owner]
    within = np.where(place < each, place, draw.of("within").integers(0, each, row.shape))
    factor = shuffled(draw.of("rows"), full["rows"], 1, "+-").factor
    return {"offsets": (few, many)}, {"rows": Places(few[owner] + within, factor)}


def _same_owners(small: Sizes, full: Sizes, draw: Draw) -> Arranged:
    """Rows drawn whole: the sums run along them."""
    offsets = _owned(full, 1, draw.of("offsets"))
    return {"offsets": (offsets, offsets)}, {}


def _grouped(operation: str, N: int, K: int) -> FullCall:
    sizes = {"rows": 1024, "n_experts": EXPERTS, "N": N, "K": K}
    drawn, scaled = {"rows": 5 * (EXPERTS - 1), "N": 37}, {"rows": ("A", "C"), "N": ("B", "C")}
    return FullCall(operation, sizes, drawn, scaled=scaled, arrange=_by_expert, why=WHY_ROWS)


CALLS = (
    FullCall("gemm", {"M": 256, "N": VOCAB, "K": HIDDEN}, {"M": 31, "N": 67}, scaled=_TWO, why=WHY_FEW),
    FullCall("router_gemm", {"M": TOKENS, "N": EXPERTS, "K": HIDDEN}, {"M": 61}, scaled={"M": ("A", "C")}),
    FullCall(
        "gemm_beta",
        {"M": TOKENS, "N": HIDDEN, "K": HIDDEN, "alpha": 1.0, "beta": 1.0},
        {"M": 61, "N": 37},
        scaled=_TWO,
    ),
    FullCall(
        "gemm_nn",
        {"M": 64, "N": HIDDEN, "K": VOCAB, "alpha": 1.0, "beta": 0.0},
        {"M": 13, "N": 17},
        {"C": nan},
        _TWO,
        why=WHY_FEW,
    ),
    FullCall(
        "gemm_tn",
        {"M": VOCAB, "N": HIDDEN, "K": 128, "alpha": 1.0, "beta": 0.0},
        {"M": 67, "N": 31},
        {"C": nan},
        _TWO,
        why=WHY_FEW,
    ),
    FullCall(
        "gemm_tn",
        {"M": HIDDEN, "N": HIDDEN, "K": TOKENS, "alpha": 0.5, "beta": -1.0},
        {"M": 31, "N": 37},
        scaled=_TWO,
        variant="tokens",
        why="a sum over 8,192 tokens",
    ),
    FullCall(
        "gemm_tt",
        {"M": HIDDEN, "N": TOKENS, "K": HIDDEN, "alpha": 1.0, "beta": 0.0},
        {"M": 37, "N": 61},
        {"C": nan},
        _TWO,
    ),
    FullCall(
        "batched_gemm",
        {"batch": 24, "M": 512, "N": 512, "K": 64},
        {"batch": 3, "M": 31, "N": 29},
        scaled=_TWO,
        why="two sequences of 512 positions, 12 heads each: with 4,096 the scores are 1.6 GB",
    ),
    _grouped("grouped_gemm", FFN, HIDDEN),
    _grouped("grouped_gemm_nn", HIDDEN, FFN),
    FullCall("gemm_swiglu", {"M": 512, "N": FFN, "K": HIDDEN}, {"M": 31, "N": 37}, scaled=_UP, why=WHY_GATED),
    FullCall(
        "grouped_gemm_swiglu",
        {"rows": 1024, "n_experts": EXPERTS, "N": FFN, "K": HIDDEN},
        {"rows": 5 * (EXPERTS - 1), "N": 37},
        scaled=_UP,
        arrange=_by_expert,
        why=WHY_ROWS,
    ),
    FullCall(
        "grouped_gemm_tn",
        {"rows": 1024, "n_experts": EXPERTS, "M": FFN, "N": HIDDEN, "beta": 0.0},
        {"M": 31, "N": 37},
        {"C": nan},
        _TWO,
        arrange=_same_owners,
        why=WHY_ROWS,
    ),
)
