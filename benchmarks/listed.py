"""What is timed by itself: operation, shapes of its arrays, numbers.  An index's shape names the range, too."""

from __future__ import annotations

from typing import Any

Listed = tuple[str, tuple[Any, ...], dict[str, Any]]

SMALL_SIZE = 65_536
_IMAGES = (16, 64, 56 * 56)
_WINDOW = {"kernel_h": 3, "kernel_w": 3, "stride_h": 2, "stride_w": 2, "pad_h": 1, "pad_w": 1}
_PLANES = {"height": 56, "width": 56, **_WINDOW}
_MEAN = {"count_include_pad": 0}
_STEPS = (64, 256, 768)
_SCORES, _TWO = (4, 2, 1024, 1024), (2, 4, 1024, 1024)

# Sizes of figures published for CPUs.
LARGE: tuple[Listed, ...] = (
    ("softmax", ((4096, 4096),), {}),
    ("rmsnorm", ((8192, 768), (768,)), {"eps": 1e-6}),
    ("gemm", ((1024, 1024), (1024, 1024)), {}),
    ("cross_entropy_forward", ((2048, 32000), (2048, "of", 32000)), {}),
    ("cross_entropy_backward", ((2048, 32000), (2048, "of", 32000)), {"scale": 1 / 2048}),
    ("fused_cross_entropy", ((2048, 32000), (2048, "of", 32000)), {"scale": 1 / 2048}),
    ("multi_sum_squares_nonfinite", ((10_000_000,),), {}),  # cut into a list
    (
        "adamw_step",
        ((10_000_000,),) * 4,
        {"lr": 1e-4, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1, "step": 3},
    ),
    *((f"{loss}_forward", ((10_000_000,),) * 2, {}) for loss in ("mse", "bce", "bce_logits")),
    *((f"{loss}_backward", ((10_000_000,),) * 2, {"scale": 1.0}) for loss in ("mse", "bce", "bce_logits")),
    ("categorical_cross_entropy_forward", ((100_000, 100),) * 2, {}),
    ("categorical_cross_entropy_backward", ((100_000, 100),) * 2, {"scale": 1.0}),
    ("cross_entropy_dense_forward", ((100_000, 100),) * 2, {"temperature": 2.0}),
    ("cross_entropy_dense_backward", ((100_000, 100),) * 2, {"temperature": 2.0, "scale": 1.0}),
    ("sgd_step", ((10_000_000,),) * 2, {"lr": 1e-2, "weight_decay": 1e-4}),
    ("momentum_step", ((10_000_000,),) * 3, {"lr": 1e-2, "momentum": 0.9, "weight_decay": 1e-4, "nesterov": 1}),
    (
        "adam_step",
        ((10_000_000,),) * 4,
        {"lr": 1e-4, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1, "step": 3},
    ),
    ("swiglu", ((8192 * 2048,),) * 2, {}),
    ("gemm_swiglu", ((1024, 768), (2048, 768), (2048, 768)), {}),
    ("topk_router", ((8192, 16),), {"top_k": 4, "alpha": 0.01}),
    ("scatter_add", ((8192, 768), (8192, "of", 32000), (32000, 768)), {}),
    ("layernorm", ((8192, 768), (768,), (768,)), {"eps": 1e-5}),
    (
        "layernorm_backward",
        ((8192, 768), (768,), (8192,), (8192,), (8192, 768), (768,), (768,)),
        {"beta": 1.0},
    ),
    ("batchnorm_training", (_IMAGES, *[(64,)] * 4), {"momentum": 0.1, "eps": 1e-5}),
    ("batchnorm_evaluation", (_IMAGES, *[(64,)] * 4), {"eps": 1e-5}),
    ("batchnorm_backward", (_IMAGES, *[(64,)] * 3, _IMAGES, *[(64,)] * 2), {"beta": 1.0}),
    ("dropout", ((8192 * 768,), (2,)), {"rate": 0.1}),
    ("dropout_backward", ((8192 * 768,), (2,)), {"rate": 0.1}),
    *((operation, ((4096 * 1024,),), {}) for operation in ("relu", "sigmoid", "tanh", "gelu", "gelu_tanh")),
    *((f"{operation}_backward", ((4096 * 1024,),) * 2, {}) for operation in ("relu", "sigmoid", "tanh", "gelu")),
    ("gelu_tanh_backward", ((4096 * 1024,),) * 2, {}),
    *((operation, ((4096 * 1024,),), {"alpha": 0.1}) for operation in ("leaky_relu", "elu")),
    *((f"{operation}_backward", ((4096 * 1024,),) * 2, {"alpha": 0.1}) for operation in ("leaky_relu", "elu")),
    ("softmax_temperature", ((4096, 1024),), {"temperature": 0.7}),
    ("softmax_temperature_backward", ((4096, 1024),) * 2, {"temperature": 0.7}),
    ("attention_softmax", (_SCORES, (4, 1024)), {"scale": 0.125, "has_mask": 1, "causal": 0, "offset": 0}),
    ("attention_softmax", (_TWO, (2, 1024)), {"scale": 0.125, "has_mask": 1, "causal": 1, "offset": 0}),
    ("attention_softmax_backward", (_SCORES,) * 2, {"scale": 0.125}),
    # One token, whose keys and values are cached.
    ("attention_forward", ((1, 1, 12, 64), *[(1, 4096, 1, 64)] * 2), {"kv_len": 4096, "scale": 0.125}),
    ("attention_forward", ((1, 1, 4, 64), *[(1, 1024, 4, 64)] * 2), {"kv_len": 1024, "scale": 0.125}),
    ("add_row", ((8192, 768), (768,)), {}),
    ("add_row_backward", ((8192, 768), (768,)), {"beta": 1.0}),
    ("add_column", ((8192, 768), (8192,)), {}),
    ("add_column_backward", ((8192, 768), (8192,)), {"beta": 1.0}),
    ("dense", ((1024, 768), (3072, 768), (3072,)), {"activation": 7, "alpha": 1.0, "has_bias": 1}),
    ("dense_backward", ((1024, 768), (3072, 768)), {"activation": 7, "alpha": 1.0, "beta": 1.0}),  # of the layer
    ("max_pool2d", ((64, 64, 56, 56),), _WINDOW),
    ("max_pool2d_backward", ((64, 64, 56, 56),), _PLANES),  # of the planes that were pooled
    ("avg_pool2d", ((64, 64, 56, 56),), {**_WINDOW, **_MEAN}),
    ("avg_pool2d_backward", ((64, 64, 28, 28),), {**_PLANES, **_MEAN}),
    ("slice_steps", (_STEPS,), {"first": 64, "count": 128}),
    ("slice_steps_backward", ((64, 128, 768),), {"steps": 256, "first": 64}),
    ("concat_steps", (_STEPS, _STEPS), {}),
    ("concat_steps_backward", ((64, 512, 768),), {"steps_a": 256, "steps_b": 256}),
)

