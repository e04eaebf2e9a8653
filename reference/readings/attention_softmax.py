"""Wrong readings of attention_softmax, those of its masks apart: scale, maximum, what is normalised."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reference.arrays import Array
from reference.ops import attention_softmax as ops

from .masked_scores import Call, largest, normalised, of, reading
from .reading import Reading, fed, giving
from .softmax import FROM_0, largest_from_0


def _by_columns(columns: int) -> Callable[[Call], Array]:
    """Shifted by the maximum of the first columns only: it overflows where the true one lies beyond."""
    return lambda call: normalised(call.x(), largest(call.x()[..., :columns]))


def _over_all_keys(call: Call) -> Array:
    x = call.scores * call.scale
    return np.where(call.hidden(), 0, normalised(x, largest(x)))


def _at_least(lowest: float) -> Callable[[Call], Array]:
    """A number for -inf."""

    def weights(call: Call) -> Array:
        x = np.maximum(call.x(), call.scores.dtype.type(lowest))
        return normalised(x, largest(x))

    return weights


def _first_key_always(call: Call) -> Array:
    """What a query sees is at least one key long."""
    future = call.future()
    future = future & ~(future.all(axis=1, keepdims=True) & (np.arange(future.shape[1]) == 0))
    x = call.scores * call.scale + call.added()
    x = np.where(future, -np.inf, x).astype(x.dtype) if call.causal else x
    return normalised(x, largest(x))


def _hidden_below(lowest: float) -> Callable[[Call], Array]:
    """-inf for what is as low as such a number."""

    def weights(call: Call) -> Array:
        x = np.where(call.x() < lowest, -np.inf, call.x())
        return normalised(x, largest(x))

    return weights


def _unseen_rows(call: Call) -> Array:
    return np.isneginf(largest(call.x()))


def _scaled_as(change: Callable[[float], float]) -> Callable[..., Array]:
    return fed(ops.attention_softmax, scale=lambda g: change(g["scale"]))


READINGS: tuple[Reading, ...] = (
    reading(
        "normalised over all keys",
        "What is masked is set to 0 behind the softmax, and counted in it.",
        of(_over_all_keys),
    ),
    reading("scale ignored", "The scores are taken as scaled.", _scaled_as(lambda scale: 1.0)),
    reading("scale twice", "The scores are scaled already, and once more.", _scaled_as(lambda scale: scale * scale)),
    reading(
        "divided by the scale", "scale is taken for the temperature.", _scaled_as(lambda s: 1 / s if s else np.inf)
    ),
    reading(
        "maximum before the scale",
        "The largest score is found first, then scaled: by a negative scale the smallest.",
        of(lambda call: normalised(call.x(), largest(np.where(call.hidden(), -np.inf, call.scores)) * call.scale)),
    ),
    reading(
        "maximum over what is masked",
        "The largest of all scores is taken off: nothing is left where a masked one is far above.",
        of(lambda call: normalised(call.x(), largest(call.scores * call.scale))),
    ),
    reading(
        "maximum of the head",
        "One maximum is taken for all queries of a head.",
        of(lambda call: normalised(call.x(), largest(call.x(), (-2, -1)))),
    ),
    reading("maximum of the first 32 keys", "One warp's maximum is taken for the row's.", of(_by_columns(32))),
    reading("maximum of the first 1024 keys", "One block's maximum is taken for the row's.", of(_by_columns(1024))),
    reading(
        "no maximum",
        "The exponentials are summed as they are, and overflow.",
        of(lambda call: normalised(call.x(), largest(call.x()) * 0)),
    ),
    reading(*FROM_0, of(lambda call: normalised(call.x(), largest_from_0(call.x())))),
    reading(
        "a query that sees no key gives NaN",
        "0 is divided by 0, as in a plain softmax.",
        giving(ops.attention_softmax, lambda r, g: np.where(_unseen_rows(Call(**g)), np.nan, r)),
    ),
    reading(
        "a query that sees no key gives the mean",
        "-10000 stands for -inf: of nothing but these all are alike.",
        of(_at_least(-1e4)),
    ),
    reading(
        "a query that sees no key sees the first",
        "How many keys are seen is no less than 1.",
        of(_first_key_always),
    ),
    reading(
        "what lies below -1e9 taken for hidden",
        "A number stands for -inf, and a finite score or mask as low as that is taken for it.",
        of(_hidden_below(-1e9)),
    ),
    reading(
        "over queries",
        "The other axis is normalised.",
        of(lambda call: normalised(call.x(), largest(call.x(), -2), -2)),
    ),
    reading(
        "logarithm", "The logarithm of the weights is returned.", giving(ops.attention_softmax, lambda r, g: np.log(r))
    ),
    reading(
        "power of two",
        "exp2 is used without the factor log2(e).",
        of(lambda call: normalised(call.x() * call.scores.dtype.type(np.log(2)), largest(call.x() * np.log(2)))),
    ),
)
