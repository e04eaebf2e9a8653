"""Rotary position embedding (Su et al. 2021) of interleaved pairs, with NTK scaling of the base."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, check, ieee, in_dtype_of


@ieee
def rope_freqs(max_seq_len: int, head_dim: int, base: float, alpha: float) -> Array:
    """Angles p * b^(-2d / head_dim), b = base * alpha^(head_dim / (head_dim - 2)): (max_seq_len, head_dim / 2)."""
    check(head_dim > 2 and head_dim % 2 == 0, "rope_freqs", "head_dim", "an even number above 2", head_dim)
    check(base > 0, "rope_freqs", "base", "base > 0", base)
    check(alpha > 0, "rope_freqs", "alpha", "alpha > 0", alpha)
    stretched = base * alpha ** np.float64(head_dim / (head_dim - 2))  # which may be infinite
    exponents = np.arange(head_dim // 2) * (-2.0 / head_dim)
    return np.arange(max_seq_len)[:, None] * stretched**exponents


@ieee
def rope_forward(input: Array, freqs: Array, offset: int) -> Array:
    """Rotates each pair (2d, 2d + 1) at position s + offset by freqs[s + offset, d].

    input: (batch, seq_len, n_heads, head_dim), freqs: (at least seq_len + offset, head_dim / 2).
    """
    cosine, sine = _turn("rope_forward", input, freqs, offset)
    return _rotated(input, cosine, sine)


@ieee
def rope_backward(d_output: Array, freqs: Array, offset: int) -> Array:
    """The inverse rotation of d_output: by the same angles, negated."""
    cosine, sine = _turn("rope_backward", d_output, freqs, offset)
    return _rotated(d_output, cosine, -sine)


@ieee
def rope_qk(q: Array, k: Array, freqs: Array, offset: int) -> tuple[Array, Array]:
    """rope_forward of queries and keys, which may differ in their number of heads."""
    cosine, sine = _turn("rope_qk", q, freqs, offset)
    return _rotated(q, cosine, sine), _rotated(k, cosine, sine)


@ieee
def rope_qk_backward(d_q_out: Array, d_k_out: Array, freqs: Array, offset: int) -> tuple[Array, Array]:
    """rope_backward of queries' and keys' gradients."""
    cosine, sine = _turn("rope_qk_backward", d_q_out, freqs, offset)
    return _rotated(d_q_out, cosine, -sine), _rotated(d_k_out, cosine, -sine)


def _turn(operation: str, input: Array, freqs: Array, offset: int) -> tuple[Array, Array]:
    """Cosine and sine of the angles of input's positions: (seq_len, 1, head_dim / 2)."""
    room = len(freqs) - input.shape[1]
    check(0 <= offset <= room, operation, "offset", f"0 <= offset <= {room}", offset)
    angles = freqs[offset : offset + input.shape[1], None, :]
    return in_dtype_of(np.cos(angles), input), in_dtype_of(np.sin(angles), input)


def _rotated(x: Array, cosine: Array, sine: Array) -> Array:
    even, odd = x[..., 0::2], x[..., 1::2]
    return np.stack([even * cosine - odd * sine, even * sine + odd * cosine], axis=-1).reshape(x.shape)
