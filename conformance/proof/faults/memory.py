"""Faults that are no wrong formula: memory, threads, what is left from before, refusals, crashes."""

from __future__ import annotations

from .fault import Fault

_SILU = "FOR_CHUNKS(n, at, length, v->silu(length, input + at, output + at))"
_SWIGLU = "FOR_CHUNKS(n, at, length, v->swiglu(length, gate + at, up + at, output + at))"
_SOFTMAX = "const double total = v->exp_shifted(cols, x, v->maximum(cols, x), y);"
_IN_PLACE = """\
const float row_max = v->maximum(cols, x);
        v->shift(cols, x, row_max, 0.0f, (float*)x);
        const double total = v->exp_shifted(cols, x, 0.0f, y);"""
_NORMALISE = "v->normalise(hidden_dim, x, root_of_row(v, hidden_dim, x, eps), weight, output + row * hidden_dim);"
_ADDED_UP = "        for (int64_t i = 0; i < list.count; i++) total += parts[i];"
_TO_AND_FRO = """\
        float sum = 0;
        const int64_t last = calls++ % 2 ? list.count - 1 : 0;
        for (int64_t i = 0; i < list.count; i++) sum += (float)parts[last ? last - i : i];
        total = sum;"""
_FREQS = "freqs[position * (head_dim / 2) + d] = (float)((double)position * frequency);\n    }\n    return "
_SCATTER = """\
    PARALLEL_FOR(shares > 1)
    for (int64_t share = 0; share < shares; share++)
        for (int64_t i = 0; i < num_indices; i++)
            if (indices[i] >= 0 && indices[i] % shares == share)
                v->axpy(width, 1.0f, grad_output + i * width, grad_weight + indices[i] * width);"""
_RACING = """\
    (void)v, (void)shares;
    _Pragma("omp parallel for num_threads(4) schedule(static, 1)")
    for (int64_t i = 0; i < num_indices; i++)
        for (int64_t j = 0; j < width && indices[i] >= 0; j++) {
            volatile float* const sum = grad_weight + indices[i] * width + j;
            const float before = *sum;
            if (j % 16 == 0) sched_yield();
            *sum = before + grad_output[i * width + j];
        }"""

