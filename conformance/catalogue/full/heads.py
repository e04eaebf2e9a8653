"""Operations on heads: rotary positions, attention and its cache, for heads of 64 and of 256."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import reference
from conformance.catalogue.cases.data import Draw
from conformance.catalogue.cases.spec import Arguments, Sizes
from conformance.catalogue.full_model import BATCH, HEAD_DIM, KV_HEADS, Q_HEADS, ROPE_ALPHA, ROPE_BASE

from .call import FullCall

CACHED = 4096
LARGE_HEAD = 256
SEQ = 1024  # of attention whose scores are stored: 12 heads by 8,192 by 8,192 are 3 GB
CHUNK = 256  # queries whose scores are stored at once
_WHY_CHUNK = "256 queries at the end of 1,024 keys: with all queries the scores of four sequences are 200 MB"
_WHY_SCORES = "1,024 positions: with 8,192 the scores are 3 GB"


def _angles(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[np.float32]:
    """The table of the model."""
    return np.asarray(reference.rope_freqs(shape[0], 2 * shape[1], ROPE_BASE, ROPE_ALPHA), np.float32)


def _causal(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    """Attention weights, as attention_scores and softmax leave them."""
    weights = made["weights"]
    hidden = np.arange(weights.shape[-1]) > np.arange(weights.shape[-2])[:, None]
    return {"weights": reference.softmax(np.where(hidden, -np.inf, weights))}


def _rotations(head_dim: int, seq: int, variant: str) -> Iterator[FullCall]:
    why = f"{BATCH} sequences of {seq:,} positions, behind as many"
    one = {"batch": BATCH, "seq_len": seq, "n_heads": Q_HEADS, "head_dim": head_dim, "offset": seq}
    both = {"batch": BATCH, "seq_len": seq, "n_q_heads": Q_HEADS, "n_kv_heads": KV_HEADS, "head_dim": head_dim}
    table = {"max_seq_len": 2 * seq, "head_dim": head_dim, "base": ROPE_BASE, "alpha": ROPE_ALPHA}
    yield FullCall("rope_freqs", table, variant=variant)
    for name in ("rope_forward", "rope_backward"):
        arrays = ("input", "output", "d_input", "d_output")
        scaled = dict.fromkeys(("batch", "n_heads"), arrays)
        yield FullCall(name, one, {"batch": 1, "n_heads": 1}, {"freqs": _angles}, scaled, variant=variant, why=why)
    for name in ("rope_qk", "rope_qk_backward"):
        q, k = ("q", "q_out", "d_q", "d_q_out"), ("k", "k_out", "d_k", "d_k_out")
        of_pairs: dict[str, tuple[str, ...]] = {"batch": (*q, *k), "n_q_heads": q}
        yield FullCall(
            name, {**both, "offset": seq}, {"batch": 1, "n_q_heads": 1}, {"freqs": _angles}, of_pairs,
            variant=variant, why=why,
        )  # fmt: skip


def _stored_scores(head_dim: int, variant: str) -> Iterator[FullCall]:
    sizes = {"batch": 1, "n_heads": Q_HEADS, "seq_len": SEQ, "head_dim": head_dim}
    drawn = {"n_heads": 1}
    scores, outputs = {"n_heads": ("Q", "scores")}, {"n_heads": ("weights", "output")}
    yield FullCall(
        "attention_scores", {**sizes, "scale": head_dim**-0.5}, drawn, scaled=scores, signed=False,
        variant=variant, why=_WHY_SCORES,
    )  # fmt: skip
    yield FullCall("attention_output", sizes, drawn, scaled=outputs, finish=_causal, variant=variant, why=_WHY_SCORES)


def _weights(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    """Of the scores that the array was drawn as."""
    past = sizes["kv_len"] - sizes["q_len"]
    return {"weights": reference.attention_softmax(made["weights"], None, 1.0, 0, 1, past)}


def _padding(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[np.float64]:
    """Sequences of different lengths."""
    ends = shape[1] - np.arange(shape[0])[:, None] * 37
    return np.where(np.arange(shape[1]) < ends, 0.0, -np.inf)


def _softmax_of_scores() -> Iterator[FullCall]:
    sizes = {"batch": BATCH, "n_heads": Q_HEADS, "q_len": CHUNK, "kv_len": SEQ, "scale": HEAD_DIM**-0.5}
    masks, drawn = {"has_mask": 1, "causal": 1, "offset": SEQ - CHUNK}, {"n_heads": 2}
    yield FullCall("attention_softmax", {**sizes, **masks}, drawn, {"mask": _padding}, why=_WHY_CHUNK)
    yield FullCall(
        "attention_softmax_backward", sizes, drawn, scaled={"n_heads": ("d_scores",)}, finish=_weights, why=_WHY_CHUNK
    )


def _decoding(head_dim: int, variant: str) -> Iterator[FullCall]:
    grouped = {"batch": BATCH, "n_q_heads": Q_HEADS, "n_kv_heads": KV_HEADS}
    sizes = {"q_len": 1, "kv_len": CACHED, "kv_capacity": CACHED + 37, "head_dim": head_dim, "scale": head_dim**-0.5}
    yield FullCall("attention_forward", {**grouped, **sizes}, variant=variant, why="one query, 4,096 keys in the cache")
    yield FullCall(
        "kv_cache_append",
        {"batch": BATCH, "new_len": CACHED, "n_kv_heads": KV_HEADS, "head_dim": head_dim}
        | {"kv_capacity": CACHED + 70, "position": 33},
        variant=variant,
    )


def _of(head_dim: int, seq: int, variant: str = "") -> Iterator[FullCall]:
    yield from _rotations(head_dim, seq, variant)
    yield from _stored_scores(head_dim, variant)
    yield from _decoding(head_dim, variant)


CALLS = (*_of(HEAD_DIM, CACHED), *_softmax_of_scores(), *_of(LARGE_HEAD, 1024, "head_dim_256"))
