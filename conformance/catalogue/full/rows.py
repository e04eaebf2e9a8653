"""Elementwise operations, and those that treat each row by itself: softmax, norms, the loss, the embedding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import reference
from conformance.catalogue.cases.data import Draw
from conformance.catalogue.cases.spec import Arguments, Sizes, ids, seeds
from conformance.catalogue.full_model import EXPERTS, HIDDEN, NORM_EPS, TOP_K, VOCAB

from . import sums
from .call import FullCall

TOKENS = 8192
ELEMENTS, MEMBERS = TOKENS * HIDDEN, 4099
ROWS = 61
# Rows as long as the vocabulary: 8,192 of them are 1 GB an array.
WIDE, WIDE_ROWS = 256, 7
WHY_WIDE = "256 tokens: with 8,192 each array of logits is 1 GB"
BATCH = 16
WHY_BATCH = "16 sequences, each at its last token: a decision is made for one row of logits a sequence"
WHY_PAIRS = "8,192 rows of 768: of the feed-forward's 6,144 columns each array is 200 MB"


def _probabilities(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    return {"output": reference.softmax(made["output"])}


def _log_probs(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    return {"log_probs": reference.cross_entropy_forward(made["log_probs"], made["targets"])[1]}


def _row_statistics(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    _, mean, rstd = reference.layernorm(made["input"].astype(np.float32), made["weight"], made["weight"], NORM_EPS)
    return {"mean": mean, "rstd": rstd}


def _channel_statistics(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    x, rest = made["input"].astype(np.float32), made["weight"]
    _, mean, rstd, *_ = reference.batchnorm_training(x, rest, rest, rest, rest, 0.1, NORM_EPS)
    return {"mean": mean, "rstd": rstd}


def _variances(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[np.float64]:
    return np.asarray(draw.uniform(shape) + 0.25)


def _some_ignored(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[np.int64]:
    """The last column, one row that does not count, the first column, and columns anywhere."""
    targets = draw.integers(0, sizes["vocab_size"], shape)
    targets[:3] = sizes["vocab_size"] - 1, -100, 0
    return targets


def apart(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[np.float64]:
    """Logits of which no two are near one another: which are the largest is no question of noise."""
    order = np.argsort(draw.uniform(shape), axis=-1)
    return order * 0.25 + draw.of("within").uniform(shape) * 0.125


def summits(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[np.float64]:
    """Logits of which every other row has one so far above the rest that exp overflows unless it sets the maximum.

    It stands in the last column, beside a border of what kernels cut rows by, or anywhere.
    """
    rows, columns = np.arange(shape[0]), shape[-1]
    borders = np.array([columns - 1, *(at + beside for at in (1024, 4096, 12288, 24576) for beside in (-1, 0))])
    anywhere = draw.of("anywhere").integers(0, columns, shape[:1])
    border = borders[(rows // 4 + draw.of("border").integers(0, borders.size, (1,))) % borders.size]
    place = np.where(rows % 4 == 3, anywhere, np.where(rows == 1, columns - 1, border))
    is_summit = (np.arange(columns) == place[:, None]) & (rows[:, None] % 2 == 1)
    return draw.normal(shape) + np.where(is_summit, 128.0, 0.0)


def _routing(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    weights, indices = reference.softmax_topk(draw.of("logits").normal((sizes["rows"], sizes["cols"])), sizes["k"])
    return {"weights": weights, "indices": indices}


_N = {"n": ELEMENTS}
_DRAWN = {"n": MEMBERS}
_ACTIVATIONS = ("relu", "sigmoid", "tanh", "gelu", "gelu_tanh")
_VOCABULARY, _FEW = {"rows": WIDE, "cols": VOCAB}, {"rows": WIDE_ROWS}
_ROUTER = {"rows": TOKENS, "cols": EXPERTS, "k": TOP_K}
_NORM = {"rows": TOKENS, "hidden_dim": HIDDEN, "eps": NORM_EPS}
_NORM_GRADIENT = {"rows": TOKENS, "hidden_dim": HIDDEN}
# Longer rows than a block holds at once, and more of them than there are sums of several rows.
_WIDE_NORM, _SOME_WIDE = {"rows": 2**9 + 37, "hidden_dim": 2**13 + 12}, {"rows": 5}
WHY_WIDE_NORM = "rows longer than a block of threads holds, and more than one of them to each of 512 partial sums"
_LOGITS = {"batch_seq": WIDE, "vocab_size": VOCAB}
_TABLE = {"num_indices": TOKENS, "vocab_size": VOCAB, "embedding_dim": HIDDEN}
_COLUMNS = {"embedding_dim": 13}
_DECODED = {"batch": BATCH, "vocab_size": VOCAB}
_DECIDED = {"logits": summits, "seeds": seeds}
_IMAGES, _FEW_CHANNELS = {"batch": 16, "channels": 64, "spatial": 56 * 56}, {"channels": 5}
WHY_IMAGES = "16 images of 56 x 56 in 64 channels: a stage of a network for images, which the full model has none of"
_DROPPED = {"n": 2**20 + 3, "rate": 0.1}
WHY_DROPPED = "a million elements: each has a draw of its own, so that none is a copy of another"
_GRADIENTS = {"rows": ("d_output", "d_residual_out", "d_input")}
_MOVES = ("weight", "output", "grad_output", "grad_weight")

CALLS = (
    *(FullCall(op, _N, _DRAWN) for op in ("silu", "silu_backward", "add", "mul")),
    *(FullCall(op, _N, _DRAWN, why=WHY_PAIRS) for op in ("swiglu", "swiglu_backward")),
    FullCall("scale", {**_N, "scale": -1.7}, _DRAWN),
    *(FullCall(f"cast_{way}_{suffix}", _N, _DRAWN) for way in ("to", "from") for suffix in ("bf16", "fp16")),
    *(FullCall(f"{op}{way}", _N, _DRAWN) for op in _ACTIVATIONS for way in ("", "_backward")),
    *(
        FullCall(f"{op}{way}", {**_N, "alpha": 0.3}, _DRAWN)
        for op in ("leaky_relu", "elu")
        for way in ("", "_backward")
    ),
    FullCall("softmax_temperature", {**_VOCABULARY, "temperature": 0.7}, _FEW, {"input": summits}, why=WHY_WIDE),
    FullCall(
        "softmax_temperature_backward",
        {**_VOCABULARY, "temperature": 0.7},
        _FEW,
        finish=_probabilities,
        why=WHY_WIDE,
    ),
    FullCall("softmax", _VOCABULARY, _FEW, {"input": summits}, why=WHY_WIDE),
    FullCall("softmax_backward", _VOCABULARY, _FEW, finish=_probabilities, why=WHY_WIDE),
    FullCall("softmax_topk", _ROUTER, {"rows": ROWS}, {"input": apart}),
    FullCall("softmax_topk_backward", _ROUTER, {"rows": ROWS}, finish=_routing),
    FullCall("rmsnorm", _NORM, {"rows": ROWS}),
    FullCall("rmsnorm_residual", _NORM, {"rows": ROWS}),
    FullCall(
        "rmsnorm_backward",
        {**_NORM, "beta": 1.0},
        {"rows": ROWS},
        scaled=_GRADIENTS,
        carried_out=sums.rmsnorm_backward,
    ),
    FullCall(
        "rmsnorm_backward",
        {**_WIDE_NORM, "eps": NORM_EPS, "beta": 0.0},
        _SOME_WIDE,
        scaled=_GRADIENTS,
        carried_out=sums.rmsnorm_backward,
        variant="wide",
        why=WHY_WIDE_NORM,
    ),
    FullCall(
        "rmsnorm_residual_backward",
        {**_NORM, "beta": 0.0},
        {"rows": ROWS},
        scaled=_GRADIENTS,
        carried_out=sums.rmsnorm_residual_backward,
    ),
    FullCall(
        "cross_entropy_forward",
        _LOGITS,
        {"batch_seq": WIDE_ROWS},
        {"targets": _some_ignored, "logits": summits},
        carried_out=sums.cross_entropy_forward,
        why=WHY_WIDE,
    ),
    FullCall(
        "cross_entropy_backward",
        {**_LOGITS, "scale": 1.0},
        {"batch_seq": WIDE_ROWS},
        {"targets": _some_ignored},
        finish=_log_probs,
        why=WHY_WIDE,
    ),
    FullCall(
        "fused_cross_entropy",
        {**_LOGITS, "scale": 1.0},
        {"batch_seq": WIDE_ROWS},
        {"targets": _some_ignored, "logits": summits},
        carried_out=sums.fused_cross_entropy,
        why=WHY_WIDE,
    ),
    FullCall("embedding", _TABLE, _COLUMNS, {"indices": ids("vocab_size")}, {"embedding_dim": _MOVES}),
    FullCall("scatter_add", _TABLE, _COLUMNS, {"indices": ids("vocab_size", -99)}, {"embedding_dim": _MOVES}),
    FullCall("argmax", _DECODED, why=WHY_BATCH),
    FullCall("sample", {**_DECODED, "temperature": 0.7}, inputs=_DECIDED, why=WHY_BATCH),
    FullCall("topk_sample", {**_DECODED, "k": 40, "temperature": 0.7}, inputs=_DECIDED, why=WHY_BATCH),
    FullCall("topp_sample", {**_DECODED, "top_p": 0.9, "temperature": 0.7}, inputs=_DECIDED, why=WHY_BATCH),
    FullCall("layernorm", _NORM, {"rows": ROWS}),
    FullCall(
        "layernorm_backward",
        {**_NORM_GRADIENT, "beta": 1.0},
        {"rows": ROWS},
        scaled={"rows": ("d_output", "d_input")},
        finish=_row_statistics,
        carried_out=sums.layernorm_backward,
    ),
    FullCall(
        "layernorm_backward",
        {**_WIDE_NORM, "beta": 0.0},
        _SOME_WIDE,
        scaled={"rows": ("d_output", "d_input")},
        finish=_row_statistics,
        carried_out=sums.layernorm_backward,
        variant="wide",
        why=WHY_WIDE_NORM,
    ),
    FullCall(
        "batchnorm_training",
        {**_IMAGES, "momentum": 0.1, "eps": NORM_EPS},
        _FEW_CHANNELS,
        {"running_var": _variances},
        why=WHY_IMAGES,
    ),
    FullCall(
        "batchnorm_evaluation",
        {**_IMAGES, "eps": NORM_EPS},
        _FEW_CHANNELS,
        {"running_var": _variances},
        why=WHY_IMAGES,
    ),
    FullCall(
        "batchnorm_backward",
        {**_IMAGES, "beta": 1.0},
        _FEW_CHANNELS,
        finish=_channel_statistics,
        why=WHY_IMAGES,
    ),
    FullCall("dropout", _DROPPED, inputs={"philox": seeds}, why=WHY_DROPPED),
    FullCall("dropout_backward", _DROPPED, inputs={"philox": seeds}, why=WHY_DROPPED),
)
