"""The mixture of experts: router, auxiliary loss, and SwiGLU experts on tokens sorted by expert.

rows = tokens * top_k: a token has one row for each expert chosen for it.
"""

from __future__ import annotations

from typing import NamedTuple

from reference.arrays import Array
from reference.namespace import Ops, offers

from . import linear
from .config import Config
from .parameters import Layer


class Routing(NamedTuple):
    """The router's choice: weights and indices [tokens, top_k], probs [tokens, experts], f_counts [experts];
    expert e owns rows offsets[e] to offsets[e + 1], and position [tokens, top_k] tells a choice's row."""

    weights: Array
    indices: Array
    probs: Array
    f_counts: Array
    offsets: Array
    position: Array


class Kept(NamedTuple):
    """What backward needs of forward: x [tokens, hidden]; inner, gate, up [rows, ffn]; rows, output [rows, hidden]."""

    x: Array
    routing: Routing
    rows: Array
    gate: Array
    up: Array
    inner: Array
    output: Array


def forward(ops: Ops, config: Config, layer: Layer, x: Array) -> tuple[Array, Array, Kept]:
    """(output [tokens, hidden], auxiliary loss [1], kept)."""
    routing, aux_loss = route(ops, config, layer, x)
    rows = ops.expert_dispatch(x, routing.position)
    gate, up, inner = _gate_and_up(ops, layer, rows, routing.offsets)
    output = ops.grouped_gemm(inner, layer.down, routing.offsets)
    y = ops.expert_combine(output, routing.weights, routing.position)
    return y, aux_loss, Kept(x, routing, rows, gate, up, inner, output)


def _gate_and_up(ops: Ops, layer: Layer, rows: Array, offsets: Array) -> tuple[Array, Array, Array]:
    """(gate, up, inner), as one product where there is an operation for it."""
    if offers(ops, "grouped_gemm_swiglu"):
        gate, up, inner = ops.grouped_gemm_swiglu(rows, layer.gate, layer.up, offsets)
        return gate, up, inner
    gate, up = ops.grouped_gemm(rows, layer.gate, offsets), ops.grouped_gemm(rows, layer.up, offsets)
    return gate, up, ops.swiglu(gate.reshape(-1), up.reshape(-1)).reshape(gate.shape)


def route(ops: Ops, config: Config, layer: Layer, x: Array) -> tuple[Routing, Array]:
    """Each token's experts, and the auxiliary loss that asks for an even load."""
    logits = ops.router_gemm(x, layer.router) if offers(ops, "router_gemm") else ops.gemm(x, layer.router)
    weights, indices, probs, aux_loss, f_counts = _choose(ops, config, logits)
    offsets, position = ops.expert_sort(indices, n_experts=config.experts)
    return Routing(weights, indices, probs, f_counts, offsets, position), aux_loss


def _choose(ops: Ops, config: Config, logits: Array) -> tuple[Array, Array, Array, Array, Array]:
    """(weights, indices, probs, auxiliary loss, f_counts), in one pass over the logits where there is one for it."""
    if offers(ops, "topk_router"):
        weights, indices, probs, aux_loss, f_counts, _ = ops.topk_router(
            logits, top_k=config.top_k, alpha=config.aux_alpha
        )
        return weights, indices, probs, aux_loss, f_counts
    weights, indices = ops.softmax_topk(logits, k=config.top_k)
    probs = ops.softmax(logits)
    aux_loss, f_counts, _ = ops.aux_loss_forward(probs, indices, alpha=config.aux_alpha)
    return weights, indices, probs, aux_loss, f_counts


def backward(
    ops: Ops, config: Config, layer: Layer, kept: Kept, d_y: Array, scale: float, into: Layer
) -> tuple[Array, dict[str, Array]]:
    """(d_x, gradients by field), the gradients added to what `into` holds; scale is the auxiliary loss's gradient."""
    routing = kept.routing
    d_output, d_weights = ops.expert_combine_backward(kept.output, routing.weights, routing.position, d_y)
    d_rows, gradients = _experts_backward(ops, layer, kept, d_output, into)
    d_x = ops.expert_dispatch_backward(d_rows, routing.position)
    d_logits = _router_backward(ops, config, routing, d_weights, scale)
    d_x, d_router = linear.backward(ops, kept.x, layer.router, d_logits, into.router, d_x)
    return d_x, {"router": d_router, **gradients}


def _experts_backward(
    ops: Ops, layer: Layer, kept: Kept, d_output: Array, into: Layer
) -> tuple[Array, dict[str, Array]]:
    offsets = kept.routing.offsets
    d_down = ops.grouped_gemm_tn(d_output, kept.inner, offsets, into.down, beta=linear.beta(into.down))
    d_inner = ops.grouped_gemm_nn(d_output, layer.down, offsets)
    d_gate, d_up = ops.swiglu_backward(kept.gate.reshape(-1), kept.up.reshape(-1), d_inner.reshape(-1))
    d_gate, d_up = d_gate.reshape(d_inner.shape), d_up.reshape(d_inner.shape)
    gradients = {
        "gate": ops.grouped_gemm_tn(d_gate, kept.rows, offsets, into.gate, beta=linear.beta(into.gate)),
        "up": ops.grouped_gemm_tn(d_up, kept.rows, offsets, into.up, beta=linear.beta(into.up)),
        "down": d_down,
    }
    through_gate = ops.grouped_gemm_nn(d_gate, layer.gate, offsets)
    through_up = ops.grouped_gemm_nn(d_up, layer.up, offsets)
    return ops.add(through_gate.reshape(-1), through_up.reshape(-1)).reshape(through_gate.shape), gradients


def _router_backward(ops: Ops, config: Config, routing: Routing, d_weights: Array, scale: float) -> Array:
    """The logits' gradient: through the weights of the experts chosen, and through the auxiliary loss's means."""
    if offers(ops, "topk_router_backward"):
        weights, indices, probs, f_counts = routing.weights, routing.indices, routing.probs, routing.f_counts
        alpha = config.aux_alpha
        return ops.topk_router_backward(weights, indices, probs, f_counts, d_weights, alpha=alpha, scale=scale)
    chosen = ops.softmax_topk_backward(routing.weights, routing.indices, d_weights, cols=config.experts)
    tokens = routing.probs.shape[0]
    d_probs = ops.aux_loss_backward(routing.f_counts, batch_seq=tokens, alpha=config.aux_alpha, scale=scale)
    balance = ops.softmax_backward(routing.probs, d_probs)
    return ops.add(chosen.reshape(-1), balance.reshape(-1)).reshape(chosen.shape)
