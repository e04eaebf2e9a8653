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
    return x - logsumexp(x)


def logsumexp(x: Array) -> Array:
    """log(sum(exp(x))) over the last axis, which stays as one column; NaN where the largest x is infinite."""
    maximum = np.max(x, axis=-1, keepdims=True)
    return maximum + np.log(np.sum(np.exp(x - maximum), axis=-1, keepdims=True))


@ieee
def cross_entropy_backward(log_probs: Array, targets: Array, scale: float) -> Array:
    """(exp(log_probs) - onehot(target)) * scale; 0 in the rows whose target is negative.

    log_probs: (batch_seq, vocab_size), targets: (batch_seq,). scale is 1 / counted rows for the gradient of the mean.
    """
    check_indices("cross_entropy_backward", "targets", targets, log_probs.shape[1], negative=True)
    return by_rows(lambda log_probs, targets: _gradient(log_probs, targets, scale), log_probs, targets)


def _gradient(log_probs: Array, targets: Array, scale: float) -> Array:
    columns = np.arange(log_probs.shape[1], dtype=targets.dtype)
    onehot = np.asarray(columns == targets[:, None], log_probs.dtype)
    d_logits = (np.exp(log_probs) - onehot) * scale
    counted = targets[:, None] >= 0
    return d_logits if counted.all() else np.where(counted, d_logits, 0.0)


@ieee
def fused_cross_entropy(logits: Array, targets: Array, scale: float) -> tuple[Array, Array, Array]:
    """The gradient of cross_entropy_backward, the loss of cross_entropy_forward, and the rows' log-sum-exp.

    logits: (batch_seq, vocab_size), targets: (batch_seq,) integers, negative where a row does not count. scale is
    1 / counted rows for the gradient of the mean. Returns d_logits like logits, loss: (1,), lse: (batch_seq,).
    Raises ValueError for a target >= vocab_size.
    """
    check_indices("fused_cross_entropy", "targets", targets, logits.shape[1], negative=True)

    def formula(logits: Array, targets: Array) -> tuple[Array, Array, Array]:
        lse = logsumexp(logits)
        log_probs = logits - lse
        losses = -log_probs[np.arange(len(targets)), np.maximum(targets, 0)]
        return _gradient(log_probs, targets, scale), losses, lse[:, 0]

    d_logits, losses, lse = by_rows(formula, logits, targets)
    (counted,) = np.nonzero(targets >= 0)
    loss = np.mean(losses[counted], keepdims=True) if counted.size else np.zeros_like(lse[:1])
    return d_logits, loss, lse
