"""Wrong readings of routing and of the auxiliary loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import moe as ops

from .reading import Given, Reading, fed, giving


def _inverse(g: Given) -> Array:
    """The inverse permutation, in position's shape."""
    return np.argsort(g["position"], axis=None).reshape(g["position"].shape)


def _by_place(g: Given) -> Array:
    """Weights as if they lay in the order of the experts' rows."""
    return np.take(g["weights"].reshape(-1), g["position"])


def _slot_major(indices: Array, n_experts: int) -> tuple[Array, Array]:
    """Within an expert first the tokens that chose it first."""
    offsets, position = ops.expert_sort(np.ascontiguousarray(indices.T), n_experts)
    return offsets, np.ascontiguousarray(position.T)


def _backwards(indices: Array, n_experts: int) -> tuple[Array, Array]:
    """Within an expert the last token first, as when rows are taken from a counter that falls."""
    offsets, position = ops.expert_sort(indices[::-1, ::-1], n_experts)
    return offsets, np.ascontiguousarray(position[::-1, ::-1])


def _first_slot(g: Given) -> Array:
    """Weights with nothing but the first slot's."""
    return np.where(np.arange(g["weights"].shape[1]) == 0, g["weights"], g["weights"].dtype.type(0))


def _without_weights(results: Any, g: Given) -> tuple[Array, Array]:
    return ops.expert_dispatch(g["d_output"], g["position"]), results[1]


def _loss_times(factor: Any) -> Any:
    return giving(ops.aux_loss_forward, lambda r, g: (r[0] * factor(g), r[1], r[2]))


def _first_choice(results: Any, g: Given) -> tuple[Array, Array, Array]:
    return ops.aux_loss_forward(g["router_probs"], g["expert_indices"][:, :1], g["alpha"])


def _chosen_probability(results: Any, g: Given) -> tuple[Array, Array, Array]:
    """P counts a token's probability only where it was routed."""
    probabilities = g["router_probs"]
    held = np.zeros(probabilities.shape, bool)
    np.put_along_axis(held, g["expert_indices"], True, axis=1)
    kept = np.where(held, probabilities, probabilities.dtype.type(0))
    return ops.aux_loss_forward(kept, g["expert_indices"], g["alpha"])


def _slots_counted(counted: Callable[[Array], Array]) -> Callable[..., Any]:
    """The loss where of (batch_seq, top_k) indices those slots count that are told: of one shape, True or False."""

    def change(results: Any, g: Given) -> tuple[Array, Array, Array]:
        _, f_counts, p_means = results
        indices = g["expert_indices"]
        slots = np.bincount(indices[counted(indices)], minlength=len(f_counts)).astype(f_counts.dtype)
        share = slots / len(indices) * p_means
        return g["alpha"] * len(f_counts) * np.sum(share, keepdims=True), slots, p_means

    return giving(ops.aux_loss_forward, change)


def _every_slot(indices: Array) -> Array:
    return np.ones(indices.shape, bool)


def _unlike_the_slot_before(indices: Array) -> Array:
    return np.diff(indices, axis=1, prepend=-1) != 0


def _by_a_short_square(r: Array, g: Given) -> Array:
    square = int(g["batch_seq"]) ** 2
    return r * r.dtype.type(square) / r.dtype.type((square + 2**31) % 2**32 - 2**31)


