"""16-bit storage: the operation of the same name on widened arrays, each stored result rounded once to nearest even.

Every operation here exists twice, with the suffix _bf16 (bfloat16, NumPy's through ml_dtypes) and _fp16 (float16).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from reference.arrays import Array, ieee

from . import attention, elementwise, embedding, gemm, gemm_swiglu, loss, moe, norm, optimizer, rope, router
from .rounding import drawn, draws

Operation = Callable[..., Any]

FORMATS: dict[str, np.dtype[Any]] = {"bf16": np.dtype(ml_dtypes.bfloat16), "fp16": np.dtype(np.float16)}
_HALVES = tuple(FORMATS.values())
# Whether each result is stored in 16 bits; sums that many calls add to, statistics and losses are float32.
RESULTS: dict[Operation, tuple[bool, ...]] = {
    elementwise.swiglu: (True,),
    elementwise.swiglu_backward: (True, True),
    elementwise.add: (True,),
    norm.rmsnorm: (True,),
    norm.rmsnorm_backward: (True, False),
    norm.rmsnorm_residual: (True, True),
    norm.rmsnorm_residual_backward: (True, False),
    gemm.gemm: (True,),
    gemm.router_gemm: (False,),
    gemm.gemm_beta: (True,),
    gemm.gemm_nn: (True,),
    gemm.gemm_tn: (False,),
    gemm.gemm_tt: (True,),
    gemm.grouped_gemm: (True,),
    gemm.grouped_gemm_nn: (True,),
    gemm.grouped_gemm_tn: (False,),
    gemm_swiglu.gemm_swiglu: (True, True, True),
    gemm_swiglu.grouped_gemm_swiglu: (True, True, True),
    rope.rope_qk: (True, True),
    rope.rope_qk_backward: (True, True),
    attention.attention_forward: (True, False),
    attention.attention_backward: (True, True, True),
    attention.kv_cache_append: (True,),
    moe.expert_dispatch: (True,),
    moe.expert_dispatch_backward: (True,),
    moe.expert_combine: (True,),
    moe.expert_combine_backward: (True, False),
    router.topk_router: (False,) * 6,
    router.topk_router_backward: (True,),
    loss.cross_entropy_forward: (False, False),
    loss.cross_entropy_backward: (True,),
    loss.fused_cross_entropy: (True, False, False),
    embedding.embedding: (True,),
    embedding.scatter_add: (False,),
}


def is_form_of(operation: str, *wide: str) -> bool:
    """Whether an operation is a float32 one of these names, or a 16-bit form of one."""
    return operation in wide or operation in (f"{name}_{suffix}" for name in wide for suffix in FORMATS)


def cast(input: Array) -> Array:
    """The same numbers, as the format holds them."""
    return input


def stored_in(dtype: np.dtype[Any], operation: Operation, name: str, halves: tuple[bool, ...] = (True,)) -> Operation:
    """The operation on arrays of a 16-bit format; halves: which of its results are stored in it."""

    @functools.wraps(operation)
    def function(*args: Any, **kwargs: Any) -> Any:
        wide = {key: _widened(value) for key, value in kwargs.items()}
        results = operation(*map(_widened, args), **wide)
        if not isinstance(results, tuple):
            return _stored(results, dtype) if halves[0] else results
        pairs = zip(results, halves, strict=True)
        return tuple(_stored(result, dtype) if half else result for result, half in pairs)

    function.__name__ = function.__qualname__ = name
    return function


def _widened(value: Any) -> Any:
    return value.astype(np.float32) if isinstance(value, np.ndarray) and value.dtype in _HALVES else value


@ieee
def _stored(result: Array, dtype: np.dtype[Any]) -> Array:
    """A result in the format; numbers of other kinds, such as the judge's, stay what they are."""
    return result.astype(dtype) if isinstance(result, np.ndarray) else result


def with_copies(dtype: np.dtype[Any], name: str, update: Operation) -> Operation:
    """An update like multi_adamw that also gives the parameters in 16 bits; seed 0: to nearest, others: by draws."""

    def function(
        params: Sequence[Array],
        grads: Sequence[Array],
        ms: Sequence[Array],
        vs: Sequence[Array],
        copies: Sequence[Array],
        weight_decays: Sequence[float] | Array,
        grad_scale: Array,
        lr: float,
        beta1: float,
        beta2: float,
        eps: float,
        step: int,
        seed: int,
    ) -> tuple[list[Array], ...]:
        moved = update(params, grads, ms, vs, weight_decays, grad_scale, lr, beta1, beta2, eps, step)
        return *moved, [copied(param, dtype, seed, place) for place, param in enumerate(moved[0])]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = with_copies.__doc__
    return function


def copied(param: Array, dtype: np.dtype[Any], seed: int, place: int) -> Array:
    """One array of a list in 16 bits; numbers of other kinds stay what they are."""
    if seed == 0 or not isinstance(param, np.ndarray):
        return _stored(param, dtype)
    return drawn(param.astype(np.float32), dtype, draws(seed, place, param.shape))


def _operations() -> dict[str, Operation]:
    found: dict[str, Operation] = {}
    for suffix, dtype in FORMATS.items():
        found[f"cast_to_{suffix}"] = stored_in(dtype, cast, f"cast_to_{suffix}")
        found[f"cast_from_{suffix}"] = stored_in(np.dtype(np.float32), cast, f"cast_from_{suffix}")
        found[f"multi_adamw_{suffix}"] = with_copies(dtype, f"multi_adamw_{suffix}", optimizer.multi_adamw)
        for operation, halves in RESULTS.items():
            name = f"{operation.__name__}_{suffix}"
            found[name] = stored_in(dtype, operation, name, halves)
    return found


OPERATIONS = _operations()
