"""Routing tokens to experts and back, one number at a time."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from .numbers import Matrix, Number, Vector, dot, flat, tensor
from .softmax import softmax, softmax_topk

Indices = Sequence[Sequence[int]]


def expert_sort(indices: Indices, n_experts: int) -> tuple[list[int], list[list[int]]]:
    pairs = [(expert, t, j) for t, row in enumerate(indices) for j, expert in enumerate(row)]
    row_of = {(t, j): row for row, (_, t, j) in enumerate(sorted(pairs))}
    offsets = [sum(expert < e for expert, _, _ in pairs) for e in range(n_experts + 1)]
    return offsets, [[row_of[t, j] for j in range(len(row))] for t, row in enumerate(indices)]


def expert_dispatch(input: Matrix, position: Indices) -> Matrix:
    token_of = {row: t for t, rows in enumerate(position) for row in rows}
    return [list(input[token_of[row]]) for row in range(len(flat(position)))]


def expert_combine(input: Matrix, weights: Matrix, position: Indices) -> Matrix:
    def entry(t: int, d: int) -> Number:
        return dot(weights[t], [input[row][d] for row in position[t]])

    return tensor((len(position), len(input[0])), entry)  # type: ignore[no-any-return]


def aux_loss_forward(router_probs: Matrix, expert_indices: Indices, alpha: Number) -> tuple[Vector, Vector, Vector]:
    tokens, n_experts = len(router_probs), len(router_probs[0])
    f_counts = [Decimal(sum(e in chosen for chosen in expert_indices)) for e in range(n_experts)]
    p_means = [sum((row[e] for row in router_probs), Decimal(0)) / tokens for e in range(n_experts)]
    return [alpha * n_experts * dot(f_counts, p_means) / tokens], f_counts, p_means


def topk_router(logits: Matrix, top_k: int, alpha: Number) -> tuple[Matrix, Indices, Matrix, Vector, Vector, Vector]:
    weights, indices = softmax_topk(logits, top_k)
    probs = softmax(logits)
    return weights, indices, probs, *aux_loss_forward(probs, indices, alpha)
