"""The router as one operation: softmax over the experts, the k largest, and the loss that balances the load."""

from __future__ import annotations

from reference.arrays import Array, check, check_indices, check_same_shape, ieee

from .moe import aux_loss_backward, aux_loss_forward
from .softmax import softmax, softmax_backward, softmax_topk, softmax_topk_backward


@ieee
def topk_router(logits: Array, top_k: int, alpha: float) -> tuple[Array, Array, Array, Array, Array, Array]:
    """softmax_topk and softmax of the logits, and aux_loss_forward of both (Fedus et al. 2021, Switch Transformer).

    logits: (tokens, n_experts). Returns weights and int32 indices: (tokens, top_k), probs: (tokens, n_experts),
    aux_loss: (1,), f_counts and p_means: (n_experts,). Raises ValueError where top_k is not in 1 ... n_experts.
    """
    n_experts = logits.shape[-1]
    check(1 <= top_k <= n_experts, "topk_router", "top_k", f"1 <= top_k <= {n_experts} experts", top_k)
    weights, indices = softmax_topk(logits, top_k)
    probs = softmax(logits)
    return weights, indices, probs, *aux_loss_forward(probs, indices, alpha)


@ieee
def topk_router_backward(
    weights: Array, indices: Array, probs: Array, f_counts: Array, d_weights: Array, alpha: float, scale: float
) -> Array:
    """The logits' gradient: softmax_topk_backward, and softmax_backward of aux_loss_backward.

    weights, indices, d_weights: (tokens, top_k), probs: (tokens, n_experts), f_counts: (n_experts,); scale is the
    auxiliary loss's own gradient. Returns d_logits: (tokens, n_experts).
    """
    tokens, n_experts = probs.shape
    name = "topk_router_backward"
    check(len(weights) == tokens, name, "weights", f"{tokens} rows, as probs", len(weights))
    check_same_shape(name, weights=weights, indices=indices, d_weights=d_weights)
    check_indices(name, "indices", indices, n_experts)
    check(f_counts.shape == (n_experts,), name, "f_counts", f"shape ({n_experts},)", f_counts.shape)
    chosen = softmax_topk_backward(weights, indices, d_weights, n_experts)
    return chosen + softmax_backward(probs, aux_loss_backward(f_counts, tokens, alpha, scale))
