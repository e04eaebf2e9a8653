"""Wrong readings of the 16-bit operations: the float32 operations', and what only a short format makes possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import attention, elementwise, embedding, gemm, gemm_swiglu, loss, moe, norm, optimizer, rope, router
from reference.ops.sixteen import FORMATS, RESULTS, Operation, cast, copied, stored_in, with_copies

from .bits import MISROUNDED, Rounding, away_from_ties, cut_off, through
from .reading import Given, Reading, fed, giving

_SHORTENED = "(stored through|rounded or cut off to|cut off, not rounded, to)"
# Operations that move numbers: what is rounded there was rounded already.
MOVES = (attention.kv_cache_append, moe.expert_dispatch, embedding.embedding)
# Readings of float32 operations about formats no longer than these.
_OF_FORMATS = ("TF32", "bfloat16", "float16", "float32")

Change = Callable[[Rounding], Operation]


def _input(operation: Operation, *names: str) -> Change:
    """Float32 arguments rounded to 16 bits."""
    return lambda r: fed(operation, **{name: lambda g, name=name: r(g[name]) for name in names})


def _result(operation: Operation, place: int | None = None) -> Change:
    """A float32 result rounded to 16 bits; place: which of several."""

    def change(r: Rounding) -> Operation:
        def rounded(results: Any, _: Given) -> Any:
            if place is None:
                return r(results)
            return tuple(r(result) if i == place else result for i, result in enumerate(results))

        return giving(operation, rounded)

    return change


def _rounded_before_beta(operation: Operation) -> Change:
    """The product is stored before C is added to it."""
    return lambda r: giving(fed(operation, beta=lambda g: 0.0), lambda product, g: r(product) + _added(g))


def _added(g: Given) -> Any:
    return g["beta"] * g["C"] if g["beta"] else 0.0


def _swiglu(r: Rounding) -> Operation:
    return lambda gate, up: r(elementwise.silu(gate)) * up


def _of_stored(r: Rounding, gate: Array, up: Array) -> Array:
    return elementwise.swiglu(r(gate), r(up))


def _of_rounded_silu(r: Rounding, gate: Array, up: Array) -> Array:
    return r(elementwise.silu(gate)) * up


def _gated(operation: Operation, output: Callable[[Rounding, Array, Array], Array]) -> Change:
    """Gate and up as they are, and what is made of them in another way."""
    return lambda r: giving(operation, lambda results, _: (*results[:2], output(r, results[0], results[1])))


def _rmsnorm(r: Rounding) -> Operation:
    return lambda input, weight, eps: r(norm.rmsnorm(input, np.ones_like(weight), eps)) * weight


def _rmsnorm_residual(r: Rounding) -> Operation:
    def function(input: Array, residual: Array, weight: Array, eps: float) -> tuple[Array, Array]:
        s = r(input + residual)
        return norm.rmsnorm(s, weight, eps), s

    return function


def _fused_cross_entropy(r: Rounding) -> Operation:
    def function(logits: Array, targets: Array, scale: float) -> tuple[Array, Array, Array]:
        d_logits, total, lse = loss.fused_cross_entropy(logits, targets, 1.0)
        return r(d_logits) * scale, total, lse

    return function


def _cross_entropy_backward(r: Rounding) -> Operation:
    def function(log_probs: Array, targets: Array, scale: float) -> Array:
        chosen = targets[:, None] == np.arange(log_probs.shape[1])
        d_logits = loss.cross_entropy_backward(log_probs, targets, scale)
        return np.where(chosen, r(np.exp(log_probs) * scale) - scale, d_logits)

    return function


def _turned(direction: float, names: tuple[str, str]) -> Change:
    """Rotation whose four products are each rounded before two of them are added."""

    def change(r: Rounding) -> Operation:
        def turned(x: Array, g: Given) -> Array:
            angles = direction * g["freqs"][g["offset"] : g["offset"] + x.shape[1], None, :]
            cosine, sine, first, second = np.cos(angles), np.sin(angles), x[..., 0::2], x[..., 1::2]
            pairs = (r(first * cosine) - r(second * sine), r(first * sine) + r(second * cosine))
            return np.stack(pairs, axis=-1).reshape(x.shape)

        operation = rope.rope_qk if direction > 0 else rope.rope_qk_backward
        return giving(operation, lambda _, g: tuple(turned(g[name], g) for name in names))

    return change


_STATISTICS = "What is declared float32 is kept in 16 bits, like the rest."
_TWICE = "What lies between is stored, and so rounded, before it is used."
CHANGES: tuple[tuple[Operation, str, str, Change], ...] = (
    (elementwise.swiglu, "silu rounded", _TWICE, _swiglu),
    (norm.rmsnorm, "rounded before the weight", _TWICE, _rmsnorm),
    (norm.rmsnorm, "weight in 16 bits", _STATISTICS, _input(norm.rmsnorm, "weight")),
    (norm.rmsnorm_residual, "sum rounded before it is normalised", _TWICE, _rmsnorm_residual),
    *((f, "d_weight in 16 bits", "The gradient adds up in 16 bits.", _result(f, 1))
      for f in (norm.rmsnorm_backward, norm.rmsnorm_residual_backward)),
    *((f, "product rounded before beta * C", _TWICE, _rounded_before_beta(f))
      for f in (gemm.gemm_beta, gemm.gemm_nn, gemm.gemm_tt)),
    (gemm.router_gemm, "C in 16 bits", "The logits are stored like the rest.", _result(gemm.router_gemm)),
    *((f, "C in 16 bits", "The gradient adds up in 16 bits.", _result(f))
      for f in (gemm.gemm_tn, gemm.grouped_gemm_tn)),
    *((f, name, _TWICE, _gated(f, output)) for f in (gemm_swiglu.gemm_swiglu, gemm_swiglu.grouped_gemm_swiglu)
      for name, output in (("SwiGLU of what is stored", _of_stored), ("silu rounded", _of_rounded_silu))),
    *((router.topk_router, f"{name} in 16 bits", _STATISTICS, _result(router.topk_router, place))
      for name, place in (("weights", 0), ("probs", 2), ("aux_loss", 3), ("p_means", 5))),
    *((router.topk_router_backward, f"{name} in 16 bits", _STATISTICS, _input(router.topk_router_backward, name))
      for name in ("probs", "d_weights")),
    *((f, "angles in 16 bits", _STATISTICS, _input(f, "freqs")) for f in (rope.rope_qk, rope.rope_qk_backward)),
    (rope.rope_qk, "products rounded before they are added", _TWICE, _turned(1.0, ("q", "k"))),
    (rope.rope_qk_backward, "products rounded before they are added", _TWICE, _turned(-1.0, ("d_q_out", "d_k_out"))),
    (attention.attention_forward, "lse in 16 bits", _STATISTICS, _result(attention.attention_forward, 1)),
    (attention.attention_backward, "lse in 16 bits", _STATISTICS, _input(attention.attention_backward, "lse")),
    *((f, "weights in 16 bits", _STATISTICS, _input(f, "weights"))
      for f in (moe.expert_combine, moe.expert_combine_backward)),
    (moe.expert_combine_backward, "d_weights in 16 bits", _STATISTICS, _result(moe.expert_combine_backward, 1)),
    (loss.cross_entropy_forward, "log_probs in 16 bits", _STATISTICS, _result(loss.cross_entropy_forward, 1)),
    (loss.cross_entropy_backward, "log_probs in 16 bits", _STATISTICS,
     _input(loss.cross_entropy_backward, "log_probs")),
    (loss.cross_entropy_backward, "rounded before 1 is taken off", _TWICE, _cross_entropy_backward),
    (loss.fused_cross_entropy, "lse in 16 bits", _STATISTICS, _result(loss.fused_cross_entropy, 2)),
    (loss.fused_cross_entropy, "loss in 16 bits", _STATISTICS, _result(loss.fused_cross_entropy, 1)),
    (loss.fused_cross_entropy, "probabilities rounded before the scale", _TWICE, _fused_cross_entropy),
    (embedding.scatter_add, "sums in 16 bits", "The gradient adds up in 16 bits.", _result(embedding.scatter_add)),
)  # fmt: skip


def _carried(suffix: str, stated: tuple[Reading, ...]) -> Iterator[Reading]:
    """The readings of the operation in float32, its results stored in 16 bits."""
    by_name = {operation.__name__: halves for operation, halves in RESULTS.items()}
    for reading in stated:
        if reading.operation in by_name and not any(word in reading.name for word in _OF_FORMATS):
            name, halves = f"{reading.operation}_{suffix}", by_name[reading.operation]
            function = stored_in(FORMATS[suffix], reading.function, name, halves)
            yield replace(reading, operation=name, function=function)


def _storing(suffix: str, operation: Operation, halves: tuple[bool, ...], rounding: Rounding) -> Operation:
    """The operation, what is stored in 16 bits rounded in another way."""

    def change(results: Any, _: Given) -> Any:
        if not isinstance(results, tuple):
            return rounding(results)
        return tuple(rounding(result) if half else result for result, half in zip(results, halves, strict=True))

    return giving(operation, change)


def _stored(suffix: str) -> Iterator[Reading]:
    """Results that leave in another way."""
    other = "fp16" if suffix == "bf16" else "bf16"
    for operation, halves in RESULTS.items():
        name = f"{operation.__name__}_{suffix}"
        if operation in MOVES:
            way, why = through(FORMATS[other]), "The two 16-bit formats are taken for one another."
            yield Reading(name, f"moved through {FORMATS[other].name}", why, _storing(suffix, operation, halves, way))
        elif any(halves):
            way, why = cut_off(suffix), "The bits that do not fit are dropped, not rounded."
            yield Reading(name, "results cut off", why, _storing(suffix, operation, halves, way), says=_SHORTENED)


def _shortened(suffix: str) -> Iterator[Reading]:
    """What is declared float32, or not stored at all, rounded to 16 bits."""
    rounding = through(FORMATS[suffix])
    for operation, name, why, change in CHANGES:
        shortened, halves = change(rounding), RESULTS[operation]
        full = f"{operation.__name__}_{suffix}"
        yield Reading(full, name, why, stored_in(FORMATS[suffix], shortened, full, halves), says=_SHORTENED)


def _updates(suffix: str, stated: tuple[Reading, ...]) -> Iterator[Reading]:
    """AdamW with 16-bit copies: multi_adamw's readings, and what the copies may hold."""
    dtype, name = FORMATS[suffix], f"multi_adamw_{suffix}"
    right = with_copies(dtype, name, optimizer.multi_adamw)
    for reading in stated:
        if reading.operation == "multi_adamw":
            yield replace(reading, operation=name, function=with_copies(dtype, name, reading.function))

    def copying(copied: Callable[[Array, int, Given], Array]) -> Operation:
        def change(results: tuple[list[Array], ...], g: Given) -> tuple[list[Array], ...]:
            return *results[:3], [copied(param, place, g) for place, param in enumerate(results[0])]

        return giving(right, change)

    def of(seed: Callable[[int], int], place: Callable[[int], int]) -> Operation:
        return copying(lambda param, i, g: copied(param, dtype, seed(g["seed"]), place(i)))

    why = "The copies are made before the update."
    yield Reading(name, "copies of the old parameters", why,
                  copying(lambda param, i, g: copied(g["params"][i], dtype, g["seed"], i)))  # fmt: skip
    yield Reading(name, "never drawn", "The seed is not looked at.", of(lambda seed: 0, lambda i: i))
    yield Reading(
        name, "drawn by seed 0 too", "Seed 0 is a seed like any other.", of(lambda seed: seed or 2**64, lambda i: i)
    )
    yield Reading(
        name, "one draw for every array", "Draws are counted by the element alone.", of(lambda seed: seed, lambda i: 0)
    )
    yield Reading(name, "copies cut off", "The bits that do not fit are dropped, not rounded.",
                  copying(lambda param, i, g: cut_off(suffix)(param)), says=_SHORTENED)  # fmt: skip
    yield Reading(name, "copies left as they were", "The parameters alone are updated.",
                  copying(lambda param, i, g: g["copies"][i]), says="never written")  # fmt: skip


