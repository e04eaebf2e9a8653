"""The reference: every operation of the header as one NumPy function, in float64 or float32 by the dtype given.

An operation is its symbol without `cuda_`; its arguments are the header's arrays that are read, then the scalars that
no shape tells; it returns the header's outputs as new arrays and writes to none of its arguments.
"""

from __future__ import annotations

from .ops import sixteen
from .ops.attention import (
    attention_backward,
    attention_forward,
    attention_output,
    attention_scores,
    flash_attention,
    kv_cache_append,
)
from .ops.convolution import conv2d, conv2d_backward_bias, conv2d_backward_input, conv2d_backward_weight
from .ops.decode import argmax, sample, topk_sample, topp_sample
from .ops.elementwise import add, mul, scale, silu, silu_backward, swiglu, swiglu_backward
from .ops.embedding import embedding, scatter_add
from .ops.gemm import (
    batched_gemm,
    gemm,
    gemm_beta,
    gemm_nn,
    gemm_tn,
    gemm_tt,
    grouped_gemm,
    grouped_gemm_nn,
    grouped_gemm_tn,
)
from .ops.loss import cross_entropy_backward, cross_entropy_forward
from .ops.moe import (
    aux_loss_backward,
    aux_loss_forward,
    expert_combine,
    expert_combine_backward,
    expert_dispatch,
    expert_dispatch_backward,
    expert_sort,
)
from .ops.norm import rmsnorm, rmsnorm_backward, rmsnorm_residual, rmsnorm_residual_backward
from .ops.optimizer import (
    adamw_step,
    clip_scale,
    grad_clip,
    multi_adamw,
    multi_nonfinite,
    multi_scale,
    multi_sum_squares,
    zero_grad,
)
from .ops.rope import rope_backward, rope_forward, rope_freqs, rope_qk, rope_qk_backward
from .ops.softmax import softmax, softmax_backward, softmax_topk, softmax_topk_backward

__all__ = [
    "OPERATIONS",
    "adamw_step",
    "add",
    "argmax",
    "attention_backward",
    "attention_forward",
    "attention_output",
    "attention_scores",
    "aux_loss_backward",
    "aux_loss_forward",
    "batched_gemm",
    "clip_scale",
    "conv2d",
    "conv2d_backward_bias",
    "conv2d_backward_input",
    "conv2d_backward_weight",
    "cross_entropy_backward",
    "cross_entropy_forward",
    "embedding",
    "expert_combine",
    "expert_combine_backward",
    "expert_dispatch",
    "expert_dispatch_backward",
    "expert_sort",
    "flash_attention",
    "gemm",
    "gemm_beta",
    "gemm_nn",
    "gemm_tn",
    "gemm_tt",
    "grad_clip",
    "grouped_gemm",
    "grouped_gemm_nn",
    "grouped_gemm_tn",
    "kv_cache_append",
    "mul",
    "multi_adamw",
    "multi_nonfinite",
    "multi_scale",
    "multi_sum_squares",
    "rmsnorm",
    "rmsnorm_backward",
    "rmsnorm_residual",
    "rmsnorm_residual_backward",
    "rope_backward",
    "rope_forward",
    "rope_freqs",
    "rope_qk",
    "rope_qk_backward",
    "sample",
    "scale",
    "scatter_add",
    "silu",
    "silu_backward",
    "softmax",
    "softmax_backward",
    "softmax_topk",
    "softmax_topk_backward",
    "swiglu",
    "swiglu_backward",
    "topk_sample",
    "topp_sample",
    "zero_grad",
]

globals().update(sixteen.OPERATIONS)
OPERATIONS = (*(name for name in __all__ if name != "OPERATIONS"), *sixteen.OPERATIONS)
