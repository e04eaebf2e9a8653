"""Faults of attention by matrix units in float16, whose numbers are multiplied by weights as two of bfloat16."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault
from conformance.proof.faults.run_mode import ON_SM_80

_FRAGMENTS, _GRADIENTS = "attention_fragments.cuh", "attention_gradients.cuh"
_ATTENDS, _DIFFERENTIATES = ("attention_forward_fp16",), ("attention_backward_fp16",)
_WRONG = "^(output|lse|d_[QKV])\\b.*: (wrong|NaN|zero|inf|minus)|rows? |columns? |rounded|short"
_SOME = "plain or tails"

FAULTS = (
    Fault("attention_fragments.cuh: rows of float16 multiplied whole", _ATTENDS, _FRAGMENTS,
          "IN_PARTS = std::is_same_v<Number, __half>;", "IN_PARTS = false;",
          "lse: rounded toward zero where", run_mode=ON_SM_80, cases="positive_scores"),
    Fault("attention_fragments.cuh: what the upper digits leave left out", _ATTENDS, _FRAGMENTS,
          "low.at[r] = left(rows.at[r], 0) | left(rows.at[r], 16);", "low.at[r] = left(rows.at[r], 0) * 0;",
          "errors no larger than those of computing in bfloat16", cases=_SOME),
    Fault("attention_fragments.cuh: infinities multiplied in parts", _ATTENDS, _FRAGMENTS,
          "while (__any_sync(ALL_LANES, some_nan(products)));", "while (false);", "^output, lse: NaN"),
    Fault("attention_fragments.cuh: values of float16 rounded to bfloat16", _ATTENDS, _FRAGMENTS,
          "std::is_same_v<Format, Bf16> ? 1 : 2", "std::is_same_v<Format, Bf16> ? 1 : 1", _WRONG, cases=_SOME),
    Fault("attention_fragments.cuh: the first part of float16 twice", _DIFFERENTIATES, _FRAGMENTS,
          "weights.part[i], columns.part[c]", "weights.part[i], columns.part[0]", _WRONG, cases=_SOME),
    Fault("attention_fragments.cuh: what a part leaves of the number beside it", _ATTENDS, _FRAGMENTS,
          "high -= Bf16::widen(static_cast<half_bits>(parts[i] >> 16));",
          "high -= Bf16::widen(static_cast<half_bits>(parts[i]));", _WRONG, cases=_SOME),
    Fault("attention_fragments.cuh: the lower of two numbers of float16 twice", _DIFFERENTIATES, _FRAGMENTS,
          "Format::widen(static_cast<half_bits>(pairs[r] >> 16))", "Format::widen(static_cast<half_bits>(pairs[r]))",
          _WRONG, cases=_SOME),
    Fault("attention_fragments.cuh: results narrowed to the other format", _ATTENDS, _FRAGMENTS,
          "pair_of<Format>(sums[j][n], sums[j][n + 1])", "pair_of<Bf16>(sums[j][n], sums[j][n + 1])", _WRONG,
          cases=_SOME),
    Fault("attention_gradients.cuh: D of numbers read as bfloat16", _DIFFERENTIATES, _GRADIENTS,
          "fmaf(Format::widen(left.at[i]), Format::widen(right.at[i]), sum)",
          "fmaf(Bf16::widen(left.at[i]), Bf16::widen(right.at[i]), sum)", "D |" + _WRONG, cases=_SOME),
    Fault("attention_gradients.cuh: the products of the other format", _DIFFERENTIATES, _GRADIENTS,
          "multiply_lines<typename Format::Number, typename Shape::Met",
          "multiply_lines<__nv_bfloat16, typename Shape::Met", _WRONG, cases=_SOME),
)  # fmt: skip
