"""Wrong readings of the cross entropy whose gradient takes the logits' place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import loss as ops

from .loss import LAST_CLASS, last_class_for_minus_1
from .reading import Given, Reading, fed, giving
from .softmax import FROM_0, largest_from_0

_OPERATION = "fused_cross_entropy"
Results = tuple[Array, Array, Array]
_reading = partial(Reading, _OPERATION)


def _gradient(change: Callable[[Array, Given], Array]) -> Callable[..., Any]:
    """The operation with another gradient."""
    return giving(ops.fused_cross_entropy, lambda r, g: (change(r[0], g), r[1], r[2]))


def _loss(change: Callable[[Results, Given], Array]) -> Callable[..., Any]:
    return giving(ops.fused_cross_entropy, lambda r, g: (r[0], change(r, g), r[2]))


def _lse(change: Callable[[Array, Given], Array]) -> Callable[..., Any]:
    return giving(ops.fused_cross_entropy, lambda r, g: (r[0], r[1], change(r[2], g)))


def _counted(g: Given) -> Array:
    return g["targets"] >= 0


def _probabilities(g: Given) -> Array:
    return np.exp(g["logits"] - ops.logsumexp(g["logits"]))


def _onehot(g: Given) -> Array:
    return np.asarray(g["targets"][:, None] == np.arange(g["logits"].shape[1]), g["logits"].dtype)


def _last_class_for_minus_1(g: Given) -> Array:
    return last_class_for_minus_1(g["targets"], g["logits"].shape[1])


def _where_counted(d_logits: Array, g: Given) -> Array:
    return np.where(_counted(g)[:, None], d_logits, d_logits.dtype.type(0))


def _of_what_is_overwritten(r: Results, g: Given) -> Array:
    """The target's logit is read where its gradient lies by now."""
    (rows,) = np.nonzero(_counted(g))
    if not rows.size:
        return r[1]
    return np.mean(r[2][rows] - r[0][rows, g["targets"][rows]], keepdims=True)


def _without_maximum(logits: Array, targets: Array, scale: float) -> Results:
    total = np.sum(np.exp(logits), axis=1, keepdims=True)
    right = ops.fused_cross_entropy(logits, targets, scale)
    g = {"logits": logits, "targets": targets}
    return _where_counted((np.exp(logits) / total - _onehot(g)) * scale, g), right[1], np.log(total)[:, 0]


def _maximum_from_0(logits: Array, targets: Array, scale: float) -> Results:
    shifted = logits - (most := largest_from_0(logits))
    total = np.sum(np.exp(shifted), axis=1, keepdims=True)
    lse = (most + np.log(total))[:, 0]
    (rows,) = np.nonzero(targets >= 0)
    loss = np.mean(lse[rows] - logits[rows, targets[rows]], keepdims=True) if rows.size else np.zeros_like(lse[:1])
    g = {"logits": logits, "targets": targets}
    return _where_counted((np.exp(shifted) / total - _onehot(g)) * scale, g), loss, lse


READINGS = (
    _reading("-1 as the last class", LAST_CLASS, fed(ops.fused_cross_entropy, targets=_last_class_for_minus_1)),
    _reading("logits left as they were", "The gradient is meant to lie elsewhere.",
             _gradient(lambda d, g: g["logits"] + g["logits"].dtype.type(0)), says="never written|left as|unchanged"),
    _reading("probabilities left in place", "The gradient's own step is left to the caller.",
             _gradient(lambda d, g: _probabilities(g))),
    _reading("ignored rows left as they were", "Rows that do not count are skipped, and hold logits.",
             _gradient(lambda d, g: np.where(_counted(g)[:, None], d, g["logits"]))),
    _reading("ignored rows differentiated", "Rows that do not count get probabilities * scale.",
             _gradient(lambda d, g: np.where(_counted(g)[:, None], d, _probabilities(g) * g["scale"]))),
    _reading("ignored rows as class 0", "A negative target is clamped to the first class.",
             fed(ops.fused_cross_entropy, targets=lambda g: np.maximum(g["targets"], 0))),
    _reading("scale ignored", "The gradient of the sum is returned.",
             fed(ops.fused_cross_entropy, scale=lambda g: 1.0)),
    _reading("divided by all rows", "The kernel takes the mean although the scale holds it.",
             fed(ops.fused_cross_entropy, scale=lambda g: g["scale"] / len(g["targets"]))),
    _reading("onehot not scaled", "The scale is applied to the probabilities alone.",
             _gradient(lambda d, g: d + _onehot(g) * (g["scale"] - 1.0))),
    _reading("onehot missing", "The probabilities alone are returned.",
             _gradient(lambda d, g: _where_counted(_probabilities(g) * g["scale"], g))),
    _reading("sign reversed", "onehot - probabilities, as for the gradient of the log-likelihood.",
             _gradient(lambda d, g: -d)),
    _reading("lse of masked rows -infinity", "Where every logit is -infinity nothing is subtracted before exp.",
             _lse(lambda lse, g: np.where(np.max(g["logits"], axis=1) == -np.inf, lse.dtype.type(-np.inf), lse))),
    _reading("softmax without its maximum", "exp of the logits themselves is summed, and overflows or vanishes.",
             _without_maximum),
    _reading(*FROM_0, _maximum_from_0),
    _reading("loss of what is overwritten", "The target's logit is read after its gradient has been stored.",
             _loss(_of_what_is_overwritten)),
    _reading("loss scaled like the gradient", "One scale for both.", _loss(lambda r, g: r[1] * g["scale"])),
    _reading("sum in place of the mean", "The rows' losses are added up.",
             _loss(lambda r, g: r[1] * max(int(np.count_nonzero(_counted(g))), 1))),
    _reading("mean over all rows", "Ignored rows count in the divisor.",
             _loss(lambda r, g: r[1] * (np.count_nonzero(_counted(g)) / len(g["targets"])))),
    _reading("maximum in place of lse", "What is kept of a row is what was subtracted.",
             _lse(lambda lse, g: np.max(g["logits"], axis=1))),
    _reading("logarithm of the sum without the maximum", "The maximum is not added again.",
             _lse(lambda lse, g: lse - np.max(g["logits"], axis=1))),
    _reading("lse of ignored rows 0", "Rows that do not count are skipped.",
             _lse(lambda lse, g: np.where(_counted(g), lse, lse.dtype.type(0)))),
)  # fmt: skip
