"""Choosing the next token: the largest logit, or a draw by a linear congruential generator per row."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, check, descending, ieee

from .softmax import softmax


@ieee
def argmax(logits: Array) -> Array:
    """The column of each row's largest logit, the lowest among equals, NaN as the largest. Returns (batch,) int32."""
    return np.argmax(logits, axis=-1).astype(np.int32)


@ieee
def sample(logits: Array, seeds: Array, temperature: float) -> Array:
    """A draw from softmax(logits / temperature), walked in column order; temperature 0 is argmax.

    logits: (batch, vocab_size), seeds: (batch,) uint64. Returns (batch,) int32.
    """
    if _greedy("sample", temperature):
        return argmax(logits)
    return _walk(_tempered(logits, temperature), seeds).astype(np.int32)


@ieee
def topk_sample(logits: Array, seeds: Array, k: int, temperature: float) -> Array:
    """A draw from the softmax over the k largest logits (equal ones by lower column), walked in descending order.

    k above vocab_size means vocab_size.
    """
    check(k >= 1, "topk_sample", "k", "k >= 1", k)
    if _greedy("topk_sample", temperature):
        return argmax(logits)
    order = descending(logits)[:, :k]
    probabilities = _tempered(np.take_along_axis(logits, order, axis=1), temperature)
    return _column(order, _walk(probabilities, seeds))


@ieee
def topp_sample(logits: Array, seeds: Array, top_p: float, temperature: float) -> Array:
    """A draw from the smallest descending prefix of softmax(logits / temperature) whose sum reaches top_p.

    top_p >= 1 keeps every column, top_p <= 0 one (Holtzman et al. 2020, nucleus sampling).
    """
    check(top_p == top_p, "topp_sample", "top_p", "a number", top_p)
    if _greedy("topp_sample", temperature):
        return argmax(logits)
    probabilities = _tempered(logits, temperature)
    order = descending(probabilities)
    probabilities = np.take_along_axis(probabilities, order, axis=1)
    reached = np.cumsum(probabilities, axis=1) >= top_p  # with this entry; the next one is no longer needed
    kept = np.concatenate([np.ones_like(reached[:, :1]), ~reached[:, :-1]], axis=1) if top_p < 1 else True
    probabilities = np.where(kept, probabilities, 0.0)
    return _column(order, _walk(probabilities / np.sum(probabilities, axis=1, keepdims=True), seeds))


def _greedy(operation: str, temperature: float) -> bool:
    check(temperature >= 0, operation, "temperature", "temperature >= 0", temperature)
    return bool(temperature == 0)


def _tempered(logits: Array, temperature: float) -> Array:
    """softmax(logits / temperature), the maximum taken off first so that a small temperature cannot overflow."""
    return softmax((logits - np.max(logits, axis=-1, keepdims=True)) / temperature)


def _uniform(seeds: Array) -> Array:
    """One u in [0, 1) per row, a multiple of 2^-24."""
    rows = np.arange(len(seeds), dtype=np.uint64)
    state = (seeds ^ (rows * 12345)) & 0xFFFFFFFF
    state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
    return (state >> 8) * 2.0**-24


def _walk(probabilities: Array, seeds: Array) -> Array:
    """The first entry of each row with u < cumulative probability, else the last with a probability above 0, else 0."""
    taken = _uniform(seeds)[:, None] < np.cumsum(probabilities, axis=1)
    last = probabilities.shape[1] - 1 - np.argmax(probabilities[:, ::-1] > 0, axis=1)
    last = np.where((probabilities > 0).any(axis=1), last, 0)
    return np.where(taken.any(axis=1), np.argmax(taken, axis=1), last)


def _column(order: Array, place: Array) -> Array:
    return np.take_along_axis(order, place[:, None], axis=1)[:, 0].astype(np.int32)
