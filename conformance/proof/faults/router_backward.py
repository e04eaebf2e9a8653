"""Faults of the router's products and of its gradient in one pass."""

from __future__ import annotations

from .fault import Fault
from .sixteen import both_formats

_SOURCE = "router_backward.c"
_BOTH = ("topk_router_backward", *both_formats("topk_router_backward"))

FAULTS = (
    Fault("router_gemm: B stored the other way", ("router_gemm",), "gemm.c",
          "return cuda_gemm(A, B, C, M, N, K, stream);",
          "return cuda_gemm_nn(A, B, C, M, N, K, 1.0f, 0.0f, stream);", "matches: .*B stored the other way"),
    Fault("16-bit router_gemm: added to C", both_formats("router_gemm"), "halves/gemm.h",
          "(struct half_sums){FORMAT, true, 1.0f, 0.0f}", "(struct half_sums){FORMAT, true, 1.0f, 1.0f}",
          "C: added to what was there"),
    Fault("router_backward: through the weights alone", _BOTH, _SOURCE,
          "for (int64_t e = 0; e < n; e++) row[e] += (float)(r->factor",
          "for (int64_t e = 0; e < 0; e++) row[e] += (float)(r->factor",
          "matches: .*aux_loss_backward: not differentiated"),
    Fault("router_backward: assigned, not added", _BOTH, _SOURCE,
          "row[e] += (float)(r->factor", "row[e] = (float)(r->factor", "matches: .*weights not differentiated"),
    Fault("router_backward: the sum over experts left out", _BOTH, _SOURCE,
          "(r->f_counts[e] - inner)", "(r->f_counts[e] + 0 * inner)", "matches: .*softmax_backward: sum missing"),
    Fault("router_backward: scale ignored", _BOTH, _SOURCE,
          "(double)scale * alpha * n_experts /", "0 * (double)scale + (double)alpha * n_experts /",
          "matches: .*scale (ignored|taken as 1)"),
    Fault("router_backward: probabilities of the first token for all", _BOTH, _SOURCE,
          "r->probs + token * n;", "r->probs + token * 0;", "matches: .*first row of probs read for all"),
    Fault("router_backward: top_k not checked", _BOTH, _SOURCE,
          "    CHECK(r->top_k <= r->n_experts);\n", "", "is to be refused|does not refuse|refuse"),
    Fault("router_backward: indices not checked", _BOTH, _SOURCE,
          "    CHECK(all_within(r->indices, r->tokens * r->top_k, 0, r->n_experts));\n", "",
          "is to be refused|does not refuse|refuse|crashed|SIG|past the end"),
)  # fmt: skip
