"""Arguments on which readings show: the sample of each operation, and what a sample cannot show."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference import random
from tests.reference.samples import SAMPLES, Draw

INF, NAN = np.inf, np.nan


def _seed_of(state: int) -> int:
    """The seed that in row 0 leads to this state: the generator run backwards."""
    return (state - 1013904223) * pow(1664525, -1, 2**32) % 2**32


def _draws() -> list[dict[str, Any]]:
    """Equal logits with u exactly 1/2, and just below it; many rows; ties; every row with one seed."""
    edge = np.array([_seed_of(2**31), _seed_of(2**31 - 1)], np.uint64)
    edge[1] ^= np.uint64(12345)
    rows = random.normal(7, (200, 9))
    return [
        {"logits": np.zeros((2, 4)), "seeds": edge, "temperature": 1.0},
        {"logits": rows, "seeds": random.words(8, 0, 200), "temperature": 1.7},
        {"logits": np.round(rows), "seeds": random.words(9, 0, 200), "temperature": 0.8},
        {"logits": rows, "seeds": np.full(200, 5, np.uint64), "temperature": 1.0},
    ]


def _late_maximum(d: Draw) -> list[dict[str, Any]]:
    found = []
    for cols, place in ((40, 35), (1100, 1080)):
        x = d.normal(2, cols)
        x[:, place] = 200.0
        found.append({"input": x})
    return found


MORE: dict[str, Any] = {
    "softmax": _late_maximum,
    "softmax_topk": lambda d: [{"input": np.array([[1, 3, 3, 1, 3], [2, 2, 2, 2, 2], [1, 1, 2, 0, 0]]), "k": 3}],
    "attention_scores": lambda d: [
        {"Q": d.normal(1, 3, 2, 4), "K": np.where(np.arange(3)[:, None] == 2, NAN, d.normal(1, 3, 4)), "scale": 0.5}
    ],
    "rope_freqs": lambda d: [{"max_seq_len": 7, "head_dim": 6, "base": 100.0, "alpha": 0.5}],
    "cross_entropy_forward": lambda d: [{"logits": 40 * d.normal(4, 7), "targets": np.array([0, 1, 2, 3], np.int32)}],
    "grad_clip": lambda d: [
        {"grad": d.normal(9), "clip_norm": 50.0},
        {"grad": d.normal(9) / 4096, "clip_norm": 2.0**-12},
    ],
    "clip_scale": lambda d: [
        {"sum_squares": d.scalar(9.0), "clip_norm": 4.0},
        {"sum_squares": d.scalar(2.0**-20), "clip_norm": 2.0**-12},
    ],
    "argmax": lambda d: [{"logits": np.array([[1, 3, 3, 2], [2, NAN, 1, NAN], [INF, 1, NAN, 0]])}],
    "sample": lambda d: _draws(),
    "topk_sample": lambda d: [given | {"k": 4} for given in _draws()],
    "topp_sample": lambda d: [given | {"top_p": top_p} for given in _draws() for top_p in (1.0, 0.6)],
}


def datasets(operation: str) -> list[dict[str, Any]]:
    """Every set of arguments of the operation, in float32."""
    draw = Draw(operation, np.float32)
    more = MORE.get(operation, lambda d: [])(draw)
    return [SAMPLES[operation](Draw(operation, np.float32)), *({n: _float32(v) for n, v in g.items()} for g in more)]


def _float32(value: Any) -> Any:
    is_array = isinstance(value, np.ndarray) and (value.dtype.kind == "f" or value.dtype == np.int64)
    return value.astype(np.float32) if is_array else value
