"""Sampling as published kernels arrange it: see rearranged.py."""

from __future__ import annotations

from typing import Any

import numpy as np

import reference

Array = Any


def _drawn(weights: Array, seeds: Array) -> Array:
    """The draw scaled by the sum, instead of the sum divided out."""
    ends = np.cumsum(weights, axis=1)
    state = (seeds ^ (np.arange(len(seeds), dtype=np.uint64) * 12345)) & 0xFFFFFFFF
    u = (((state * 1664525 + 1013904223) & 0xFFFFFFFF) >> 8).astype(np.float32) * np.float32(2.0**-24)
    taken = u[:, None] * ends[:, -1:] < ends
    last = weights.shape[1] - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)
    return np.where(taken.any(axis=1), np.argmax(taken, axis=1), last)


def _weights(logits: Array, temperature: float) -> Array:
    """Divided by the temperature before anything else."""
    hot = logits / np.float32(temperature)
    return np.exp(hot - np.max(hot, axis=1, keepdims=True))


def sample(logits: Array, seeds: Array, temperature: float) -> Array:
    if temperature == 0:
        return reference.argmax(logits)
    return _drawn(_weights(logits, temperature), seeds).astype(np.int32)


def topk_sample(logits: Array, seeds: Array, k: int, temperature: float) -> Array:
    if temperature == 0:
        return reference.argmax(logits)
    order = np.argsort(-logits, axis=1, kind="stable")[:, :k]
    place = _drawn(_weights(np.take_along_axis(logits, order, axis=1), temperature), seeds)
    return np.take_along_axis(order, place[:, None], axis=1)[:, 0].astype(np.int32)


def topp_sample(logits: Array, seeds: Array, top_p: float, temperature: float) -> Array:
    """Ranked by logits; the prefix is found on the weights as they are."""
    if temperature == 0:
        return reference.argmax(logits)
    order = np.argsort(-logits, axis=1, kind="stable")
    weights = np.take_along_axis(_weights(logits, temperature), order, axis=1)
    before = np.cumsum(weights, axis=1) - weights
    kept = (before < np.float32(top_p) * np.sum(weights, axis=1, keepdims=True)) | (top_p >= 1)
    kept[:, 0] = True
    place = _drawn(np.where(kept, weights, np.float32(0)), seeds)
    return np.take_along_axis(order, place[:, None], axis=1)[:, 0].astype(np.int32)
