"""Faults of the matrix products: what precision they compute in, what they read and write."""

from __future__ import annotations

from .fault import Fault
from .helpers import BFLOAT16, SHORTENED, TF32

GEMMS = ("gemm", "gemm_beta", "gemm_nn", "gemm_tn", "gemm_tt", "batched_gemm")
GROUPED = ("grouped_gemm", "grouped_gemm_nn", "grouped_gemm_tn")
ATTENTION = ("flash_attention", "attention_forward", "attention_backward", "attention_scores", "attention_output")
_TILE = """\
        vec column[TILE_VECS];
        UNROLLED for (int j = 0; j < TILE_VECS; j++) column[j] = load(b + j * LANES);
        UNROLLED for (int i = 0; i < rows; i++) {
            const float factor = a[i * a_row + k * a_col];
"""


def _short_inputs(dropped: int) -> str:
    """The tile with both factors rounded."""
    return f"""\
        vec column[TILE_VECS];
        float short_b[TILE_COLUMNS];
        for (int j = 0; j < TILE_COLUMNS; j++) short_b[j] = rounded(b[j], {dropped});
        UNROLLED for (int j = 0; j < TILE_VECS; j++) column[j] = load(short_b + j * LANES);
        UNROLLED for (int i = 0; i < rows; i++) {{
            const float factor = rounded(a[i * a_row + k * a_col], {dropped});
"""


# Every product of the library takes this way, those of attention too.
TF32_INPUTS = Fault(
    "TF32 inputs", (*GEMMS, *GROUPED, *ATTENTION), "vector/tile.c", _TILE, _short_inputs(TF32), "TF32", SHORTENED
)
BFLOAT16_INPUTS = Fault(
    "bfloat16 inputs", GEMMS, "vector/tile.c", _TILE, _short_inputs(BFLOAT16), "bfloat16|bf16", SHORTENED
)
FAULTS = (TF32_INPUTS, BFLOAT16_INPUTS)
