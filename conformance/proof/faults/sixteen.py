"""Faults of the 16-bit operations: how numbers are rounded, and what each operation is handed."""

from __future__ import annotations

from .fault import Fault

_FILE = "sixteen.h"
_HALF = "vector/half.c"


def both_formats(*operations: str) -> tuple[str, ...]:
    """The operations in both formats."""
    return tuple(f"{operation}_{suffix}" for suffix in ("bf16", "fp16") for operation in operations)


def _less(place: int, rows: str, columns: str) -> str:
    """Zero, and one row less of an array to store."""
    return f"0 * (all[{place}].count -= {rows} > 1 ? {columns} : 0)"


FAULTS = (
    Fault("bf16: results cut off", ("cast_to_bf16", "add_bf16", "gemm_tt_bf16", "cross_entropy_backward_bf16"), _HALF,
          "nearest = bits + 0x7fff + (bits >> 16 & 1);", "nearest = bits;", "cut off"),
    Fault("bf16: ties away from zero", ("cast_to_bf16",), _HALF,
          "bits + 0x7fff + (bits >> 16 & 1)", "bits + 0x8000", "matches: .*ties away from zero"),
    Fault("bf16: NaN taken for a number", ("cast_to_bf16",), _HALF,
          "(bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : nearest >> 16", "nearest >> 16",
          "matches: .*NaN taken for a number"),
    Fault("bf16: the lowest bit lost", ("cast_from_bf16",), _HALF,
          "(uint32_t)x[i] << 16", "(uint32_t)(x[i] & 0xfffe) << 16", "off by|the right values|TF32|bfloat16"),
    Fault("fp16: results cut off", ("cast_to_fp16", "gemm_fp16", "expert_dispatch_backward_fp16", "rope_qk_fp16"),
          _HALF,
          "rounded = magnitude + ((1u << (DROPPED - 1)) - 1) + (magnitude >> DROPPED & 1);", "rounded = magnitude;",
          "cut off"),
    Fault("fp16: overflow saturates", ("cast_to_fp16",), _HALF,
          "magnitude > 0x7f800000 ? 0x7e00 : 0x7c00", "magnitude > 0x7f800000 ? 0x7e00 : 0x7bff",
          "matches: .*overflow saturates|numbers where (minus )?infinity is due"),
    Fault("fp16: subnormal results flushed", ("cast_to_fp16",), _HALF,
          "magnitude < 0x38800000 ? subnormal : normal", "magnitude < 0x38800000 ? 0 : normal",
          "matches: .*subnormal results flushed|zero"),
    Fault("fp16: NaN taken for a number", ("cast_to_fp16",), _HALF,
          "magnitude > 0x7f800000 ? 0x7e00 : 0x7c00",
          "0x7c00 | (magnitude > 0x7f800000 ? magnitude >> DROPPED & 0x3ff : 0)",
          "matches: .*NaN taken for a number"),
    Fault("fp16: subnormal numbers read as zero", ("cast_from_fp16",), _HALF,
          "magnitude >= 0x7c00 ? special : number", "magnitude >= 0x7c00 ? special : magnitude < 0x400 ? 0 : number",
          "zero"),
    Fault("16-bit swiglu: gate and up exchanged", both_formats("swiglu"), _FILE,
          "cuda_swiglu(all[0].wide, all[1].wide,", "cuda_swiglu(all[1].wide, all[0].wide,",
          "matches: .*gate and up exchanged"),
    Fault("16-bit swiglu_backward: gradients exchanged", both_formats("swiglu_backward"), _FILE,
          "all[2].wide, all[3].wide, all[4].wide, n,", "all[2].wide, all[4].wide, all[3].wide, n,",
          "matches: .*gradients exchanged"),
    Fault("16-bit add: a alone", both_formats("add"), _FILE,
          "cuda_add(all[0].wide, all[1].wide, all[2].wide, n, stream)",
          "cuda_scale(all[0].wide, 1, all[2].wide, n, stream)", "matches: .*a alone|copy of a"),
    Fault("16-bit rmsnorm: eps ignored", both_formats("rmsnorm"), _FILE,
          "cuda_rmsnorm(all[0].wide, weight, all[1].wide, rows, hidden_dim, eps,",
          "cuda_rmsnorm(all[0].wide, weight, all[1].wide, rows, hidden_dim, eps >= 0 ? 0 : eps,",
          "matches: .*eps ignored"),
    Fault("16-bit rmsnorm_backward: d_weight assigned", both_formats("rmsnorm_backward"), _FILE,
          "cuda_rmsnorm_backward(all[0].wide, weight, all[1].wide, all[2].wide, d_weight, rows, hidden_dim,\n"
          "                                      eps, beta, stream)",
          "cuda_rmsnorm_backward(all[0].wide, weight, all[1].wide, all[2].wide, d_weight, rows, hidden_dim,\n"
          "                                      eps, 0, stream)", "matches: .*d_weight assigned"),
    Fault("16-bit rmsnorm_residual: eps ignored", both_formats("rmsnorm_residual"), _FILE,
          "all[3].wide, rows,\n                                      hidden_dim, eps,",
          "all[3].wide, rows,\n                                      hidden_dim, eps >= 0 ? 0 : eps,",
          "matches: .*eps ignored"),
    Fault("16-bit rmsnorm_residual_backward: d_weight assigned", both_formats("rmsnorm_residual_backward"), _FILE,
          "d_weight, rows, hidden_dim, eps, beta, stream))\n}\n\nint32_t HALF(cuda_rope_qk)",
          "d_weight, rows, hidden_dim, eps, 0, stream))\n}\n\nint32_t HALF(cuda_rope_qk)",
          "matches: .*d_weight assigned"),
    Fault("16-bit rope_qk: offset ignored", both_formats("rope_qk"), _FILE,
          "n_q_heads, n_kv_heads, head_dim, offset, stream))\n}\n\nint32_t HALF(cuda_rope_qk_backward)",
          "n_q_heads, n_kv_heads, head_dim, 0, stream))\n}\n\nint32_t HALF(cuda_rope_qk_backward)",
          "matches: .*offset ignored"),
    Fault("16-bit rope_qk_backward: without the inverse rotation", both_formats("rope_qk_backward"), _FILE,
          "STAGED(all, cuda_rope_qk_backward(", "STAGED(all, cuda_rope_qk(", "matches: .*without the inverse rotation"),
    Fault("16-bit attention_forward: scale ignored", both_formats("attention_forward"), _FILE,
          "kv_len, kv_capacity, head_dim, scale,\n", "kv_len, kv_capacity, head_dim, 1,\n", "matches: .*scale ignored"),
    Fault("16-bit attention_backward: d_K and d_V exchanged", both_formats("attention_backward"), _FILE,
          "all[6].wide, all[7].wide,", "all[7].wide, all[6].wide,", "matches: .*d_K and d_V exchanged"),
    Fault("16-bit expert_dispatch_backward: the last token left out", both_formats("expert_dispatch_backward"), _FILE,
          "cuda_expert_dispatch_backward(all[0].wide,",
          f"cuda_expert_dispatch_backward(all[0].wide + {_less(1, 'tokens', 'hidden_dim')},", "never written"),
    Fault("16-bit expert_combine: weights ignored", both_formats("expert_combine"), _FILE,
          "cuda_expert_combine(all[0].wide, weights, position,",
          "!weights ? ASSAYER_INVALID : cuda_expert_dispatch_backward(all[0].wide, position,",
          "matches: .*weights ignored"),
    Fault("16-bit expert_combine_backward: the last row left out", both_formats("expert_combine_backward"), _FILE,
          "cuda_expert_combine_backward(all[0].wide,",
          f"cuda_expert_combine_backward(all[0].wide + {_less(2, 'tokens', 'hidden_dim')},", "never written"),
    Fault("16-bit cross_entropy_forward: the last row left out", both_formats("cross_entropy_forward"), _FILE,
          "loss, log_probs, batch_seq, vocab_size,", "loss, log_probs, batch_seq - (batch_seq > 1), vocab_size,",
          # Nor is that row's target looked at.
          r"never written|targets\[2\] = 33 is to be refused"),
    Fault("16-bit cross_entropy_backward: scale ignored", both_formats("cross_entropy_backward"), _FILE,
          "all[0].wide, batch_seq, vocab_size, scale,", "all[0].wide, batch_seq, vocab_size, 1,",
          "matches: .*scale ignored"),
    Fault("16-bit scatter_add: the first row cleared", both_formats("scatter_add"), _FILE,
          "STAGED(all, cuda_scatter_add(",
          "STAGED(all, cuda_zero_grad(grad_weight, embedding_dim, stream) ? ASSAYER_INVALID : cuda_scatter_add(",
          "grad_weight cleared|zero, row 0|returned -2 and wrote grad_weight"),  # it clears before it refuses
    Fault("16-bit multi_adamw: copies left as they were", both_formats("multi_adamw"), "optimizer.c",
          "            if (u->copies) copy_part(format, u, part, seed);\n", "",
          "copies left as they were|never written"),
    Fault("bf16: draws never reach the next number", ("multi_adamw_bf16",), _HALF,
          "drawn = bits + draw_of(seed, first + i);", "drawn = bits;", "cut off"),
    Fault("fp16: draws counted from each chunk's beginning", ("multi_adamw_fp16",), "optimizer.c",
          "random_word(seed, part->array), part->at, to);", "random_word(seed, part->array), 0, to);",
          "copies.*: the other neighbour"),
    Fault("16-bit multi_adamw: one draw for every array", ("multi_adamw_bf16",), "optimizer.c",
          "random_word(seed, part->array)", "random_word(seed, 0)", "matches.*: .*one draw for every array"),
    Fault("16-bit cast_from: the last number left out", both_formats("cast_from"), _FILE,
          "return widen(FORMAT, input, output, n, stream);",
          "return widen(FORMAT, input, output, n - (n > 1), stream);",
          "never written"),
)  # fmt: skip
