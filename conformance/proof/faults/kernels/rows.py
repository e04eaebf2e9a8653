"""Faults of the kernels that fold rows: softmax, the router's top-k, the loss, the norms."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault
from conformance.proof.faults.run_mode import WITH_STREAMS

_ROW = (
    "    const int64_t row = L::team();\n    if (row >= rows) return;\n    const float* const x = input + row * cols;"
)
_ROOT = "return 1.0f / sqrtf(squares / static_cast<float>(n) + eps);"
_NO_RESIDUAL = "    if (!f.residual) return;\n"
_EARLY = "    if (keep && f.residual) L::store(f.residual_out + at, left, items);\n"
_PLACE = "static_cast<uint32_t>({}index)"
_INDEX = """
}}
__device__ inline int index_at(Place place) {{ return static_cast<int>({} & 0xffffffffu)"""
_FRESH = "parts.count() > 1 && row == L::team() ? term : "
_FIRST_ROW = f"""\
            if (parts.count() > 1 && row != L::team()) L::load(partial + start, left, 0.0f, sums);
#pragma unroll
            for (int i = 0; i < L::ITEMS; i++) {{
                const float term = dy[i] * (x[i] * factors.x);
                sums[i] = {_FRESH}sums[i] + term;"""

FAULTS = (
    Fault("softmax.cu: the stream forgotten", ("softmax",), "softmax.cu",
          "L::BLOCK, 0, stream_of(stream)>>>(input, output, rows, cols)", "L::BLOCK>>>(input, output, rows, cols)",
          "done on the default stream", run_mode=WITH_STREAMS),
    Fault("reduce.cuh: one step of the shuffles missing", ("softmax_backward",), "reduce.cuh",
          "mask > 0; mask /= 2", "mask > 1; mask /= 2", "warp|lanes"),
    Fault("reduce.cuh: half of the lanes in the mask", ("softmax",), "reduce.cuh",
          "ALL_LANES = 0xffffffffu", "ALL_LANES = 0x0000ffffu", "mask"),
    Fault("reduce.cuh: the first warp's share alone", ("softmax", "rmsnorm"), "reduce.cuh",
          "value = warp_fold<WARPS>(of_warp[lane_of_thread() % WARPS], fold);", "value = of_warp[0];",
          "infinity|first warp|row times a factor of its own"),
    Fault("online.cuh: maximum that begins at 0", ("softmax", "cross_entropy_forward"), "online.cuh",
          "Peak peak = {-INFINITY, 0.0f};", "Peak peak = {0.0f, 0.0f};", "maximum that begins at 0|infinity|NaN"),
    Fault("online.cuh: sums not brought under one maximum", ("softmax", "cross_entropy_forward"), "online.cuh",
          "a.sum * expf(a.max - shift) + b.sum * expf(b.max - shift)", "a.sum + b.sum",
          "every row (plus|times) a (number|factor) of its own"),
    Fault("softmax.cu: grid one block short", ("softmax",), "softmax.cu",
          "blocks_for(rows, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(input",
          "blocks_for(rows, L::TEAMS) - (rows > L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(input", "never written"),
    Fault("softmax.cu: rows past the last not left out", ("softmax",), "softmax.cu",
          _ROW, _ROW.replace(">=", ">"), "wrote past the end of output|read past the end of input"),
    Fault("softmax.cu: computed in place of the input", ("softmax",), "softmax.cu",
          "L::store(y + parts.start(part), parts.left(part), items);",
          "L::store(const_cast<float*>(x) + parts.start(part), parts.left(part), items);\n"
          "        L::store(y + parts.start(part), parts.left(part), items);", "input input was changed"),
    Fault("softmax_gradient.cuh: sum of each thread's own columns",
          ("softmax_backward", "softmax_temperature_backward", "attention_softmax_backward"), "softmax_gradient.cuh",
          "    inner = team_sum<L::THREADS>(inner);\n", "", "own columns|lanes"),
    Fault("softmax.cu: rows a quad apart", ("softmax",), "softmax.cu",
          "float* const y = output + row * cols;", "float* const y = output + row * ((cols + 3) / 4 * 4);",
          "wrote past the end"),
    Fault("order.cuh: ties by higher index", ("softmax_topk", "argmax"), "order.cuh",
          f"{_PLACE.format('')};{_INDEX.format('place')};", f"{_PLACE.format('~')};{_INDEX.format('~place')};",
          "matches: .*(ties by higher index|highest index among equals)"),
    Fault("topk.cuh: the same choice again", ("softmax_topk",), "topk.cuh",
          "from = place + 1;", "from = place;",
          "weights: the same number everywhere|indices: other entries of input: larger ones"),
    Fault("topk_gradient.cuh: the others never cleared", ("softmax_topk_backward",), "topk_gradient.cuh",
          "items[i] = stray ? not_a_number() : 0.0f;", "items[i] = not_a_number();", "NaN|never written"),
    Fault("topk_gradient.cuh: sum of each thread's own choices", ("softmax_topk_backward",), "topk_gradient.cuh",
          "        inner = team_sum<L::THREADS>(inner);\n", "", "matches: renormalisation not differentiated"),
    Fault("loss.cu: mean over all rows", ("cross_entropy_forward",), "loss.cu",
          "        if (target < 0) continue;\n        sum -= target < cols",
          "        counted += target < 0;\n        if (target < 0) continue;\n        sum -= target < cols",
          "matches: .*mean over all rows"),
    Fault("loss.cu: one of the block's warps", ("cross_entropy_forward",), "loss.cu",
          "sum = team_sum<LOSS_THREADS>(sum);", "sum = warp_fold(sum, Sum{});", "first warp|left out"),
    Fault("loss.cu: onehot not scaled", ("cross_entropy_backward",), "loss.cu",
          "(expf(items[i]) - one) * factor", "expf(items[i]) * factor - one", "matches: .*onehot not scaled"),
    Fault("functions.cuh: eps outside the root", ("rmsnorm", "rmsnorm_residual"), "functions.cuh",
          _ROOT, "return 1.0f / (sqrtf(squares / static_cast<float>(n)) + eps);", "matches: .*eps outside the root"),
    Fault("norm.cu: mean over what a team holds", ("rmsnorm",), "norm.cu",
          "inverse_root(team_sum<L::THREADS>(squares), f.cols, f.eps)",
          "inverse_root(team_sum<L::THREADS>(squares), L::PART, f.eps)", "the right values times"),
    Fault("norm.cu: weights of the first columns for all", ("rmsnorm",), "norm.cu",
          "L::load(f.weight + parts.start(part), parts.left(part), 0.0f, weights);",
          "L::load(f.weight, parts.left(part), 0.0f, weights);",
          "columns? (from|past)|the last column|weight read modulo 8192"),
    Fault("norm.cu: sum written out without the residual", ("rmsnorm_residual",), "norm.cu",
          _NO_RESIDUAL, f"{_EARLY}{_NO_RESIDUAL}    keep = false;\n", "matches: .*residual_out is the input"),
    Fault("partials.cuh: gradients assigned", ("rmsnorm_backward", "rmsnorm_residual_backward"), "partials.cuh",
          "gradient[column] = beta == 0.0f ? sum : beta * gradient[column] + sum;", "gradient[column] = sum;",
          "matches: .*d_weight assigned"),
    Fault("partials.cuh: the last warp's sums left out", ("rmsnorm_backward",), "partials.cuh",
          "other < WARPS; other++", "other < WARPS - 1; other++",
          "rows? .*(missing|left out)|(missing|left out).* rows?"),
    Fault("norm_backward.cu: residual dropped", ("rmsnorm_residual_backward",), "norm_backward.cu",
          "    if (b.base) {", "    if (!b.base) {", "matches: .*residual's gradient missing"),
    Fault("norm_backward.cu: sums start from what was left", ("rmsnorm_backward",), "norm_backward.cu",
          _FIRST_ROW, _FIRST_ROW.replace(" && row != L::team()", "").replace(_FRESH, ""), "NaN|never written"),
)  # fmt: skip
