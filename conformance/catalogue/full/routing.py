"""Routing of tokens: a few tokens are drawn, each with its rows, and the permutation is a full-size one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import reference
from conformance.catalogue.cases.data import Draw
from conformance.catalogue.cases.spec import Arguments, Sizes
from conformance.catalogue.full_model import AUX_ALPHA, EXPERTS, HIDDEN, TOP_K

from .call import Arranged, FullCall
from .places import Places, shuffled
from .rows import ROWS, TOKENS, apart


def _permuted(small: Sizes, full: Sizes, draw: Draw) -> Arranged:
    """The rows of a token that was drawn, wherever the two permutations put them."""
    tokens = shuffled(draw.of("tokens"), full["tokens"], small["tokens"])
    few, many = (
        draw.of(name).permutation(s["tokens"] * s["top_k"]).reshape(-1, s["top_k"])
        for name, s in (("small", small), ("full", full))
    )
    rows = np.empty(many.size, np.int64)
    rows[many] = few[tokens.member]
    return {"position": (few, many)}, {"tokens": tokens, "tokens * top_k": Places(rows)}


def _distinct(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[np.int64]:
    """For each token different experts."""
    return np.argsort(draw.uniform((shape[0], EXPERTS)), axis=1)[:, : shape[1]]


def _probabilities(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    return {"router_probs": reference.softmax(made["router_probs"])}


def _routed(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    weights, indices, probs, _, f_counts, _ = reference.topk_router(made["probs"], sizes["top_k"], 1.0)
    return {"weights": weights, "indices": indices, "probs": probs, "f_counts": f_counts}


def _counts(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[np.int64]:
    return draw.integers(1, sizes["batch_seq"], shape)


def _to_the_second(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[np.float64]:
    """Logits by which every token chooses the second expert."""
    return np.asarray(draw.normal(shape) + 16.0 * (np.arange(shape[1]) == 1))


def _second(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[np.int64]:
    return np.ones(shape, np.int64)


_CROWD, _TOO_MANY = 2**16 + 64, "more tokens to one expert than 16 bits count"
_ROUTED = {"tokens": TOKENS, "top_k": TOP_K, "hidden_dim": HIDDEN}
_LOAD = {"batch_seq": TOKENS, "n_experts": EXPERTS, "alpha": AUX_ALPHA}
_ROW_OPERATIONS = ("expert_dispatch", "expert_dispatch_backward", "expert_combine", "expert_combine_backward")

CALLS = (
    FullCall("expert_sort", {"tokens": TOKENS, "top_k": TOP_K, "n_experts": EXPERTS}, inputs={"indices": _distinct}),
    *(FullCall(name, _ROUTED, {"tokens": ROWS}, arrange=_permuted) for name in _ROW_OPERATIONS),
    FullCall(
        "aux_loss_forward", {**_LOAD, "top_k": TOP_K}, inputs={"expert_indices": _distinct}, finish=_probabilities
    ),
    FullCall(
        "topk_router",
        {"tokens": TOKENS, "n_experts": EXPERTS, "top_k": TOP_K, "alpha": AUX_ALPHA},
        inputs={"logits": apart},
    ),
    FullCall(
        "topk_router_backward",
        {"tokens": TOKENS, "n_experts": EXPERTS, "top_k": TOP_K, "alpha": AUX_ALPHA, "scale": 1.0},
        finish=_routed,
    ),
    FullCall(
        "aux_loss_forward",
        {"batch_seq": _CROWD, "n_experts": 2, "alpha": AUX_ALPHA, "top_k": 1},
        inputs={"expert_indices": _second},
        finish=_probabilities,
        variant="a_crowd",
        why=_TOO_MANY,
    ),
    FullCall(
        "topk_router",
        {"tokens": _CROWD, "n_experts": 3, "top_k": 2, "alpha": AUX_ALPHA},
        inputs={"logits": _to_the_second},
        variant="a_crowd",
        why=_TOO_MANY,
    ),
    FullCall("aux_loss_backward", {**_LOAD, "scale": 1.0}, inputs={"f_counts": _counts}),
)
