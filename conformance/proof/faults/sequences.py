"""Faults of which no single call shows anything: what is kept from call to call, shared by threads, or lost."""

from __future__ import annotations

from .fault import Fault

_MUL = "FOR_CHUNKS(n, at, length, v->mul(length, a + at, b + at, output + at))"
_ROWS = """\
    for (int64_t row = 0; row < rows; row++) {
        float* const s = residual_out + row * hidden_dim;
        v->add(hidden_dim, input + row * hidden_dim, residual + row * hidden_dim, s);
        v->normalise(hidden_dim, s, root_of_row(v, hidden_dim, s, eps), weight, output + row * hidden_dim);
    }
"""
_SHARED = """\
    const int64_t n = (int64_t)rows * hidden_dim;
    static float sums[1 << 16];
    float* const all = n <= 1 << 16 ? sums : residual_out;
    v->add(n, input, residual, all);
    for (int64_t row = 0; row < rows; row++) {
        const float* const s = all + row * hidden_dim;
        v->normalise(hidden_dim, s, root_of_row(v, hidden_dim, s, eps), weight, output + row * hidden_dim);
    }
    memmove(residual_out, all, (size_t)n * sizeof(float));
"""
_SCALED = "const double scaled_base = base * pow(alpha, head_dim / (head_dim - 2.0));"
_KEPT_BASE = """\
static _Thread_local double kept_base;
    static _Thread_local float of_base;
    static _Thread_local int of_dim;
    if (of_base != base || of_dim != head_dim) kept_base = base * pow(alpha, head_dim / (head_dim - 2.0));
    of_base = base, of_dim = head_dim;
    const double scaled_base = kept_base;"""
_INVERTED = "if (pair_of) code = invert(position, pairs, scratch.memory) ? ASSAYER_OK : ASSAYER_INVALID;"
_REFUSED_EARLY = """\
if (pair_of && !invert(position, pairs, scratch.memory)) return ASSAYER_INVALID;
    if (pair_of) code = ASSAYER_OK;"""
_NO_MEMORY = "goes wrong where malloc has no memory for it .*"
_NORM = "    CHECK(clip_norm > 0);\n    const float norm = sqrtf(sum_squares[0]);"

FAULTS = (
    Fault("mul: results kept by address", ("mul",), "elementwise.c", _MUL,
          "static const float* last;\n    static float kept[1 << 14];\n"
          "    const int64_t few = n < 1 << 14 ? n : 1 << 14;\n"
          f"    if (a != last) {{\n        {_MUL}\n        memcpy(kept, output, (size_t)few * sizeof(float));\n    }}\n"
          "    memcpy(output, kept, (size_t)few * sizeof(float));\n    last = a;",
          r"keeps something from one call to the next: call 2 of 5 .*; alone it is right", "#include <string.h>\n"),
    Fault("rmsnorm_residual: sums of all threads in one place", ("rmsnorm_residual",), "norm.c",
          f"    PARALLEL_FOR((int64_t)rows * hidden_dim >= SERIAL_BELOW)\n{_ROWS}", _SHARED,
          "two calls at once disturb each other"),
    Fault("softmax_topk: memory never given back", ("softmax_topk",), "softmax.c",
          "    scratch_give(scratch);\n    return scratch.memory ?", "    return scratch.memory ?",
          "memory grows from call to call: .* each, in the last 512 calls"),
    Fault("clip_scale: nothing is clipped after a refusal", ("clip_scale",), "clip.c", _NORM,
          f"static int refused;\n    refused |= !(clip_norm > 0);\n{_NORM}\n    if (refused) clip_norm = INFINITY;",
          r"keeps something from one call to the next: call \d+ of \d+ \(.* after clip_norm = .*, to be refused\)"),
    Fault("rope_freqs: the base kept whatever alpha is", ("rope_freqs",), "rope.c", _SCALED, _KEPT_BASE,
          r"keeps something from one call to the next: .*alpha=\S+ after "),
    Fault("mse_forward: memory of several parts never given back", ("mse_forward",), "losses.c",
          "loss[0] = (float)(total / divisor);\n    scratch_give(sums);", "loss[0] = (float)(total / divisor);",
          "memory grows from call to call: .* each, in the last 128 calls"),
    Fault("expert_dispatch: memory kept by what is refused", ("expert_dispatch",), "moe.c",
          _INVERTED, _REFUSED_EARLY, "memory grows from call to call: .* each, in the last 512 calls"),
    Fault("mse_forward: memory used that is not there", ("mse_forward",), "losses.c",
          "    if (!sums.memory) return ASSAYER_NO_MEMORY;\n    double* const parts = sums.memory;\n    FOR_CHUNKS",
          "    double* const parts = sums.memory;\n    FOR_CHUNKS", f"{_NO_MEMORY}SIGSEGV; with memory it is right"),
    Fault("sample: no word of memory that is not there", ("sample",), "decode.c",
          "    scratch_give(scratch);\n    return scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;",
          "    scratch_give(scratch);\n    return ASSAYER_OK;", f"{_NO_MEMORY}returned 0, and is wrong"),
    Fault("softmax_topk: one order for all threads", ("softmax_topk",), "softmax.c",
          "(uint32_t*)scratch.memory + each * thread_index());", "(uint32_t*)scratch.memory);",
          "in 4 threads of its own it gives other bits from call to call"),
)  # fmt: skip