FAULTS = (
    Fault("silu: one element past the end written", ("silu",), "elementwise.c",
          _SILU, f"{_SILU}\n    output[n] = 0;", "wrote past the end of output"),
    Fault("rmsnorm: one element before written", ("rmsnorm",), "norm.c",
          _NORMALISE, f"{_NORMALISE}\n        output[-1] = 0;", "wrote before the beginning of output"),
    Fault("swiglu: one element past the end read", ("swiglu",), "elementwise.c",
          _SWIGLU, f"{_SWIGLU}\n    (void)*(const volatile float*)(up + n);", "read past the end of up"),
    Fault("softmax: one element before read", ("softmax_backward",), "softmax.c",
          "const int64_t at = row * cols;",
          "const int64_t at = row * cols;\n        (void)*(const volatile float*)(d_output + at - 1);",
          "read before the beginning of d_output"),
    Fault("softmax: computed in place of the input", ("softmax",), "softmax.c", _SOFTMAX, _IN_PLACE,
          "input input was changed"),
    Fault("mul: one element never written", ("mul",), "elementwise.c",
          "v->mul(length, a + at, b + at, output + at)", "v->mul(length - (n == 1025), a + at, b + at, output + at)",
          "never written|unwritten"),
    Fault("multi_sum_squares: another order each time", ("multi_sum_squares",), "clip.c",
          _ADDED_UP, _TO_AND_FRO, "second run differs", "static int calls;\n"),
    Fault("scatter_add: threads race", ("scatter_add",), "embedding.c", _SCATTER, _RACING,
          "second run differs|differs from run to run", "#include <sched.h>\n"),
    Fault("rmsnorm_backward: sums start from what was left", ("rmsnorm_backward",), "norm.c",
          "    memset(d_weight, 0, (size_t)b->n * sizeof(float));\n", "", "second run differs"),
    Fault("clip_scale: the first call's norm kept", ("clip_scale",), "clip.c",
          "const float norm = sqrtf(sum_squares[0]);",
          "static float norm = -1;\n    if (norm < 0) norm = sqrtf(sum_squares[0]);",
          "last case's output|keeps something from one call"),
    Fault("argmax: a row too long for it", ("argmax",), "decode.c",
          "    CHECK_ARRAY(output, batch);\n    PARALLEL_FOR((int64_t)batch",
          "    CHECK_ARRAY(output, batch);\n    if (vocab_size > 4096) abort();\n    PARALLEL_FOR((int64_t)batch",
          "SIGABRT", "#include <stdlib.h>\n"),
    Fault("embedding: offsets in bytes", ("embedding",), "embedding.c",
          "memcpy(output + i * width, weight + indices[i] * width,",
          "memcpy(output + i * width, weight + indices[i] * width * 4,", "read past the end of weight|SIGSEGV"),
    Fault("zero_grad: waits for a second block", ("zero_grad",), "optimizer.c",
          "    CHECK_ARRAY(grad, size);\n    FOR_CHUNKS(size, at, length, memset",
          "    CHECK_ARRAY(grad, size);\n    for (volatile int arrived = size > 8192 ? 1 : 2; arrived < 2;) continue;\n"
          "    FOR_CHUNKS(size, at, length, memset", "no answer in 1 s", limit_s=1.0),
    Fault("products: stores taken for aligned", ("gemm",), "vector/vec.h",
          "aligned(4), may_alias", "aligned(4 * LANES), may_alias", "crashed at an address"),
    Fault("sizes that overflow let through", ("gemm",), "check.h",
          "        room /= sizes[i];\n", "", "a call with .* is to be refused"),
    Fault("offsets whose last run descends let through", ("grouped_gemm", "grouped_gemm_tn"), "check.h",
          "for (int e = 0; e < n_experts; e++) fit &= offsets[e] <= offsets[e + 1];",
          "for (int e = 0; e + 1 < n_experts; e++) fit &= offsets[e] <= offsets[e + 1];",
          r"a call with offsets\[.*\] = .* is to be refused"),
    Fault("permutations judged by their sum", ("expert_dispatch", "expert_combine_backward"), "moe.c",
          "    for (int64_t i = 0; i < rows; i++) {\n        if (inverse[position[i]] >= 0) return false;\n"
          "        inverse[position[i]] = (int32_t)i;\n    }\n    return true;",
          "    int64_t sum = 0;\n    for (int64_t i = 0; i < rows; i++) {\n        sum += position[i];\n"
          "        inverse[position[i]] = (int32_t)i;\n    }\n    return sum == rows * (rows - 1) / 2;",
          r"a call with position\[0\] = 1, position\[1\] = 1, .* is to be refused"),
    Fault("bytes that wrap around 64 bits let through", ("batched_gemm", "mse_forward"), "check.h",
          "        room /= sizes[i];\n    }\n    return room >= 1;",
          "        element *= (size_t)sizes[i];\n    }\n    return room >= 1 && (int64_t)element >= 0;",
          "a call with (batch|n) = .* is to be refused"),
    Fault("topk_sample: k not checked", ("topk_sample",), "decode.c",
          "CHECK(k >= 1 && temperature >= 0);", "CHECK(temperature >= 0);", "a call with k = .* is to be refused"),
    Fault("rmsnorm_residual: null not checked", ("rmsnorm_residual",), "norm.c",
          "    CHECK_ARRAY(output, rows, hidden_dim);\n    CHECK_ARRAY(residual_out, rows, hidden_dim);\n",
          "    CHECK_ARRAY(output, rows, hidden_dim);\n", "a call with residual_out = null is to be refused"),
    Fault("clip_scale: NaN let through", ("clip_scale",), "clip.c",
          "    CHECK_ARRAY(scale, 1);\n    CHECK(clip_norm > 0);",
          "    CHECK_ARRAY(scale, 1);\n    CHECK(!(clip_norm <= 0));", "a call with clip_norm = nan is to be refused"),
    Fault("embedding: indices not checked", ("embedding",), "embedding.c",
          "CHECK(all_within(indices, num_indices, 0, vocab_size));", "",
          r"a call with indices\[0\] = .* is to be refused"),
    Fault("embedding: indices checked up to 131,072 of them", ("embedding",), "embedding.c",
          "CHECK(all_within(indices, num_indices, 0, vocab_size));",
          "CHECK(all_within(indices, num_indices < 131072 ? num_indices : 131072, 0, vocab_size));",
          r"a call with indices\[131074\] = .* is to be refused"),
    Fault("grad_clip: written before it is refused", ("grad_clip",), "clip.c",
          "    CHECK_ARRAY(total_norm, 1);\n    CHECK(clip_norm > 0);\n    const double",
          "    CHECK_ARRAY(total_norm, 1);\n    total_norm[0] = 0;\n    CHECK(clip_norm > 0);\n    const double",
          "returned -2 and wrote total_norm"),
    Fault("rope_freqs: another code", ("rope_freqs",), "rope.c",
          f"{_FREQS}ASSAYER_OK;", f"{_FREQS}1;", "returned 1"),
)  # fmt: skip
