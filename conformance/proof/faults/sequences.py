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
)  # fmt: skip
