"""Cross entropy of logits against class numbers; a negative target marks a row that does not count."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, check_indices, ieee

from .blocks import by_rows


@ieee
def cross_entropy_forward(logits: Array, targets: Array) -> tuple[Array, Array]:
    """Mean of -log_probs[target] over the rows with a target >= 0 (0 where there is none), and log_probs.

    logits: (batch_seq, vocab_size), targets: (batch_seq,) integers. Returns loss: (1,) and log_probs like logits.
    Raises ValueError for a target >= vocab_size.
    """
    check_indices("cross_entropy_forward", "targets", targets, logits.shape[1], negative=True)
    log_probs = by_rows(log_softmax, logits)
    (counted,) = np.nonzero(targets >= 0)
    if counted.size == 0:
        return np.zeros_like(log_probs[:1, 0]), log_probs
    return np.mean(-log_probs[counted, targets[counted]], keepdims=True), log_probs


def log_softmax(x: Array) -> Array:
    """x - logsumexp(x) over the last axis."""
    maximum = np.max(x, axis=-1, keepdims=True)
    return x - (maximum + np.log(np.sum(np.exp(x - maximum), axis=-1, keepdims=True)))


@ieee
def cross_entropy_backward(log_probs: Array, targets: Array, scale: float) -> Array:
    """(exp(log_probs) - onehot(target)) * scale; 0 in the rows whose target is negative.

    log_probs: (batch_seq, vocab_size), targets: (batch_seq,). scale is 1 / counted rows for the gradient of the mean.
    """
    check_indices("cross_entropy_backward", "targets", targets, log_probs.shape[1], negative=True)
    columns = np.arange(log_probs.shape[1], dtype=targets.dtype)

    def formula(log_probs: Array, targets: Array) -> Array:
        onehot = np.asarray(columns == targets[:, None], log_probs.dtype)
        d_logits = (np.exp(log_probs) - onehot) * scale
        counted = targets[:, None] >= 0
        return d_logits if counted.all() else np.where(counted, d_logits, 0.0)

    return by_rows(formula, log_probs, targets)
