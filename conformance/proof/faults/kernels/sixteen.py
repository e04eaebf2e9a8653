"""Faults of the kernels that store 16 bits."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault
from conformance.proof.faults.run_mode import BY_ADDRESSES, BY_RACES

_TAIL = "visit_pack<1>(arrays, i < packs.first ? i : i + WIDTH * packs.count, f);"
_SHORT = "in 16 bits|shorter format|computing in (TF32 or )?b?float16|rounded|cut off"
_DRAWN = "pack.at[i] = f(numbers.at[i], e + i);"


def _both(operation: str) -> tuple[str, ...]:
    return f"{operation}_bf16", f"{operation}_fp16"


FAULTS = (
    Fault("half.cuh: bfloat16 cut off", ("cast_to_bf16", "add_bf16", "rmsnorm_residual_bf16"), "half.cuh",
          "__bfloat16_as_ushort(__float2bfloat16_rn(x))", "static_cast<half_bits>(__float_as_uint(x) >> 16)",
          "cut off"),
    Fault("half.cuh: ties of bfloat16 away from zero", ("cast_to_bf16",), "half.cuh",
          "__bfloat16_as_ushort(__float2bfloat16_rn(x))",
          "isnan(x) ? 0x7fff : static_cast<half_bits>((__float_as_uint(x) + 0x8000) >> 16)",
          "matches: .*ties away from zero"),
    Fault("half.cuh: float16 saturates", ("cast_to_fp16",), "half.cuh",
          "__float2half_rn(x)", "__float2half_rn(x > 65504.0f ? 65504.0f : x < -65504.0f ? -65504.0f : x)",
          "overflow saturates|numbers where (minus )?infinity is due"),
    Fault("vector.cuh: neighbours exchanged as they are stored", _both("add"), "vector.cuh",
          "stored.at[i] = rounded<T>(pack.at[i]);", "stored.at[i] = rounded<T>(pack.at[WIDTH == 8 ? i ^ 1 : i]);",
          "in other places"),
    Fault("vector.cuh: one sixteen bytes of eight floats", ("rmsnorm_bf16",), "vector.cuh",
          "const float4 whole = *reinterpret_cast<const float4*>(from + i);",
          "const float4 whole = *reinterpret_cast<const float4*>(from);",
          "columns? (from|past)|the last column|every column times a factor"),
    Fault("vector.cuh: rows of fours taken for rows of eights", _both("rmsnorm"), "vector.cuh",
          "cols % WHOLE<std::remove_pointer_t<Pointers>> == 0", "cols % 4 == 0",
          "past the end"),
    Fault("vector.cuh: rows taken for aligned", ("expert_combine_bf16",), "vector.cuh",
          "&& phase_of(arrays) == 0", "", "misaligned address", run_mode=BY_ADDRESSES, cases="plain"),
    Fault("map.cuh: what is left of a pack of eight not stored", _both("swiglu"), "map.cuh",
          "i < n - WIDTH * packs.count; i += threads", "i < (n - WIDTH * packs.count) / 8 * 8; i += threads",
          "never written"),
    Fault("map.cuh: eights counted as fours", ("swiglu_backward_bf16",), "map.cuh",
          _TAIL, _TAIL.replace("WIDTH *", "4 *"), "never written|past the end|zero"),
    Fault("norm.cu: the sum rounded before it is normalised", _both("rmsnorm_residual"), "norm.cu",
          "items[i] += others[i];", "items[i] = widened(rounded<T>(items[i] + others[i]));",
          "matches: .*sum rounded before it is normalised"),
    Fault("norm_backward.cu: terms of d_weight in 16 bits", _both("rmsnorm_backward"), "norm_backward.cu",
          "const float term = dy[i] * (x[i] * factors.x);",
          "const float term = widened(rounded<T>(dy[i] * (x[i] * factors.x)));", _SHORT),
    Fault("rope.cu: the angles of the first two pairs of four", _both("rope_qk"), "rope.cu",
          "r.half + pair + p]", "r.half + pair + p % 2]", "only where head_dim >= 8"),
    Fault("moe.cu: sums kept in 16 bits", _both("expert_combine"), "moe.cu",
          "sum.at[i] += weight * part.at[i];", "sum.at[i] = widened(rounded<T>(sum.at[i] + weight * part.at[i]));",
          "sums kept in"),
    Fault("moe.cu: weights in 16 bits", _both("expert_combine_backward"), "moe.cu",
          "there ? b.weights[pair] : not_a_number()",
          "there ? widened(rounded<T>(b.weights[pair])) : not_a_number()", _SHORT),
    Fault("embedding.cu: sums in 16 bits", _both("scatter_add"), "embedding.cu",
          "if (!continued) add_to(sum, load_pack<L::WIDTH>(to));",
          "if (!continued) add_to(sum, load_pack<L::WIDTH>(to));\n"
          "            for (float& x : sum.at) x = widened(rounded<T>(x));",
          _SHORT),
    Fault("loss.cu: log_probs in 16 bits", _both("cross_entropy_forward"), "loss.cu",
          "items[i] = (items[i] - peak.max) - log_sum;",
          "items[i] = widened(rounded<T>((items[i] - peak.max) - log_sum));",
          _SHORT),
    Fault("loss.cu: rows stored a pack of eight short", _both("cross_entropy_backward"), "loss.cu",
          "L::store(d_logits + at, parts.left(part), items);",
          "L::store(d_logits + at, parts.left(part) - (L::WIDTH == 8 ? 8 : 0), items);", "never written"),
    Fault("optimizer.cu: draws counted from each chunk's beginning", ("multi_adamw_fp16",), "optimizer.cu",
          "random_word(own, e)", "random_word(own, e % CHUNK)", "copies.*: the other neighbour"),
    Fault("optimizer.cu: one draw for eight numbers", _both("multi_adamw"), "optimizer.cu",
          _DRAWN, _DRAWN.replace("e + i", "e"), "copies.*: the other neighbour"),
    Fault("optimizer.cu: copies made while others still update", ("multi_adamw_bf16",), "optimizer.cu",
          "        update_chunk(batch, i, at, update);\n        __syncthreads();",
          "        update_chunk(batch, i, at, update);", "race", run_mode=BY_RACES, cases="plain"),
    Fault("optimizer.cu: what is left of a pack of eight not copied", _both("multi_adamw"), "optimizer.cu",
          "i < length - WIDTH * packs.count; i += LIST_THREADS", "i < packs.first; i += LIST_THREADS",
          r"copies\[\d\]: never written"),
)  # fmt: skip
