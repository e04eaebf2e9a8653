"""Causal attention over 4,096 positions, forward and backward: a few keys and queries are drawn.

A query sees each key that was drawn as often as it stands before it, so its row of 4,096 scores holds but a few
different ones.  With how often each counts, what every query, key and value must come to costs hundreds of times less
than all scores would, and each still has its own limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from conformance.catalogue.cases.spec import Arguments
from conformance.catalogue.full_model import HEAD_DIM, KV_HEADS, Q_HEADS
from conformance.limits.noise.counted import counted_from_end, counted_matmul

from .call import FullCall, Placed
from .heads import CACHED, LARGE_HEAD

Array = Any
_KEYS, _HEADS = 17, 3  # that are drawn
_POSITIONS = "seq_len"


@dataclass(frozen=True)
class Positions:
    """Which query and which key stand at each position, of those that were drawn; queries are the last positions."""

    query: NDArray[np.int64]
    key: NDArray[np.int64]

    @property
    def seen(self) -> NDArray[np.float64]:
        """How often each query sees each key: (queries, 1, keys), the same for every head."""
        keys = np.arange(int(self.key.max()) + 1)
        upto = np.cumsum(self.key[:, None] == keys, axis=0).astype(np.float64)
        return upto[len(self.key) - len(self.query) :, None]

    @classmethod
    def of(cls, places: Placed) -> Self:
        """Positions of a call that has as many queries as keys."""
        return cls(places[_POSITIONS].member, places[_POSITIONS].member)


def _scores(Q: Array, K: Array, scale: float, positions: Positions) -> Array:
    """Scaled scores of every position's query with every key drawn, -inf where it sees none: (queries, heads, keys)."""
    scores = (Q[0] @ K[0, :, 0].T * scale)[positions.query]
    return np.where(positions.seen > 0, scores, -np.inf)


def _forward(Q: Array, K: Array, V: Array, scale: float, positions: Positions) -> tuple[Array, Array]:
    """Output (1, queries, heads, head_dim) and log-sum-exp (1, heads, queries)."""
    scores, seen = _scores(Q, K, scale, positions), positions.seen
    maximum = np.max(scores, axis=-1, keepdims=True)
    exponentials = np.exp(scores - maximum)
    total = counted_matmul(exponentials, np.ones((exponentials.shape[-1], 1)), seen)
    output = counted_matmul(exponentials / total, V[0, :, 0], seen)
    return output[None], np.swapaxes(maximum + np.log(total), 0, 1)[None, ..., 0]


def flash_attention(places: Placed) -> Callable[..., Array]:
    """Keys count as often as a query sees them."""
    return lambda Q, K, V, scale: _forward(Q, K, V, scale, Positions.of(places))[0]


def attention_forward(places: Placed) -> Callable[..., tuple[Array, Array]]:
    """The same, of queries that stand behind the first keys; what the cache holds past kv_len is not seen."""

    def function(Q: Array, K: Array, V: Array, kv_len: int, scale: float) -> tuple[Array, Array]:
        return _forward(Q, K, V, scale, Positions(places["q_len"].member, places["kv_capacity"].member[:kv_len]))

    return function


def attention_backward(places: Placed) -> Callable[..., tuple[Array, Array, Array]]:
    """d_Q sums over the keys that a query sees, d_K and d_V over the queries that see a key, and over all heads."""
    positions, heads = Positions.of(places), places["n_q_heads"].counts

    def function(
        Q: Array, K: Array, V: Array, output: Array, lse: Array, d_output: Array, scale: float
    ) -> tuple[Array, Array, Array]:
        where = positions.query
        P = np.exp(_scores(Q, K, scale, positions) - np.swapaxes(lse[0], 0, 1)[..., None])
        d_P = (d_output[0] @ V[0, :, 0].T)[where]
        D = np.sum(d_output[0][where] * output[0], axis=-1, keepdims=True)
        dS = P * (d_P - D) * scale
        d_Q = counted_matmul(dS, K[0, :, 0], positions.seen)
        d_K, d_V = (_by_key(x, y[0], heads, where) for x, y in ((dS, Q), (P, d_output)))
        return d_Q[None], d_K[None, :, None], d_V[None, :, None]

    return function


def _by_key(x: Array, y: Array, heads: NDArray[np.int64], where: NDArray[np.int64]) -> Array:
    """For every position's key the sum over the queries from there on of x (positions, heads, keys) times y[where]."""
    order = np.argsort(where, kind="stable")
    pieces = [
        counted_from_end(x[..., key], y, heads, where, np.flatnonzero(where == key)) for key in range(x.shape[-1])
    ]
    return np.concatenate(pieces)[np.argsort(order)]


def _forward_first(made: Arguments, places: Placed) -> Arguments:
    """The output and log-sum-exp that the gradient is taken at."""
    Q, K, V = (made[name].astype(np.float64) for name in ("Q", "K", "V"))
    output, lse = _forward(Q, K, V, made["scale"], Positions.of(places))
    return {"output": output.v, "lse": lse.v}


def _of(head_dim: int, seq: int, variant: str = "", why: str = "") -> Iterator[FullCall]:
    grouped = {"batch": 1, "n_q_heads": Q_HEADS, "n_kv_heads": KV_HEADS}
    rest = {"head_dim": head_dim, "scale": head_dim**-0.5}
    sizes, drawn = {**grouped, _POSITIONS: seq, **rest}, {_POSITIONS: _KEYS, "n_q_heads": _HEADS}
    yield FullCall(
        "flash_attention",
        sizes,
        drawn,
        whole={_POSITIONS: ("output",)},
        carried_out=flash_attention,
        variant=variant,
        why=why,
    )
    cached = {"q_len": seq - seq // 8, "kv_len": seq, "kv_capacity": seq + 37}
    yield FullCall(
        "attention_forward",
        {**grouped, **cached, **rest},
        {"q_len": _KEYS, "kv_capacity": _KEYS, "n_q_heads": _HEADS},
        whole={"q_len": ("output", "lse")},
        carried_out=attention_forward,
        variant="/".join(filter(None, ("many_queries", variant))),
        why="queries by the thousand behind others that are cached",
    )
    yield FullCall(
        "attention_backward",
        sizes,
        drawn,
        whole={_POSITIONS: ("output", "lse", "d_Q", "d_K", "d_V")},
        derive=_forward_first,
        carried_out=attention_backward,
        variant=variant,
        why=why,
    )


_WHY = "one sequence of 4,096 positions"
_WHY_LARGE = "heads of 256; 512 positions, since those of the call with heads of 64 are 4,096"
CALLS = (*_of(HEAD_DIM, CACHED, why=_WHY), *_of(LARGE_HEAD, 512, "head_dim_256", _WHY_LARGE))
