"""Faults of the kernels of the router's logits and of its gradient."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault

_SOURCE = "router_backward.cu"
_BOTH = ("topk_router_backward", "topk_router_backward_bf16")

FAULTS = (
    Fault("gemm.cu: router_gemm's B stored the other way", ("router_gemm",), "gemm.cu",
          "return cuda_gemm(A, B, C, M, N, K, stream);",
          "return cuda_gemm_nn(A, B, C, M, N, K, 1.0f, 0.0f, stream);", "matches: .*B stored the other way"),
    Fault("gemm_halves.cu: router_gemm's B stored the other way", ("router_gemm_bf16",), "gemm_halves.cu",
          "return multiply_halves(Format(), one(A, false, B, true, C, M, N, K), stream);",
          "ProductOf<half_bits, float> p = one(A, false, B, true, C, M, N, K);\n"
          "    p.b_stride = N;\n    return multiply_halves(Format(), p, stream);",
          "matches: .*B stored the other way|read past the end"),
    Fault("matrix.cuh: slices of the logits' sums not summed apart", ("router_gemm_bf16",), "matrix.cuh",
          "typename Format::Number, TO_FLOAT>(a, b,", "typename Format::Number, !A_ALONG && !B_ALONG>(a, b,",
          "cut off|toward zero|too small"),
    Fault("router_backward.cu: through the weights alone", _BOTH, _SOURCE,
          "items[i] += probs[i] * (r.factor * (counts[i] - inner));",
          "items[i] += 0.0f * probs[i] * (r.factor * (counts[i] - inner));",
          "matches: .*aux_loss_backward: not differentiated"),
    Fault("router_backward.cu: assigned, not added", _BOTH, _SOURCE,
          "items[i] += probs[i] * (r.factor", "items[i] = probs[i] * (r.factor",
          "matches: .*weights not differentiated"),
    Fault("router_backward.cu: sum of each thread's own experts", _BOTH, _SOURCE,
          "    inner = team_sum<L::THREADS>(inner);\n", "", "matches: "),
    Fault("router_backward.cu: scale ignored", _BOTH, _SOURCE,
          "static_cast<double>(scale) * alpha * n_experts", "static_cast<double>(alpha) * n_experts",
          "matches: .*scale (ignored|taken as 1)"),
    Fault("router_backward.cu: the last token left out", _BOTH, _SOURCE,
          "if (token >= r.tokens) return;", "if (token + (r.tokens > 1) >= r.tokens) return;", "never written"),
    Fault("router_backward.cu: top_k not checked", _BOTH, _SOURCE,
          "    CHECK(r.top_k <= r.n_experts);\n", "", "is to be refused|does not refuse|refuse"),
)  # fmt: skip
