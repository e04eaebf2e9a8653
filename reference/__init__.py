"""The reference: every operation of the header as one NumPy function, in float64 or float32 by the dtype given.

An operation is its symbol without `cuda_`; its arguments are the header's arrays that are read, then the scalars that
no shape tells; it returns the header's outputs as new arrays and writes to none of its arguments.
"""

from __future__ import annotations

from .ops import sixteen
from .ops.activations import (
    elu,
    elu_backward,
    gelu,
    gelu_backward,
    gelu_tanh,
    gelu_tanh_backward,
    leaky_relu,
    leaky_relu_backward,
    relu,
    relu_backward,
    sigmoid,
    sigmoid_backward,
    softmax_temperature,
    softmax_temperature_backward,
    tanh,
    tanh_backward,
)
from .ops.attention import (
    attention_backward,
    attention_forward,
    attention_output,
    attention_scores,
    flash_attention,
    kv_cache_append,
)
from .ops.attention_softmax import attention_softmax, attention_softmax_backward
from .ops.batchnorm import batchnorm_backward, batchnorm_evaluation, batchnorm_training
from .ops.broadcast import (
    add_column,
    add_column_backward,
    add_row,
    add_row_backward,
    dense,
    dense_backward,
)
from .ops.convolution import conv2d, conv2d_backward_bias, conv2d_backward_input, conv2d_backward_weight
from .ops.decode import argmax, sample, topk_sample, topp_sample
from .ops.dropout import dropout, dropout_backward
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
    router_gemm,
)
from .ops.gemm_swiglu import gemm_swiglu, grouped_gemm_swiglu
from .ops.layernorm import layernorm, layernorm_backward
from .ops.loss import cross_entropy_backward, cross_entropy_forward, fused_cross_entropy
from .ops.losses import (
    bce_backward,
    bce_forward,
    bce_logits_backward,
    bce_logits_forward,
    categorical_cross_entropy_backward,
    categorical_cross_entropy_forward,
    cross_entropy_dense_backward,
    cross_entropy_dense_forward,
    mse_backward,
    mse_forward,
)
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
    multi_sum_squares_nonfinite,
    zero_grad,
)
from .ops.pooling import avg_pool2d, avg_pool2d_backward, max_pool2d, max_pool2d_backward
from .ops.recurrent import gru_backward, gru_forward, lstm_backward, lstm_forward, rnn_backward, rnn_forward
from .ops.rope import rope_backward, rope_forward, rope_freqs, rope_qk, rope_qk_backward
from .ops.router import topk_router, topk_router_backward
from .ops.sequence import concat_steps, concat_steps_backward, slice_steps, slice_steps_backward
from .ops.softmax import softmax, softmax_backward, softmax_topk, softmax_topk_backward
from .ops.strided import map_strided, matmul_strided, reduce_strided, zip_strided
from .ops.updates import adam_step, momentum_step, sgd_step

__all__ = [
    "OPERATIONS",
    "adam_step",
    "adamw_step",
    "add",
    "add_column",
    "add_column_backward",
    "add_row",
    "add_row_backward",
    "argmax",
    "attention_backward",
    "attention_forward",
    "attention_output",
    "attention_scores",
    "attention_softmax",
    "attention_softmax_backward",
    "aux_loss_backward",
    "aux_loss_forward",
    "avg_pool2d",
    "avg_pool2d_backward",
    "batched_gemm",
    "batchnorm_backward",
    "batchnorm_evaluation",
    "batchnorm_training",
    "bce_backward",
    "bce_forward",
    "bce_logits_backward",
    "bce_logits_forward",
    "categorical_cross_entropy_backward",
    "categorical_cross_entropy_forward",
    "clip_scale",
    "concat_steps",
    "concat_steps_backward",
    "conv2d",
    "conv2d_backward_bias",
    "conv2d_backward_input",
    "conv2d_backward_weight",
    "cross_entropy_backward",
    "cross_entropy_dense_backward",
    "cross_entropy_dense_forward",
    "cross_entropy_forward",
    "dense",
    "dense_backward",
    "dropout",
    "dropout_backward",
    "elu",
    "elu_backward",
    "embedding",
    "expert_combine",
    "expert_combine_backward",
    "expert_dispatch",
    "expert_dispatch_backward",
    "expert_sort",
    "flash_attention",
    "fused_cross_entropy",
    "gelu",
    "gelu_backward",
    "gelu_tanh",
    "gelu_tanh_backward",
    "gemm",
    "gemm_beta",
    "gemm_nn",
    "gemm_swiglu",
    "gemm_tn",
    "gemm_tt",
    "grad_clip",
    "grouped_gemm",
    "grouped_gemm_nn",
    "grouped_gemm_swiglu",
    "grouped_gemm_tn",
    "gru_backward",
    "gru_forward",
    "kv_cache_append",
    "layernorm",
    "layernorm_backward",
    "leaky_relu",
    "leaky_relu_backward",
    "lstm_backward",
    "lstm_forward",
    "map_strided",
    "matmul_strided",
    "max_pool2d",
    "max_pool2d_backward",
    "momentum_step",
    "mse_backward",
    "mse_forward",
    "mul",
    "multi_adamw",
    "multi_nonfinite",
    "multi_scale",
    "multi_sum_squares",
    "multi_sum_squares_nonfinite",
    "reduce_strided",
    "relu",
    "relu_backward",
    "rmsnorm",
    "rmsnorm_backward",
    "rmsnorm_residual",
    "rmsnorm_residual_backward",
    "rnn_backward",
    "rnn_forward",
    "rope_backward",
    "rope_forward",
    "rope_freqs",
    "rope_qk",
    "rope_qk_backward",
    "router_gemm",
    "sample",
    "scale",
    "scatter_add",
    "sgd_step",
    "sigmoid",
    "sigmoid_backward",
    "silu",
    "silu_backward",
    "slice_steps",
    "slice_steps_backward",
    "softmax",
    "softmax_backward",
    "softmax_temperature",
    "softmax_temperature_backward",
    "softmax_topk",
    "softmax_topk_backward",
    "swiglu",
    "swiglu_backward",
    "tanh",
    "tanh_backward",
    "topk_router",
    "topk_router_backward",
    "topk_sample",
    "topp_sample",
    "zero_grad",
    "zip_strided",
]

globals().update(sixteen.OPERATIONS)
OPERATIONS = (*(name for name in __all__ if name != "OPERATIONS"), *sixteen.OPERATIONS)
