"""Faults of what does at once what other operations do one by one: cross entropy in place, the norm with its count."""

from __future__ import annotations

from .fault import Fault

_CROSS_ENTROPY = ("fused_cross_entropy", "fused_cross_entropy_bf16", "fused_cross_entropy_fp16")
_HALVES = _CROSS_ENTROPY[1:]
_FILE = "fused_cross_entropy.c"
_BOTH = ("multi_sum_squares_nonfinite",)
_LONG = "vocab_size >= 8193"  # rows of several parts

FAULTS = (
    Fault("fused_cross_entropy: sums not brought under one maximum", _CROSS_ENTROPY, _FILE,
          "if (sum != 0) sum *= exp((double)max - of_part);", "", _LONG),
    Fault("fused_cross_entropy: exponentials not brought under one maximum", _CROSS_ENTROPY, _FILE,
          "exp(largest[part] - lse)", "exp(row_max - lse)", _LONG),
    Fault("fused_cross_entropy: maximum that begins at 0", _CROSS_ENTROPY, _FILE,
          "float max = -INFINITY;", "float max = 0;", "matches: lse of masked rows -infinity"),
    Fault("fused_cross_entropy: -infinity subtracted from -infinity", _CROSS_ENTROPY[:1],
          _FILE, "row_max == -INFINITY ? 0.0f : row_max", "row_max", "matches: maximum of the first"),
    Fault("fused_cross_entropy: the target's logit read behind its gradient", _CROSS_ENTROPY, _FILE,
          "return lse - of_target;", "return lse - number_of(c, row, target);", "matches: .*what is overwritten"),
    Fault("fused_cross_entropy: onehot not scaled", _CROSS_ENTROPY, _FILE,
          "expm1(of_target - lse) * c->scale", "exp(of_target - lse) * c->scale - 1.0", "matches: .*onehot not scaled"),
    Fault("fused_cross_entropy: the target of the first part alone", _CROSS_ENTROPY, _FILE,
          "if (target >= at && target < at + length)", "if (target >= at && target < length)",
          _LONG),
    Fault("fused_cross_entropy: ignored rows left as they were", _CROSS_ENTROPY, _FILE,
          "        memset(row, 0, (size_t)(c->cols * c->bytes));\n", "", "matches: .*ignored rows left|never written"),
    Fault("fused_cross_entropy: half of an ignored row cleared", _CROSS_ENTROPY, _FILE,
          "(size_t)(c->cols * c->bytes)", "(size_t)(c->cols * c->bytes / 2)",
          "ignored rows|never written|columns from 8 on"),
    Fault("fused_cross_entropy: mean over all rows", _CROSS_ENTROPY, _FILE,
          "total / (double)counted", "total / (double)batch_seq", "matches: .*mean over all rows"),
    Fault("fused_cross_entropy: the maximum in place of lse", _CROSS_ENTROPY, _FILE,
          "lse_out[0] = (float)lse;", "lse_out[0] = row_max;", "matches: .*maximum in place of lse"),
    Fault("fused_cross_entropy: the last part not stored", _HALVES, _FILE,
          "if (c->format) c->format->narrow(", "if (c->format && length == PART) c->format->narrow(", "never written"),
    Fault("fused_cross_entropy: targets not checked", _CROSS_ENTROPY[:1], _FILE,
          "    CHECK(all_within(targets, batch_seq, INT32_MIN, vocab_size));\n", "",
          r"a call with targets\[\d+\] = .* is to be refused|is to be refused"),
    Fault("multi_sum_squares_nonfinite: the last chunk's squares alone", _BOTH, "clip.c",
          "all.squares += of_chunk[i].squares;", "all.squares = of_chunk[i].squares;",
          "matches: .*sum_squares: last array alone"),
    Fault("multi_sum_squares_nonfinite: the last chunk's count alone", _BOTH, "clip.c",
          "all.nonfinite += of_chunk[i].nonfinite;", "all.nonfinite = of_chunk[i].nonfinite;",
          "matches: .*nonfinite: last array alone"),
    Fault("multi_sum_squares_nonfinite: the norm", _BOTH, "clip.c",
          "sum_squares_out[0] = (float)all.squares;", "sum_squares_out[0] = (float)sqrt(all.squares);",
          "matches: .*sum_squares: norm"),
    Fault("multi_sum_squares_nonfinite: counted at each chunk's beginning", _BOTH, "clip.c",
          "of_chunk[index_].nonfinite = vectors->nonfinite(part->length, x);",
          "of_chunk[index_].nonfinite = vectors->nonfinite(1, x);", "nonfinite: every wrong number is too small"),
    Fault("multi_sum_squares_nonfinite: every array from its beginning", _BOTH, "clip.c",
          "FOR_LISTED(list, part, { /* what is counted second lies in the nearest caches */\n"
          "            const float* const x = inputs[part->array] + part->at;",
          "FOR_LISTED(list, part, {\n            const float* const x = inputs[part->array];",
          "missing|all errors to one side"),
    Fault("multi_sum_squares_nonfinite: a flag", _BOTH, "clip.c",
          "(int32_t)min64(all.nonfinite, INT32_MAX)", "all.nonfinite > 0", "matches: .*whether there is one"),
    Fault("multi_sum_squares_nonfinite: sizes not looked at", _BOTH, "clip.c",
          "    CHECK_ARRAY(nonfinite, 1);\n    CHECK(buffers_fit(inputs, sizes, count));\n"
          "    const struct simd* const vectors = simd();\n    struct both",
          "    CHECK_ARRAY(nonfinite, 1);\n    const struct simd* const vectors = simd();\n    struct both",
          "is to be refused|null|crash|ended"),
)  # fmt: skip