# Sizes at which the call itself, and waking a thread, cost as much as the work: operation, shapes, numbers.
_TENS = (6400, 10)
_SMALL_PLANES = (16, 32, 14, 14)
_SMALL_POOL = {**_WINDOW, "height": 14, "width": 14}
_SMALL_NORM = (16, 32, 64)
_CHANNELS = (32,)
SMALL: tuple[Listed, ...] = (
    *((operation, ((SMALL_SIZE,),), {}) for operation in ("relu", "sigmoid", "tanh", "gelu", "gelu_tanh")),
    *((f"{operation}_backward", ((SMALL_SIZE,),) * 2, {}) for operation in ("relu", "sigmoid", "tanh", "gelu")),
    ("gelu_tanh_backward", ((SMALL_SIZE,),) * 2, {}),
    *((operation, ((SMALL_SIZE,),), {"alpha": 0.1}) for operation in ("leaky_relu", "elu")),
    *((f"{operation}_backward", ((SMALL_SIZE,),) * 2, {"alpha": 0.1}) for operation in ("leaky_relu", "elu")),
    ("add", ((SMALL_SIZE,),) * 2, {}),
    ("swiglu", ((SMALL_SIZE,),) * 2, {}),
    ("swiglu_backward", ((SMALL_SIZE,),) * 3, {}),
    *((f"{loss}_forward", ((SMALL_SIZE,),) * 2, {}) for loss in ("mse", "bce", "bce_logits")),
    *((f"{loss}_backward", ((SMALL_SIZE,),) * 2, {"scale": 1.0}) for loss in ("mse", "bce", "bce_logits")),
    ("categorical_cross_entropy_forward", (_TENS,) * 2, {}),
    ("categorical_cross_entropy_backward", (_TENS,) * 2, {"scale": 1.0}),
    ("cross_entropy_dense_forward", (_TENS,) * 2, {"temperature": 1.0}),
    ("cross_entropy_dense_backward", (_TENS,) * 2, {"temperature": 1.0, "scale": 1.0}),
    ("cross_entropy_forward", (_TENS, (_TENS[0], "of", 10)), {}),
    ("softmax", (_TENS,), {}),
    ("max_pool2d", (_SMALL_PLANES,), _WINDOW),
    ("max_pool2d_backward", (_SMALL_PLANES,), _SMALL_POOL),  # of the planes that were pooled
    ("avg_pool2d", (_SMALL_PLANES,), {**_WINDOW, **_MEAN}),
    ("avg_pool2d_backward", ((16, 32, 7, 7),), {**_SMALL_POOL, **_MEAN}),
    ("batchnorm_training", (_SMALL_NORM, *[_CHANNELS] * 4), {"momentum": 0.1, "eps": 1e-5}),
    ("batchnorm_evaluation", (_SMALL_NORM, *[_CHANNELS] * 4), {"eps": 1e-5}),
    ("batchnorm_backward", (_SMALL_NORM, *[_CHANNELS] * 3, _SMALL_NORM, *[_CHANNELS] * 2), {"beta": 1.0}),
    *(("gemm", ((side, side),) * 2, {}) for side in (64, 128, 256)),
)
LISTED = (*LARGE, *SMALL)
# What takes a shortcut where no number is below 0, as PyTorch's ELU does, is timed on numbers of both signs.
OF_BOTH_SIGNS = frozenset({"relu", "leaky_relu", "elu", "sigmoid", "tanh", "gelu", "gelu_tanh"})
