"""Multi-head attention whose KV heads serve groups of query heads, with rotary positions."""

from __future__ import annotations

from typing import Any

import numpy as np

import reference
from reference.namespace import Ops
from tensors.errors import check
from tensors.functions import FUSED, Composed
from tensors.tape import Variable
from tensors.tensor import Tensor

from .basic import Linear
from .module import Module


class Attention(Module):
    """q_proj, k_proj, v_proj, o_proj: products without bias (Ainslie et al. 2023, GQA; Su et al. 2021, RoPE).

    rope: (base, alpha) of the angles, alpha stretching the base as NTK scaling does; None: no positions.
    """

    def __init__(
        self, hidden: int, q_heads: int, kv_heads: int, head_dim: int, *, seed: Any, causal: bool = True,
        rope: tuple[float, float] | None = (10000.0, 1.0), ops: Ops = reference, functions: Composed = FUSED,
        dtype: Any = np.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        check(q_heads % kv_heads == 0, "Attention", f"query heads in a multiple of {kv_heads} KV heads", q_heads)
        of_all: dict[str, Any] = {"bias": False, "ops": ops, "functions": functions, "dtype": dtype}
        queries, keys = q_heads * head_dim, kv_heads * head_dim
        self.q_proj = Linear(hidden, queries, seed=(seed, "q"), **of_all)
        self.k_proj = Linear(hidden, keys, seed=(seed, "k"), **of_all)
        self.v_proj = Linear(hidden, keys, seed=(seed, "v"), **of_all)
        self.o_proj = Linear(queries, hidden, seed=(seed, "o"), **of_all)
        self._q_heads, self._kv_heads, self._head_dim = q_heads, kv_heads, head_dim
        self._rope, self._causal, self._dtype = rope, causal, dtype
        self._ops, self._functions = ops, functions

    def angles(self, seq: int) -> Any:
        """The angles of the first positions, [seq, head_dim / 2]; None where there are no positions."""
        if self._rope is None:
            return None
        base, alpha = self._rope
        found = self._ops.rope_freqs(max_seq_len=seq, head_dim=self._head_dim, base=base, alpha=alpha)
        return found.astype(self._dtype) if isinstance(found, np.ndarray) else found  # the reference's are float64

    def forward(self, x: Variable, angles: Any = None, mask: Tensor | None = None) -> Variable:
        """x: (batch, seq, hidden), and so the result; angles: what `angles` gives, where it is known already.

        mask: (batch, seq), added to what queries give each key: 0, or -inf where nobody reads it.
        """
        batch, seq, _ = x.shape
        heads = ((self.q_proj, self._q_heads), (self.k_proj, self._kv_heads), (self.v_proj, self._kv_heads))
        q, k, v = (projected(x).reshape((batch, seq, count, self._head_dim)) for projected, count in heads)
        if self._rope is not None:
            turned = self.angles(seq) if angles is None else angles
            q, k = self._functions.rope(q, turned), self._functions.rope(k, turned)
        mixed = self._functions.attention(q, k, v, self._head_dim**-0.5, self._causal, mask)
        output: Variable = self.o_proj(mixed.reshape((batch, seq, self._q_heads * self._head_dim)))
        return output
