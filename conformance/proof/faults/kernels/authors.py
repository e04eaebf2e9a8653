"""Faults as an author of kernels makes them: a slip in each of twelve families, written without a look at others."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault

_ATTENTION = ("flash_attention", "attention_forward")

FAULTS = (
    Fault(
        "attention_forward.cuh: sum not brought under the new maximum",
        _ATTENTION,
        "attention_forward.cuh",
        "of[r] = {row_max, of[r].sum * shrink + sum};",
        "of[r] = {row_max, of[r].sum + sum};",
        "not (rescaled|brought under)|every row times a factor of its own.*only where",
    ),
    Fault(
        "attention_backward.cuh: last queries past a whole tile",
        ("attention_backward",),
        "attention_backward.cuh",
        "tiles = ceil_div(s.queries() - start, LINES);",
        "tiles = (s.queries() - start) / LINES;",
        "d_K.*d_V.*zero|(queries|q_len|positions).*(left out|too small)|left out.*(queries|positions)",
    ),
    Fault(
        "matrix_tile.cuh: one number past the depth",
        ("gemm_bf16", "gemm_fp16"),
        "matrix_tile.cuh",
        "if ((ALONG ? lines : depth) > 0 && i < along)",
        "if ((ALONG ? lines : depth) > 0 && i <= along)",
        "read past the end of (A|B)|K.*(one too large|one more|next row)",
    ),
    Fault(
        "layernorm.cu: lanes past the row in the variance",
        ("layernorm",),
        "layernorm.cu",
        "const float deviation = L::column(i) < left ? items[i] - mean : 0.0f;",
        "const float deviation = items[i] - mean;",
        "rstd.*too small|row.*(padded|filled)|zeros.*variance",
    ),
    Fault(
        "router.cu: last warp's tokens not counted",
        ("topk_router",),
        "router.cu",
        "for (int other = 1; other < L::TEAMS; other++)",
        "for (int other = 1; other < L::TEAMS - 1; other++)",
        "f_counts.*(too small|tokens)|tokens.*(left out|not counted)",
    ),
    Fault(
        "select.cuh: sum of one entry where that of 32 is carried on",
        ("sample", "topk_sample", "topp_sample"),
        "select.cuh",
        "before = __shfl_sync(ALL_LANES, to, WARP - 1);",
        "before = __shfl_sync(ALL_LANES, to, 0);",
        "output: other entries of logits: later ones",
    ),
    Fault(
        "embedding.cu: first part of an index in several pieces",
        ("scatter_add",),
        "embedding.cu",
        "for (int64_t part = warp; part < count && column < g.cols; part += ADDERS)",
        "for (int64_t part = warp + 1; part < count && column < g.cols; part += ADDERS)",
        "(often|repeated|indices|positions).*(left out|dropped|missing)|(left out|not added).*(indices|positions)",
    ),
    Fault(
        "moe.cu: weights of the sorted row",
        ("expert_combine",),
        "moe.cu",
        "const float weight = weights ? weights[pair] : 1.0f;",
        "const float weight = weights ? weights[there ? row : 0] : 1.0f;",
        "matches: .*weights.*(position|sorted|row)",
    ),
    Fault(
        "pooling.cu: one window too many",
        ("avg_pool2d_backward",),
        "pooling.cu",
        "(reach - s.kernel) / s.stride + 1, lesser",
        "(reach - s.kernel) / s.stride, lesser",
        "kernel.*(one too large|one more)|one (window|row|column) too many",
    ),
    Fault(
        "recurrent_backward.cu: reset gate missing",
        ("gru_backward",),
        "recurrent_backward.cu",
        "d_h[2 * n] = d_n * r;",
        "d_h[2 * n] = d_n;",
        "matches: .*reset",
    ),
    Fault(
        "optimizer.cu: arrays counted anew in each batch",
        ("multi_adamw_bf16", "multi_adamw_fp16"),
        "optimizer.cu",
        "first += batch.count;",
        "first += 0;",
        "copies: .*another draw",
    ),
    Fault(
        "strided_reduce.cu: end of each part",
        ("reduce_strided",),
        "strided_reduce.cu",
        "return min64(first(part) + ceil_div(each, parts), each);",
        "return min64(first(part) + each / parts, each);",
        "(numbers|part|end).*(left out|missing)",
    ),
)