READINGS = (
    Reading("expert_sort", "slot by slot", "Pairs are sorted by slot before token.", _slot_major),
    Reading("expert_sort", "last token first", "Rows of an expert are given out from its end.", _backwards),
    Reading(
        "expert_sort",
        "inverse permutation",
        "position holds the pair of each row, not the row of each pair.",
        giving(ops.expert_sort, lambda r, g: (r[0], _inverse({"position": r[1]}).astype(np.int32))),
    ),
    Reading(
        "expert_sort",
        "counts in place of offsets",
        "The rows of each expert are not summed up.",
        giving(ops.expert_sort, lambda r, g: (np.diff(r[0], prepend=np.int32(0)), r[1])),
    ),
    *(
        Reading(
            function.__name__,
            "inverse permutation",
            "position is taken for the pair of each row.",
            fed(function, position=_inverse),
        )
        for function in (
            ops.expert_dispatch,
            ops.expert_dispatch_backward,
            ops.expert_combine,
            ops.expert_combine_backward,
        )
    ),
    Reading(
        "expert_dispatch_backward",
        "last slot alone",
        "The slots' gradients are assigned instead of added.",
        lambda d_output, position: d_output[position[:, -1]],
    ),
    Reading(
        "expert_dispatch_backward",
        "mean over slots",
        "The slots' gradients are averaged.",
        lambda d_output, position: np.mean(d_output[position], axis=1),
    ),
    Reading(
        "expert_combine",
        "weights ignored",
        "The experts' outputs are added as they are.",
        fed(ops.expert_combine, weights=lambda g: np.ones_like(g["weights"])),
    ),
    Reading(
        "expert_combine",
        "weights read at position",
        "They are taken to lie as the experts' rows do, sorted.",
        fed(ops.expert_combine, weights=_by_place),
    ),
    Reading(
        "expert_combine",
        "first slot alone",
        "Only the best expert's output is used.",
        fed(ops.expert_combine, weights=_first_slot),
    ),
    Reading(
        "expert_combine",
        "slots reversed",
        "The weights are taken in ascending order.",
        fed(ops.expert_combine, weights=lambda g: g["weights"][:, ::-1]),
    ),
    Reading(
        "expert_combine_backward",
        "weights missing in d_input",
        "The gradient is dispatched as it is.",
        giving(ops.expert_combine_backward, _without_weights),
    ),
    Reading(
        "expert_combine_backward",
        "weights read at position",
        "They are taken to lie as the experts' rows do, sorted.",
        fed(ops.expert_combine_backward, weights=_by_place),
    ),
    Reading(
        "expert_combine_backward",
        "weights without gradient",
        "The router gets no gradient through the combination.",
        giving(ops.expert_combine_backward, lambda r, g: (r[0], np.zeros_like(r[1]))),
    ),
    Reading(
        "expert_combine_backward",
        "weights' gradient averaged",
        "The product of rows is divided by the number of columns.",
        giving(ops.expert_combine_backward, lambda r, g: (r[0], r[1] / g["input"].shape[1])),
    ),
    Reading(
        "aux_loss_forward",
        "a token counted once for each slot",
        "A token whose slots name an expert twice counts twice.",
        _slots_counted(_every_slot),
    ),
    Reading(
        "aux_loss_forward",
        "a token counted again but for neighbouring slots",
        "A slot is compared with the one before it alone: an expert named again later counts again.",
        _slots_counted(_unlike_the_slot_before),
    ),
    Reading(
        "aux_loss_forward",
        "alpha taken as 0.01",
        "The number of one configuration stands in the kernel, and the argument is not read.",
        fed(ops.aux_loss_forward, alpha=lambda g: 0.01),
    ),
    Reading(
        "aux_loss_forward",
        "sum f = 1",
        "f counts pairs, not tokens.",
        _loss_times(lambda g: 1.0 / g["expert_indices"].shape[1]),
    ),
    Reading(
        "aux_loss_forward",
        "no factor n_experts",
        "The loss of even routing shrinks with the number of experts.",
        _loss_times(lambda g: 1.0 / g["router_probs"].shape[1]),
    ),
    Reading(
        "aux_loss_forward", "alpha ignored", "The caller is expected to scale.", _loss_times(lambda g: 1.0 / g["alpha"])
    ),
    Reading(
        "aux_loss_forward",
        "first choice alone",
        "f counts only the best expert of a token.",
        giving(ops.aux_loss_forward, _first_choice),
    ),
    Reading(
        "aux_loss_forward",
        "chosen probabilities alone",
        "P leaves out experts that a token was not sent to.",
        giving(ops.aux_loss_forward, _chosen_probability),
    ),
    Reading(
        "aux_loss_forward",
        "counts as shares",
        "f_counts is returned divided by the number of tokens.",
        giving(ops.aux_loss_forward, lambda r, g: (r[0], r[1] / len(g["router_probs"]), r[2])),
    ),
    Reading(
        "aux_loss_backward",
        "not differentiated",
        "The loss is reported but has no gradient.",
        giving(ops.aux_loss_backward, lambda r, g: np.zeros_like(r)),
    ),
    Reading(
        "aux_loss_backward",
        "mean over tokens missing",
        "P's division by the number of tokens is not differentiated.",
        giving(ops.aux_loss_backward, lambda r, g: r * float(g["batch_seq"])),
    ),
    Reading(
        "aux_loss_backward",
        "no factor n_experts",
        "The factor of the loss is forgotten.",
        giving(ops.aux_loss_backward, lambda r, g: r / float(len(g["f_counts"]))),
    ),
    Reading(
        "aux_loss_backward",
        "square of the tokens in 32 bits",
        "batch_seq * batch_seq is a product of ints, which wraps from 46,341 on.",
        giving(ops.aux_loss_backward, _by_a_short_square),
    ),
    Reading(
        "aux_loss_backward",
        "sum f = 1",
        "f counts pairs, not tokens.",
        giving(ops.aux_loss_backward, lambda r, g: r * (g["batch_seq"] / np.sum(g["f_counts"]))),
    ),
    Reading(
        "aux_loss_backward",
        "alpha ignored",
        "alpha is left to the scale.",
        fed(ops.aux_loss_backward, alpha=lambda g: 1.0),
    ),
    Reading(
        "aux_loss_backward",
        "scale ignored",
        "The scale is left to alpha.",
        fed(ops.aux_loss_backward, scale=lambda g: 1.0),
    ),
)
