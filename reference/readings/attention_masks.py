"""Wrong readings of the masks of attention_softmax: of keys, and of the future."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import attention_softmax as ops

from .masked_scores import Call, largest, normalised, of, reading
from .reading import Given, fed


def _masked_with(mask: Callable[[Call, Array], Array]) -> Callable[..., Array]:
    """The operation itself with another mask, where there is one."""

    def changed(given: Given) -> Any:
        call = Call(**given)
        return mask(call, given["mask"]) if given["has_mask"] else given["mask"]

    return fed(ops.attention_softmax, mask=changed)


def _by_head(call: Call) -> Array:
    if call.mask is None:
        return ops.attention_softmax(call.scores, None, call.scale, call.has_mask, call.causal, call.offset)
    rows = [np.repeat(call.mask[h % len(call.mask)][None], len(call.mask), 0) for h in range(call.scores.shape[1])]
    heads = (
        ops.attention_softmax(call.scores[:, h : h + 1], row, call.scale, call.has_mask, call.causal, call.offset)
        for h, row in enumerate(rows)
    )
    return np.concatenate(list(heads), axis=1)


def _with_future(own: int) -> Callable[[Call], Array]:
    def weights(call: Call) -> Array:
        x = call.scores * call.scale + call.added()
        x = np.where(call.future(own), -np.inf, x).astype(x.dtype) if call.causal else x
        return normalised(x, largest(x))

    return weights


def _past_hidden(call: Call) -> Array:
    x = call.scores * call.scale + call.added()
    x = np.where(call.future(-1), x, -np.inf).astype(x.dtype) if call.causal else x
    return normalised(x, largest(x))


def _by_flat_rows(call: Call) -> Array:
    """The position is the row's number among all heads' rows."""
    x, rows = call.scores * call.scale + call.added(), np.prod(call.scores.shape[:3])
    position = np.arange(rows).reshape(*call.scores.shape[:3], 1) + call.offset
    x = np.where(np.arange(x.shape[-1]) > position, -np.inf, x).astype(x.dtype) if call.causal else x
    return normalised(x, largest(x))


def _added_future(call: Call) -> Array:
    """-inf is added to what a query may not see, rather than put there: NaN stays."""
    x = call.scores * call.scale + call.added()
    x = x + np.where(call.future(), -np.inf, 0).astype(x.dtype) if call.causal else x
    return normalised(x, largest(x))


def _only_seen_written(call: Call) -> Array:
    weights = normalised(call.x(), largest(call.x()))
    return np.where(call.future(), call.scores, weights) if call.causal else weights


READINGS = (
    reading("mask ignored", "Padding takes part.", fed(ops.attention_softmax, has_mask=lambda g: 0)),
    reading(
        "mask of ones for what is kept",
        "The mask is taken for 1 where a key is kept and 0 where it is hidden.",
        _masked_with(lambda call, mask: np.where(mask == 0, -np.inf, 0).astype(mask.dtype)),
    ),
    reading(
        "mask of ones for what is hidden",
        "The mask is taken for 0 where a key is kept, and what it adds is lost.",
        _masked_with(lambda call, mask: np.where(mask == 0, 0, -np.inf).astype(mask.dtype)),
    ),
    reading(
        "mask that only hides",
        "Finite numbers of the mask, such as positions' biases, are not added.",
        _masked_with(lambda call, mask: np.where(np.isneginf(mask), mask, 0).astype(mask.dtype)),
    ),
    reading(
        "mask no lower than -10000",
        "-10000 stands for a mask's -inf: where it is all that a query has, scores tell.",
        _masked_with(lambda call, mask: np.maximum(mask, mask.dtype.type(-1e4))),
    ),
    reading("mask subtracted", "Its sign is turned.", _masked_with(lambda call, mask: -mask)),
    reading(
        "mask of the first sequence for all",
        "The batch has no stride.",
        _masked_with(lambda call, mask: np.broadcast_to(mask[:1], mask.shape).copy()),
    ),
    reading("mask by head", "The mask's row is that of the head.", of(_by_head)),
    reading(
        "mask scaled",
        "It is added before the scale.",
        _masked_with(lambda call, mask: mask * mask.dtype.type(call.scale)),
    ),
    reading(
        "mask added although there is none",
        "has_mask is not looked at.",
        fed(ops.attention_softmax, has_mask=lambda g: int(g["mask"] is not None)),
    ),
    reading("no future mask", "Every query sees every key.", fed(ops.attention_softmax, causal=lambda g: 0)),
    reading("future mask always", "causal is not looked at.", fed(ops.attention_softmax, causal=lambda g: 1)),
    reading("own key hidden", "The future begins at a query's own position.", of(_with_future(-1))),
    reading("one key of the future seen", "The future begins one key late.", of(_with_future(1))),
    reading("past hidden", "The triangle is turned: the keys before a query are masked.", of(_past_hidden)),
    reading(
        "offset ignored", "The first query stands at the first key.", fed(ops.attention_softmax, offset=lambda g: 0)
    ),
    reading("offset subtracted", "Its sign is turned.", fed(ops.attention_softmax, offset=lambda g: -g["offset"])),
    reading(
        "queries at the end",
        "The last query stands at the last key, whatever offset is.",
        fed(ops.attention_softmax, offset=lambda g: g["scores"].shape[3] - g["scores"].shape[2]),
    ),
    reading("position among all heads' rows", "A row's number is taken for its position.", of(_by_flat_rows)),
    reading("future added to", "-inf is added to what is masked, whose NaN stays.", of(_added_future)),
    reading(
        "what is masked left as it was",
        "Weights of the future are not written, as nothing reads them.",
        of(_only_seen_written),
    ),
)