def _ignoring_arguments(rounding: Rounding) -> Callable[[Any, Given], Any]:
    return lambda result, _: rounding(result)


def _casts(suffix: str) -> Iterator[Reading]:
    to, back = f"cast_to_{suffix}", f"cast_from_{suffix}"
    other = FORMATS["fp16" if suffix == "bf16" else "bf16"]
    why = "The bits that do not fit are dropped, not rounded."
    yield Reading(to, "results cut off", why, giving(cast, _ignoring_arguments(cut_off(suffix))), says=_SHORTENED)
    yield Reading(to, "ties away from zero", "Half is always rounded up.",
                  giving(cast, _ignoring_arguments(away_from_ties(suffix))))  # fmt: skip
    for name, why, wrong in MISROUNDED[suffix]:
        yield Reading(to, name, why, giving(cast, _ignoring_arguments(wrong)))
    for name in (to, back):
        why = "The two 16-bit formats are taken for one another."
        yield Reading(name, f"through {other.name}", why, giving(cast, _ignoring_arguments(through(other))))


def readings(stated: tuple[Reading, ...]) -> tuple[Reading, ...]:
    """Every reading of the 16-bit operations; stated: those of the float32 operations."""
    return tuple(
        reading
        for suffix in FORMATS
        for some in (
            _carried(suffix, stated),
            _stored(suffix),
            _shortened(suffix),
            _casts(suffix),
            _updates(suffix, stated),
        )
        for reading in some
    )
