"""Faults of what is chosen among many: the k largest, and a nucleus."""

from __future__ import annotations

from .fault import Fault

_ORDER, _NUCLEUS = "order.c", "nucleus.c"
_TOP_K, _TOP_P = ("topk_sample",), ("topp_sample",)

FAULTS = (
    Fault("topk_sample: of a block of logits the first asked", _TOP_K, _ORDER,
          "simd()->maximum(end - first, x + first)", "simd()->maximum(1, x + first)", "every 64"),
    Fault("topk_sample: candidates held to the largest, not the last", _TOP_K, _ORDER,
          "least = some.values[k - 1];", "least = some.values[0];", "largest k|k-th"),
    Fault("topk_sample: columns of those that stay not carried along", _TOP_K, _ORDER,
          "to->columns[i] = from->columns[order[i]];", "to->columns[i] = from->columns[i];", "order of"),
    Fault("topp_sample: top_p ignored", _TOP_P, _NUCLEUS, "    if (top_p < 1) {", "    if (top_p < -2) {",
          "matches: .*top_p ignored"),
    Fault("topp_sample: the last level of the nucleus whole", _TOP_P, _NUCLEUS,
          "i < walk->count && total < enough; i++", "i < walk->count; i++", "nucleus|top_p"),
    Fault("topp_sample: a level walked in the order of its columns", _TOP_P, _NUCLEUS,
          "walk.columns[i] = columns[order[i]];\n        walk.weights[i] = weights[columns[order[i]]];",
          "walk.columns[i] = columns[i];\n        walk.weights[i] = weights[columns[i]];", "descending|sorted"),
    Fault("order: minus zero below zero where many are chosen", ("softmax_topk", "topk_sample", "topp_sample"),
          "order.c", "const float value = x + 0.0f; /* -0 becomes 0 */", "const float value = x;",
          "minus zero|of equal ones"),
    Fault("topp_sample: levels past the last one run over", _TOP_P, _NUCLEUS,
          "before + sums[level] <= u * total && level < LEVELS - 1; level++",
          "before + sums[level] <= u * all; level++",
          "top_p|crashed|SIG|past the end|sanitizer"),
)  # fmt: skip
