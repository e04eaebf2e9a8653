"""Faults of the elementwise operations and of softmax, top-k and the loss."""

from __future__ import annotations

from .fault import Fault
from .helpers import BFLOAT16, SHORTENED

_SCALE = "v->scale(length, input + at, scale, output + at)"
_SWIGLU = "v->swiglu(length, gate + at, up + at, output + at)"
_SHORT = "vector/short_rows.c"
_MUL = "v->mul(length, a + at, b + at, output + at)"

FAULTS = (
    Fault("silu: the exponent's sign", ("silu",), "vector/elementwise.c",
          "y[i] = x[i] * sigmoid_lane(x[i]);", "y[i] = x[i] * sigmoid_lane(-x[i]);", "matches: .*sign of the exponent"),
    Fault("silu: 0 below -20", ("silu",), "vector/elementwise.c",
          "y[i] = x[i] * sigmoid_lane(x[i]);", "y[i] = x[i] < -20.0f ? 0.0f : x[i] * sigmoid_lane(x[i]);",
          "matches: .*0 below -20"),
    Fault("silu_backward: a term missing", ("silu_backward",), "vector/elementwise.c",
          "dx[i] = dy[i] * s * (1.0f + x[i] * (1.0f - s));", "dx[i] = dy[i] * s;", "matches: .*second term missing"),
    Fault("swiglu: cut to bfloat16", ("swiglu",), "elementwise.c", _SWIGLU,
          f"{_SWIGLU}; for (int64_t i = at; i < at + length; i++) output[i] = truncated(output[i], {BFLOAT16})",
          "cut off, not rounded, to bfloat16", SHORTENED),
    Fault("swiglu_backward: gradients exchanged", ("swiglu_backward",), "elementwise.c",
          "d_output + at, d_gate + at, d_up + at)", "d_output + at, d_up + at, d_gate + at)",
          "matches: .*gradients exchanged"),
    Fault("add: last elements left out", ("add",), "elementwise.c",
          "FOR_CHUNKS(n, at, length, v->add(", "FOR_CHUNKS(n - n % 32, at, length, v->add(",
          "tail left out|never written"),
    Fault("mul: subnormal results flushed", ("mul",), "elementwise.c", _MUL,
          f"{_MUL}; for (int64_t i = at; i < at + length; i++)"
          " if (output[i] > -0x1p-126f && output[i] < 0x1p-126f) output[i] *= 0.0f",
          "subnormal|flush"),
    Fault("scale: stored through bfloat16", ("scale",), "elementwise.c", _SCALE,
          f"{_SCALE}; for (int64_t i = at; i < at + length; i++) output[i] = rounded(output[i], {BFLOAT16})",
          "stored through bfloat16", SHORTENED),
    Fault("softmax: maximum of the first warp", ("softmax",), "softmax.c",
          "v->maximum(cols, x), y)", "v->maximum(cols < 32 ? cols : 32, x), y)",
          "matches: .*maximum of the first 32 columns"),
    Fault("softmax: maximum of the first block", ("softmax",), "softmax.c",
          "v->maximum(cols, x), y)", "v->maximum(cols < 1024 ? cols : 1024, x), y)",
          "matches: .*maximum of the first 1024 columns"),
    Fault("softmax: the sum of the row before", ("softmax",), "softmax.c",
          "        v->scale(cols, y, (float)(1 / total), y);",
          "        v->scale(cols, y, (float)(1 / (row % 4 == 3 ? before : total)), y);\n        before = total;",
          "rows? .*(factor|times)|times .*row|previous row|row before", "static double before;\n"),
    Fault("softmax: of a short row the largest left out", ("softmax",), _SHORT,
          "e[j] = exp_lane(x[j] - max);", "e[j] = exp_lane(x[j]);", "matches: .*maximum"),
    Fault("softmax: of a short row the largest of the first four", ("softmax",), _SHORT,
          "max = x[j] > max ? x[j] : max;", "max = x[j % 4] > max ? x[j % 4] : max;",
          "matches: .*maximum of the first 4 columns"),
    Fault("softmax: the last rows of a task left out", ("softmax",), "softmax.c",
          "softmax_rows(v, min64(each, rows - row), cols, input",
          "softmax_rows(v, min64(each, (rows - row) / 4 * 4), cols, input",
          "never written"),
    Fault("softmax_backward: of a short row the sum of the first half", ("softmax_backward",), _SHORT,
          "j < width; j++) inner +=", "j < width / 2; j++) inner +=", "sum"),
    Fault("softmax_backward: sum missing", ("softmax_backward",), "softmax.c",
          "(float)v->dot(cols, y, dy), 1.0f", "0.0f, 1.0f", "matches: .*sum missing"),
    Fault("softmax_topk: ties by higher index", ("softmax_topk",), "order.c",
          "return a > b ||", "return a >= b ||", "matches: .*ties by higher index"),
    Fault("softmax_topk: maximum of the first warp", ("softmax_topk",), "softmax.c",
          "renormalise(v, x, chosen, k, weights);",
          "renormalise(v, x, chosen, k, weights);\n"
          "    const float early = v->maximum(cols < 32 ? cols : 32, x);\n"
          "    for (int j = 0; j < k && x[chosen[0]] - early > 88.0f; j++)\n"
          "        weights[j] = x[chosen[j]] - early > 88.0f ? NAN : 0.0f; /* infinity over infinity */",
          "matches: .*maximum of the first 32 columns, chosen by logits"),
    Fault("softmax_topk_backward: the others never cleared", ("softmax_topk_backward",), "softmax.c",
          "    memset(dx, 0, (size_t)cols * sizeof(float));\n", "", "never written"),
    Fault("cross_entropy_forward: mean over all rows", ("cross_entropy_forward",), "loss.c",
          "total / (double)counted", "total / (double)batch_seq", "matches: .*mean over all rows"),
    Fault("cross_entropy_forward: logarithm of the probabilities", ("cross_entropy_forward",), "loss.c",
          "v->shift(cols, x, row_max, (float)log(v->exp_sum(cols, x, row_max)), log_probs + row * cols);",
          "const float sum = (float)v->exp_sum(cols, x, row_max);\n"
          "        for (int64_t j = 0; j < cols; j++) log_probs[row * cols + j] = logf(expf(x[j] - row_max) / sum);",
          "matches: .*logarithm of the probabilities"),
    Fault("cross_entropy_backward: onehot not scaled", ("cross_entropy_backward",), "loss.c",
          "(probability - 1.0f) * scale", "probability * scale - 1.0f", "matches: .*onehot not scaled"),
)  # fmt: skip
