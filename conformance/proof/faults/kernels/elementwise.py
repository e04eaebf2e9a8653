"""Faults of the kernels that walk arrays element by element: elementwise operations, the optimiser, clipping."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault
from conformance.proof.faults.run_mode import BY_ADDRESSES

_BFLOAT16, _FLOAT16 = "#include <cuda_bf16.h>\n", "#include <cuda_fp16.h>\n"
_MUL = "y[0] = x[0] * x[1];"
_SCALE = """\
    float factor;
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] ="""
_CORRECTION = "1.0 / (1.0 - std::pow(static_cast<double>(beta), step))"

FAULTS = (
    Fault("map.cuh: tail after the last pack left out", ("add", "mul"), "map.cuh",
          "i < n - WIDTH * packs.count; i += threads", "i < (packs.count ? packs.first : n); i += threads",
          "tail left out|never written"),
    Fault("map.cuh: the tail's elements counted from the beginning", ("mul",), "map.cuh",
          "visit_pack<1>(arrays, i < packs.first ? i : i + WIDTH * packs.count, f);", "visit_pack<1>(arrays, i, f);",
          "never written"),
    Fault("map.cuh: packs taken for aligned", ("scale",), "map.cuh",
          "const int64_t alone = min64(first, n);", "const int64_t alone = 0;",
          "misaligned address", run_mode=BY_ADDRESSES, cases="plain"),
    Fault("map.cuh: bound one too far", ("scale",), "map.cuh",
          "i < n - WIDTH * packs.count; i += threads", "i <= n - WIDTH * packs.count; i += threads",
          "wrote past the end of output|read past the end of input"),
    Fault("map.cuh: more threads than a block has", ("silu",), "map.cuh",
          "MAP_THREADS, 0, stream_of(stream)>>>", "2048, 0, stream_of(stream)>>>", "cudaErrorInvalidConfiguration"),
    Fault("functions.cuh: the exponent's sign", ("silu",), "functions.cuh",
          "expf(-x)", "expf(x)", "matches: .*sign of the exponent"),
    Fault("elementwise.cu: silu_backward without its second term", ("silu_backward",), "elementwise.cu",
          "y[0] = x[1] * s * (1.0f + x[0] * (1.0f - s));", "y[0] = x[1] * s;", "matches: .*second term missing"),
    Fault("elementwise.cu: swiglu through bfloat16", ("swiglu",), "elementwise.cu",
          "y[0] = x[0] * sigmoid(x[0]) * x[1];",
          "y[0] = __bfloat162float(__float2bfloat16(x[0] * sigmoid(x[0]) * x[1]));",
          "stored through bfloat16", _BFLOAT16),
    Fault("elementwise.cu: swiglu_backward's gradients exchanged", ("swiglu_backward",), "elementwise.cu",
          "{d_gate, d_up}", "{d_up, d_gate}", "matches: .*gradients exchanged"),
    # What nvcc -use_fast_math does to results.
    Fault("elementwise.cu: subnormal results flushed", ("mul",), "elementwise.cu",
          _MUL, "y[0] = x[0] * x[1];\n        if (fabsf(y[0]) < 0x1p-126f) y[0] *= 0.0f;", "subnormal|flush"),
    Fault("elementwise.cu: scale through float16", ("scale",), "elementwise.cu",
          f"{_SCALE} x[0] * factor;", f"{_SCALE} __half2float(__float2half(x[0] * factor));",
          "float16", _FLOAT16),
    Fault("optimizer.cu: eps inside the root", ("adamw_step", "multi_adamw"), "optimizer.cu",
          "(sqrtf(y[2] * correction2) + eps)", "sqrtf(y[2] * correction2 + eps)", "matches: .*eps inside the root"),
    Fault("optimizer.cu: no bias correction", ("adamw_step",), "optimizer.cu",
          _CORRECTION, "1.0", "matches: .*no bias correction"),
    Fault("optimizer.cu: sgd_step without its decay", ("sgd_step",), "optimizer.cu",
          "x[0] - lr * (x[1] + decay * x[0])", "x[0] - lr * x[1]", "matches: .*decay ignored"),
    Fault("optimizer.cu: Nesterov's step for every momentum", ("momentum_step",), "optimizer.cu",
          "if (nesterov) return map(arrays", "if (nesterov >= 0) return map(arrays", "matches: .*Nesterov always"),
    Fault("optimizer.cu: adam_step without its decay", ("adam_step",), "optimizer.cu",
          "update(decayed, y);", "update(x, y);", "matches: .*decay ignored"),
    Fault("optimizer.cu: one decay for all", ("multi_adamw",), "optimizer.cu",
          "batch.values[i]", "batch.values[0]", "matches: .*one decay for all"),
    Fault("optimizer.cu: size taken in elements, not bytes", ("zero_grad",), "optimizer.cu",
          "static_cast<size_t>(size) * sizeof(float)", "static_cast<size_t>(size)",
          "matches: .*size taken in bytes|never written"),
    Fault("lists.cuh: an array's last chunk left out", ("multi_scale",), "lists.cuh",
          "batch.starts[i] + ceil_div(sizes[at + i], CHUNK);",
          "batch.starts[i] + (sizes[at + i] > CHUNK ? sizes[at + i] / CHUNK : 1);", "never written"),
    Fault("lists.cuh: the arrays of one launch alone", ("multi_adamw", "multi_sum_squares", "multi_scale"), "lists.cuh",
          "at < count; at += ARRAYS_AT_MOST", "at < 1; at += ARRAYS_AT_MOST",
          "never written|matches|zero|NaN"),
    Fault("lists.cuh: the array before", ("multi_scale",), "lists.cuh",
          "if (starts[middle] <= chunk) low = middle;", "if (starts[middle] < chunk) low = middle;",
          "matches: .*first array alone"),
    Fault("clip.cu: infinities are numbers", ("multi_nonfinite",), "clip.cu",
          "isfinite(x[0]) ? 0.0f : 1.0f", "isnan(x[0]) ? 1.0f : 0.0f", "matches: .*NaN alone"),
    Fault("clip.cu: the last of the chunks' sums left out", ("multi_sum_squares",), "clip.cu",
          "i < count; i += TOTAL_THREADS) sum", "i < count - 1; i += TOTAL_THREADS) sum", "matches|zero|missing"),
    Fault("clip.cu: 1e-6 added to the norm", ("grad_clip",), "clip.cu",
          "Scale scale{clip_factor(norm, clip_norm)};", "Scale scale{clip_norm / (norm + 1e-6f)};",
          r"matches: .*norm \+ 1e-6"),
    Fault("clip.cu: always scaled", ("clip_scale",), "clip.cu",
          "return norm > clip_norm ? clip_norm / norm : 1.0f;", "return clip_norm / norm;", "matches: .*always scaled"),
    Fault("clip.cu: written before it is refused", ("grad_clip",), "clip.cu",
          "    CHECK_ARRAY(total_norm, 1);\n    CHECK(clip_norm > 0);\n    static_assert",
          "    CHECK_ARRAY(total_norm, 1);\n    cudaMemsetAsync(total_norm, 0, sizeof(float), stream_of(stream));\n"
          "    CHECK(clip_norm > 0);\n    static_assert", "returned -2 and wrote total_norm"),
    Fault("clip.cu: the first call's norm kept", ("clip_scale",), "clip.cu",
          "const float norm = sqrtf(sum_squares[0]);",
          "static float norm = sqrtf(sum_squares[0]);",
          "last case's output|keeps something from one call"),
)  # fmt: skip
