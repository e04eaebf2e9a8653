"""Faults of attention by matrix units: lines brought and cleared, fragments, parts of weights, walks and stages."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault
from conformance.proof.faults.run_mode import BACKWARDS, BY_RACES

_FRAGMENTS, _FORWARD, _BACKWARD = "attention_fragments.cuh", "attention_matrix.cuh", "attention_matrix_backward.cuh"
_LINES, _GRADIENTS = "attention_lines.cuh", "attention_gradients.cuh"
_ATTENDS, _DIFFERENTIATES = ("attention_forward_bf16",), ("attention_backward_bf16",)
_PLACED = "copy_whole(panel + Panel::place(at / ACROSS, at % ACROSS),"
_BELOW = "copy_whole(panel + Panel::place(at / ACROSS, at % ACROSS ^ ((at / ACROSS ^ (at / ACROSS + 1)) & 7)),"
_STEP = "wait_for_copies<0>(); /* this step's lines are there, */"
_MET = "__syncthreads(); /* everybody's, and nobody reads those of the step before any more */"
_WRONG = "^(output|lse|d_[QKV])\\b.*: (wrong|NaN|zero|inf|minus)|rows? |columns? "
_RACE = "data race kernels/"
_SOME = "plain or tails"
_ONE = "plain/2x4x1x33x16"  # two steps of keys, five of queries

FAULTS = (
    Fault("attention_lines.cuh: chunks stored as if they were not swizzled", _ATTENDS, _LINES,
          _PLACED, "copy_whole(panel + (at / ACROSS * ACROSS + at % ACROSS) * CHUNK,", _WRONG, cases=_SOME),
    Fault("attention_lines.cuh: stored by the swizzle of the row below", _DIFFERENTIATES, _LINES,
          _PLACED, _BELOW, _WRONG, cases=_SOME),
    Fault("attention_lines.cuh: past the head not cleared", _DIFFERENTIATES, _LINES,
          "from && chunk < head_dim", "from != nullptr", "read past the end of|NaN|" + _WRONG, cases=_SOME),
    Fault("attention_lines.cuh: keys past the last not cleared", _ATTENDS, _LINES,
          "return key < end ? data + offset + key * line : nullptr;", "return data + offset + key * line;",
          "read past the end of|NaN", cases=_SOME),
    Fault("attention_lines.cuh: the next head of the group", _DIFFERENTIATES, _LINES,
          "uint32_t position = static_cast<uint32_t>(query) / group, head = static_cast<uint32_t>(query) % group;\n"
          "        return query < count ? data + offset + position * line",
          "uint32_t position = static_cast<uint32_t>(query) / group,\n"
          "            head = static_cast<uint32_t>(query + 1) % group;\n"
          "        return query < count ? data + offset + position * line", _WRONG, cases=_SOME),
    Fault("attention_fragments.cuh: rows and depths of a fragment exchanged", _ATTENDS, _FRAGMENTS,
          "place_of_lane<true>(row, slice * SLICE)", "place_of_lane<false>(row, slice * SLICE)",
          "Q taken as 0 from head_dim 8 on|" + _WRONG, cases=_SOME),
    Fault("attention_fragments.cuh: a fragment of the rows below", _DIFFERENTIATES, _FRAGMENTS,
          "place_of_lane<true>(row, slice * SLICE)", "place_of_lane<true>(row ^ 16, slice * SLICE)", _WRONG,
          cases=_SOME),
    Fault("attention_fragments.cuh: weights rounded once", _ATTENDS, _FRAGMENTS,
          "PARTS = 3;", "PARTS = 1;", "bfloat16|rounded|short|" + _WRONG),
    Fault("attention_fragments.cuh: gradients of scores rounded once", _DIFFERENTIATES, _FRAGMENTS,
          "PARTS = 3;", "PARTS = 1;", "bfloat16|rounded|short|" + _WRONG),
    Fault("attention_fragments.cuh: weights of a fragment exchanged", _DIFFERENTIATES, _FRAGMENTS,
          "weights[2 * k + r / 2] + r % 2 * 2", "weights[2 * k + r % 2] + r / 2 * 2", _WRONG, cases=_SOME),
    Fault("attention_fragments.cuh: not transposed as they are loaded", _ATTENDS, _FRAGMENTS,
          "load_fragments<true>(two, lines", "load_fragments<false>(two, lines", _WRONG, cases=_SOME),
    Fault("attention_fragments.cuh: slices assigned, not added", _DIFFERENTIATES, _FRAGMENTS,
          "to[n] += slice[n];", "to[n] = slice[n];", _WRONG, cases=_SOME),
    Fault("attention_fragments.cuh: a chunk past the head stored", _ATTENDS, _FRAGMENTS,
          "!to || chunk * CHUNK >= head_dim", "!to || chunk * CHUNK > head_dim", "wrote past the end|" + _WRONG,
          cases=_SOME),
    Fault("attention_matrix.cuh: sums left under the old maximum", _ATTENDS, _FORWARD,
          "sums[j][2 * half] *= shrink;", "sums[j][2 * half] *= 1.0f;", "rescaled|maximum|" + _WRONG),
    Fault("attention_matrix.cuh: row_max of one lane's keys", _ATTENDS, _FORWARD,
          "row_max = warp_fold<4>(row_max, Max{});", "", "maximum|" + _WRONG, cases=_SOME),
    Fault("attention_matrix.cuh: the border tile not masked", _ATTENDS, _FORWARD,
          "key + Shape::KEYS - 1 > seen_by_all", "key > seen_by_all", "mask|" + _WRONG, cases=_SOME),
    Fault("attention_matrix.cuh: no wait for the keys' copies", _ATTENDS, _FORWARD,
          "wait_for_copies<1>(); /* this step's keys are there, */", "/* this step's keys are there, */",
          "NaN", run_mode=BACKWARDS, cases=_SOME),
    Fault("attention_matrix.cuh: a stage filled while it is read", _ATTENDS, _FORWARD,
          "bring(values + (1 - now) * STAGE,", "bring(values + now * STAGE,", "NaN|" + _WRONG, cases=_SOME),
    Fault("attention_gradients.cuh: D missing", _DIFFERENTIATES, _GRADIENTS,
          "(gradients[j][n] - row(j, n).inner)", "gradients[j][n]", "matches: .*D missing", cases=_SOME),
    Fault("attention_gradients.cuh: D of one lane's chunks", _DIFFERENTIATES, _GRADIENTS,
          "const float inner = warp_fold<4>(sum, Sum{});", "const float inner = sum;", "D |" + _WRONG, cases=_SOME),
    Fault("attention_gradients.cuh: scale missing in dS", _DIFFERENTIATES, _GRADIENTS,
          "= scale * P[j][n] *", "= P[j][n] *", "matches: .*scale", cases=_SOME),
    Fault("attention_matrix_backward.cuh: the border tile of keys not masked", _DIFFERENTIATES, _BACKWARD,
          "masked = query < seeing_all || query", "masked = query + Shape::STEP < seeing_all || query",
          "mask|" + _WRONG, cases=_SOME),
    Fault("attention_matrix_backward.cuh: a key hidden from its own query", _DIFFERENTIATES, _BACKWARD,
          "met < first_query[n / 2]", "met <= first_query[n / 2]", "own key|mask|" + _WRONG, cases=_SOME),
    Fault("attention_matrix_backward.cuh: one head of each group", _DIFFERENTIATES, _BACKWARD,
          "query < all_queries.count; query += Shape::STEP", "query < s.q_len; query += Shape::STEP",
          "first \\d+ terms of a sum alone|terms missing|" + _WRONG, cases=_SOME),
    Fault("attention_matrix_backward.cuh: statistics of half a step's queries", _DIFFERENTIATES, _BACKWARD,
          "if (at < Shape::STATISTICS)", "if (at < Shape::STATISTICS / 2)", "NaN|" + _WRONG, cases=_SOME),
    Fault("attention_matrix_backward.cuh: waits for the copies of a step too few", _DIFFERENTIATES, _BACKWARD,
          _STEP, _STEP.replace("<0>", "<1>"), "NaN", run_mode=BACKWARDS, cases=_SOME),
    Fault("attention_matrix_backward.cuh: no barrier between copies and use", _DIFFERENTIATES, _BACKWARD,
          _MET, "/* everybody's */", _RACE, run_mode=BY_RACES, cases=_ONE),
    Fault("attention_matrix_backward.cuh: a stage filled while it is read", _DIFFERENTIATES, _BACKWARD,
          "bring(query + Shape::STEP, stages + (1 - now) * Shape::STAGE);",
          "bring(query + Shape::STEP, stages + now * Shape::STAGE);", "NaN|" + _WRONG, cases=_SOME),
)  # fmt: skip
