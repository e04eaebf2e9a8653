"""Routing tokens to experts: sort, dispatch, combine with their gradients, and the load-balancing loss."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, check, check_indices, check_same_shape, ieee, inverse_permutation


@ieee
def expert_sort(indices: Array, n_experts: int) -> tuple[Array, Array]:
    """Lays the (token, slot) pairs out by expert, in token order within an expert.

    indices: (tokens, top_k). Returns offsets: (n_experts + 1,), expert e owning rows offsets[e] to offsets[e + 1], and
    position: (tokens, top_k), the row of each pair; both int32.
    """
    check_indices("expert_sort", "indices", indices, n_experts)
    flat = indices.reshape(-1)
    position = np.empty(flat.size, np.int32)
    position[np.argsort(flat, kind="stable")] = np.arange(flat.size, dtype=np.int32)
    ends = np.cumsum(np.bincount(flat, minlength=n_experts))
    return np.concatenate([[0], ends]).astype(np.int32), position.reshape(indices.shape)


@ieee
def expert_dispatch(input: Array, position: Array) -> Array:
    """output[position[t, j]] = input[t]. input: (tokens, hidden_dim), position: (tokens, top_k), a permutation."""
    pairs = inverse_permutation("expert_dispatch", "position", position)
    return np.take(input, pairs // position.shape[1], axis=0)


@ieee
def expert_dispatch_backward(d_output: Array, position: Array) -> Array:
    """d_input[t] = sum over j of d_output[position[t, j]]. d_output: (tokens * top_k, hidden_dim)."""
    check_indices("expert_dispatch_backward", "position", position, len(d_output))
    return np.sum(np.take(d_output, position, axis=0), axis=1)


@ieee
def expert_combine(input: Array, weights: Array, position: Array) -> Array:
    """output[t] = sum over j of weights[t, j] * input[position[t, j]].

    input: (tokens * top_k, hidden_dim), weights and position: (tokens, top_k). Returns (tokens, hidden_dim).
    """
    check_same_shape("expert_combine", weights=weights, position=position)
    check_indices("expert_combine", "position", position, len(input))
    return (weights[:, None, :] @ np.take(input, position, axis=0))[:, 0]


@ieee
def expert_combine_backward(input: Array, weights: Array, position: Array, d_output: Array) -> tuple[Array, Array]:
    """d_input[position[t, j]] = weights[t, j] * d_output[t]; d_weights[t, j] = d_output[t] . input[position[t, j]]."""
    check_same_shape("expert_combine_backward", weights=weights, position=position)
    pairs = inverse_permutation("expert_combine_backward", "position", position)
    d_input = weights.reshape(-1)[pairs, None] * np.take(d_output, pairs // position.shape[1], axis=0)
    return d_input, (np.take(input, position, axis=0) @ d_output[:, :, None])[..., 0]


@ieee
def aux_loss_forward(router_probs: Array, expert_indices: Array, alpha: float) -> tuple[Array, Array, Array]:
    """alpha * n_experts * sum over experts of f * P (Fedus et al. 2021, Switch Transformer, equations 4 to 6).

    router_probs: (batch_seq, n_experts), expert_indices: (batch_seq, top_k). Returns aux_loss: (1,), f_counts, the
    tokens whose top-k holds an expert, and p_means, its mean probability: (n_experts,); f = f_counts / batch_seq.
    """
    tokens, n_experts = router_probs.shape
    check(len(expert_indices) == tokens, "aux_loss_forward", "expert_indices", f"{tokens} rows", len(expert_indices))
    check_indices("aux_loss_forward", "expert_indices", expert_indices, n_experts)
    held = np.zeros((tokens, n_experts), bool)
    np.put_along_axis(held, expert_indices, True, axis=1)
    f_counts = held.sum(axis=0).astype(router_probs.dtype)
    p_means = np.mean(router_probs, axis=0)
    return alpha * n_experts * np.sum(f_counts / tokens * p_means, keepdims=True), f_counts, p_means


@ieee
def aux_loss_backward(f_counts: Array, batch_seq: int, alpha: float, scale: float) -> Array:
    """scale * alpha * n_experts * f_counts[e] / batch_seq^2 for every token: the counts are constants.

    Returns d_router_probs: (batch_seq, n_experts). p_means brings one division by batch_seq, f the other.
    """
    row = f_counts * (scale * alpha * len(f_counts) / batch_seq**2)
    return np.repeat(row[None, :], batch_seq, axis=0)
