"""Wrong readings of the rotary embedding."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import rope as ops

from .reading import Given, Reading, fed, giving

FORWARD = ((ops.rope_forward, ("input",)), (ops.rope_qk, ("q", "k")))
BACKWARD = ((ops.rope_backward, ("d_output",)), (ops.rope_qk_backward, ("d_q_out", "d_k_out")))


def _paired(x: Array) -> Array:
    """The pairs (d, d + half) side by side, as (2d, 2d + 1)."""
    return np.stack(np.split(x, 2, axis=-1), axis=-1).reshape(x.shape)


def _parted(x: Array) -> Array:
    """The reverse of _paired."""
    return np.concatenate([x[..., 0::2], x[..., 1::2]], axis=-1)


def _half_split(function: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    turned = fed(function, **{name: lambda g, name=name: _paired(g[name]) for name in names})
    return giving(turned, lambda r, g: tuple(map(_parted, r)) if isinstance(r, tuple) else _parted(r))


def _as_given(names: tuple[str, ...]) -> Callable[[Any, dict[str, Any]], Any]:
    return lambda r, g: tuple(g[name] + 0.0 for name in names) if len(names) > 1 else g[names[0]] + 0.0


def _keys_from_0(function: Callable[..., Any], results: tuple[Array, Array], g: Given) -> tuple[Array, Array]:
    return results[0], function(**(g | {"offset": 0}))[1]


def _in_place(x: Array, g: Given) -> Array:
    """The first of a pair is turned already where the second is computed of it."""
    angles = g["freqs"][g["offset"] : g["offset"] + x.shape[1], None, :]
    cosine, sine = np.cos(angles), np.sin(angles)
    first = x[..., 0::2] * cosine - x[..., 1::2] * sine
    return np.stack([first, first * sine + x[..., 1::2] * cosine], axis=-1).reshape(x.shape)


def _all_in_place(names: tuple[str, ...]) -> Callable[[Any, Given], Any]:
    return lambda r, g: tuple(_in_place(g[name], g) for name in names) if len(names) > 1 else _in_place(g[names[0]], g)


def _without_turns(g: Given) -> Array:
    """Angles less whole turns, each as long as float32 has it: off by 1.7e-7 for every turn."""
    turn = g["freqs"].dtype.type(np.float32(2 * np.pi))
    return np.where(np.isfinite(g["freqs"]), g["freqs"] - np.trunc(g["freqs"] / turn) * turn, g["freqs"])


def _positions(function: Callable[..., Array]) -> Callable[[int, int, float, float], Array]:
    """rope_freqs with another position: function(positions, alpha)."""

    def freqs(max_seq_len: int, head_dim: int, base: float, alpha: float) -> Array:
        exponents = np.arange(head_dim // 2) * (-2.0 / head_dim)
        return function(np.arange(max_seq_len)[:, None], alpha) * base**exponents

    return freqs


READINGS = (
    *(
        Reading(
            function.__name__,
            "angles less turns of 2 pi in float32",
            "A large angle is turned back by a 2 pi of few digits, more of them lost with each turn.",
            fed(function, freqs=_without_turns),
        )
        for function, _ in (*FORWARD, *BACKWARD)
    ),
    *(
        reading
        for function, names in (*FORWARD, *BACKWARD)
        for reading in (
            Reading(
                function.__name__,
                "half-split pairs",
                "Column d is turned with column d + half, as in the other common layout.",
                _half_split(function, names),
            ),
            Reading(
                function.__name__,
                "offset ignored",
                "Positions are counted from 0 in every call.",
                fed(function, offset=lambda g: 0),
            ),
        )
    ),
    *(
        Reading(
            function.__name__,
            "offset ignored in the keys",
            "The queries alone stand behind what is cached.",
            giving(function, partial(_keys_from_0, function)),
        )
        for function in (ops.rope_qk, ops.rope_qk_backward)
    ),
    *(
        Reading(
            function.__name__,
            "turned the other way",
            "The sine has the other sign.",
            fed(function, freqs=lambda g: -g["freqs"]),
        )
        for function, _ in FORWARD
    ),
    *(
        Reading(
            function.__name__,
            "turned in place",
            "The first of a pair is overwritten before the second is computed of it.",
            giving(function, _all_in_place(names)),
        )
        for function, names in FORWARD
    ),
    *(
        Reading(
            function.__name__,
            "without the inverse rotation",
            "The gradient is turned forward once more.",
            fed(function, freqs=lambda g: -g["freqs"]),
        )
        for function, _ in BACKWARD
    ),
    *(
        Reading(
            function.__name__,
            "not turned",
            "The gradient is handed through as it is.",
            giving(function, _as_given(names)),
        )
        for function, names in BACKWARD
    ),
    Reading(
        "rope_qk",
        "keys not turned",
        "Only queries are rotated.",
        giving(ops.rope_qk, lambda r, g: (r[0], g["k"] + 0.0)),
    ),
    Reading(
        "rope_qk_backward",
        "keys not turned",
        "Only the queries' gradient is rotated back.",
        giving(ops.rope_qk_backward, lambda r, g: (r[0], g["d_k_out"] + 0.0)),
    ),
    Reading(
        "rope_freqs",
        "alpha only above 1",
        "A shrinking alpha is taken for none.",
        fed(ops.rope_freqs, alpha=lambda g: max(g["alpha"], 1.0)),
    ),
    Reading(
        "rope_freqs",
        "alpha multiplies the position",
        "alpha is taken for a factor of the position.",
        _positions(lambda positions, alpha: positions * alpha),
    ),
    Reading(
        "rope_freqs",
        "alpha divides the position",
        "Positions are interpolated linearly.",
        _positions(lambda positions, alpha: positions / alpha),
    ),
    Reading("rope_freqs", "alpha ignored", "The base is not scaled.", fed(ops.rope_freqs, alpha=lambda g: 1.0)),
    Reading(
        "rope_freqs",
        "alpha without its exponent",
        "The base is multiplied by alpha itself.",
        lambda max_seq_len, head_dim, base, alpha: ops.rope_freqs(max_seq_len, head_dim, base * alpha, 1.0),
    ),
    Reading(
        "rope_freqs",
        "exponent d / head_dim",
        "The factor 2 of the exponent is lost.",
        lambda max_seq_len, head_dim, base, alpha: ops.rope_freqs(max_seq_len, head_dim, base**0.5, alpha**0.5),
    ),
    Reading(
        "rope_freqs",
        "positions from 1",
        "The first position is turned by one step.",
        lambda max_seq_len, head_dim, base, alpha: ops.rope_freqs(max_seq_len + 1, head_dim, base, alpha)[1:],
    ),
)
