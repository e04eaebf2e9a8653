"""Faults of the kernels that do at once what others do one by one: cross entropy in place, the norm with its count."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault
from conformance.proof.faults.run_mode import BACKWARDS

_ALL = ("fused_cross_entropy", "fused_cross_entropy_bf16", "fused_cross_entropy_fp16")
_WIDE, _HALVES = _ALL[:1], _ALL[1:]
_BOTH = ("multi_sum_squares_nonfinite",)
_SEVERAL_PARTS = "only where vocab_size (>= 40001|= 65537)"  # registers hold rows of 32,768 logits
_EXP = "(expf((items[i] - peak.max) - log_sum) - one) * factor"
_PICKED = "L::member() == 0 && target >= 0 && target < cols ? widened(x[target]) : 0.0f"

FAULTS = (
    Fault("loss.cu: fused, onehot not scaled", _ALL, "loss.cu",
          _EXP, "expf((items[i] - peak.max) - log_sum) * factor - one", "matches: .*onehot not scaled"),
    Fault("loss.cu: fused, onehot missing", _ALL, "loss.cu",
          _EXP, "expf((items[i] - peak.max) - log_sum) * factor", "matches: .*onehot missing"),
    Fault("loss.cu: fused, scale ignored", _ALL, "loss.cu",
          "factor = target < cols ? scale : not_a_number();\n    if (L::member() == 0) {",
          "factor = target < cols ? 1.0f : not_a_number();\n    if (L::member() == 0) {", "matches: .*scale ignored"),
    Fault("loss.cu: fused, the target's logit read behind the gradient", _ALL, "loss.cu",
          "        target_log_probs[row] = (of_target - peak.max) - log_sum;\n    }\n"
          "    if constexpr (L::THREADS == WARP) __syncwarp(); /* a block has met in the fold */\n"
          "    for (int part = parts.count() - 1; part >= 0; part--) {\n"
          "        const int64_t start = parts.start(part);\n"
          "        if (part < parts.count() - 1) L::load(x + start, parts.left(part), 0.0f, items);\n"
          "#pragma unroll\n"
          "        for (int i = 0; i < L::ITEMS; i++) {\n"
          "            const float one = start + L::column(i) == target ? 1.0f : 0.0f;\n"
          f"            items[i] = target < 0 ? 0.0f : {_EXP};\n"
          "        }\n"
          "        L::store(x + start, parts.left(part), items);\n    }",
          "    }\n"
          "    for (int part = parts.count() - 1; part >= 0; part--) {\n"
          "        const int64_t start = parts.start(part);\n"
          "        if (part < parts.count() - 1) L::load(x + start, parts.left(part), 0.0f, items);\n"
          "        for (int i = 0; i < L::ITEMS; i++) {\n"
          "            const float one = start + L::column(i) == target ? 1.0f : 0.0f;\n"
          f"            items[i] = target < 0 ? 0.0f : {_EXP};\n"
          "        }\n"
          "        L::store(x + start, parts.left(part), items);\n    }\n"
          "    team_sum<L::THREADS>(0.0f);\n"
          "    if (L::member() == 0 && target >= 0 && target < cols)\n"
          "        target_log_probs[row] = (widened(x[target]) - peak.max) - log_sum;",
          "matches: .*what is overwritten"),
    Fault("loss.cu: fused, the target's logit read behind the fold", _WIDE, "loss.cu",
          "target_log_probs[row] = (of_target - peak.max) - log_sum;",
          "target_log_probs[row] = (widened(x[target < 0 ? 0 : target]) - peak.max) - log_sum;",
          "loss", run_mode=BACKWARDS),
    Fault("loss.cu: fused, the target's logit by its thread's number", _ALL, "loss.cu",
          _PICKED, "L::member() == target && target < cols ? widened(x[target]) : 0.0f", "loss"),
    Fault("loss.cu: fused, earlier parts not read again", _ALL, "loss.cu",
          "        if (part < parts.count() - 1) L::load(x + start, parts.left(part), 0.0f, items);\n#pragma unroll\n"
          "        for (int i = 0; i < L::ITEMS; i++) {\n"
          "            const float one = start + L::column(i) == target ? 1.0f : 0.0f;\n"
          "            items[i] = target < 0 ? 0.0f : (expf((items",
          "#pragma unroll\n        for (int i = 0; i < L::ITEMS; i++) {\n"
          "            const float one = start + L::column(i) == target ? 1.0f : 0.0f;\n"
          "            items[i] = target < 0 ? 0.0f : (expf((items", _SEVERAL_PARTS),
    Fault("loss.cu: fused, the last part alone stored", _ALL, "loss.cu",
          "L::store(x + start, parts.left(part), items);",
          "if (part == parts.count() - 1) L::store(x + start, parts.left(part), items);", "never written"),
    Fault("loss.cu: fused, rows stored a pack of eight short", _HALVES, "loss.cu",
          "L::store(x + start, parts.left(part), items);",
          "L::store(x + start, parts.left(part) - (L::WIDTH == 8 ? 8 : 0), items);", "never written"),
    Fault("loss.cu: fused, onehot counted from each part's beginning", _ALL, "loss.cu",
          "const float one = start + L::column(i) == target ? 1.0f : 0.0f;\n"
          "            items[i] = target < 0 ? 0.0f : (expf((items",
          "const float one = L::column(i) == target ? 1.0f : 0.0f;\n"
          "            items[i] = target < 0 ? 0.0f : (expf((items",
          f"the right values in other places|{_SEVERAL_PARTS}"),
    Fault("loss.cu: fused, ignored rows differentiated", _ALL, "loss.cu",
          f"target < 0 ? 0.0f : {_EXP}", _EXP, "matches: .*ignored rows differentiated"),
    Fault("loss.cu: fused, the maximum not added to lse", _ALL, "loss.cu",
          "not_a_number() : peak.max + log_sum", "not_a_number() : log_sum",
          "matches: .*logarithm of the sum without the maximum"),
    Fault("loss.cu: fused, lse of infinite rows -infinity", _ALL, "loss.cu",
          "isinf(peak.max) ? not_a_number() : peak.max + log_sum", "peak.max + log_sum",
          "matches: .*lse of masked rows -infinity"),
    Fault("loss.cu: fused, lse not stored where a row does not count", _ALL, "loss.cu",
          "        lse[row] = isinf", "        if (target >= 0) lse[row] = isinf", "never written"),
    Fault("clip.cu: both, infinities passed over", _BOTH, "clip.cu",
          "        nonfinite(x, y);", "        if (!isinf(x[0])) nonfinite(x, y);", "matches: .*nonfinite: NaN alone"),
    Fault("clip.cu: both, what is not finite left out of the sum", _BOTH, "clip.cu",
          "        squares(x, y);", "        if (isfinite(x[0])) squares(x, y);",
          "matches: .*what is not finite left out"),
    Fault("clip.cu: both, counted where the square is finite", _BOTH, "clip.cu",
          "        nonfinite(x, y);", "        const float square[1] = {x[0] * x[0]};\n        nonfinite(square, y);",
          "matches: .*nonfinite: by the squares"),
    Fault("clip.cu: both, one thread's count", _BOTH, "clip.cu",
          "team_sum<LIST_THREADS>(each.nonfinite.sum)", "each.nonfinite.sum", "nonfinite"),
    Fault("clip.cu: both, one warp's squares", _BOTH, "clip.cu",
          "team_sum<LIST_THREADS>(each.squares.sum)", "warp_fold(each.squares.sum, Sum{})", "sum_squares|warp|terms"),
    Fault("clip.cu: both, the first chunk's place for all", _BOTH, "clip.cu",
          "        squares[chunk] = sum;", "        squares[0] = sum;", "sum_squares|NaN|second run"),
    Fault("clip.cu: both, every batch from the first chunk's place", _BOTH, "clip.cu",
          "batch, squares + before, counts + before);", "batch, squares, counts);", "sum_squares|nonfinite|NaN"),
    Fault("clip.cu: both, the counts where the squares lie", _BOTH, "clip.cu",
          "*const counts = squares + chunks;", "*const counts = squares;", "sum_squares|nonfinite"),
    Fault("clip.cu: both, the norm", _BOTH, "clip.cu",
          "sum_squares[0] = static_cast<float>(sum);", "sum_squares[0] = static_cast<float>(sqrt(sum));",
          "matches: .*sum_squares: norm"),
    Fault("clip.cu: both, a flag", _BOTH, "clip.cu",
          "    total[0] = counted(found);", "    total[0] = found > 0;", "matches: .*whether there is one"),
)  # fmt: skip
