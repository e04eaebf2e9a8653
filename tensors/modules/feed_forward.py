"""The feed-forward sublayer: one SwiGLU network, or several experts and a router that chooses among them."""

from __future__ import annotations

from typing import Any

import numpy as np

import reference
from reference.namespace import Ops
from tensors.errors import check
from tensors.functions import FUSED, Composed
from tensors.tape import Variable

from .basic import Linear, drawn
from .module import Module, parameter


class FeedForward(Module):
    """down(silu(gate(x)) * up(x)), without biases (Shazeer 2020)."""

    def __init__(
        self, hidden: int, ffn: int, *, seed: Any, ops: Ops = reference, functions: Composed = FUSED,
        dtype: Any = np.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        of_all: dict[str, Any] = {"bias": False, "ops": ops, "functions": functions, "dtype": dtype}
        self.gate_proj = Linear(hidden, ffn, seed=(seed, "gate"), **of_all)
        self.up_proj = Linear(hidden, ffn, seed=(seed, "up"), **of_all)
        self.down_proj = Linear(ffn, hidden, seed=(seed, "down"), **of_all)
        self._functions = functions

    def forward(self, x: Variable) -> Variable:
        output: Variable = self.down_proj(self._functions.swiglu(self.gate_proj(x), self.up_proj(x)))
        return output


class ExpertWeights(Module):
    """The experts' matrices: gate_proj and up_proj [experts, ffn, hidden], down_proj [experts, hidden, ffn]."""

    def __init__(self, hidden: int, ffn: int, experts: int, *, seed: Any, ops: Ops, dtype: Any) -> None:
        super().__init__()
        wide, narrow = (experts, ffn, hidden), (experts, hidden, ffn)
        self.gate_proj = parameter(drawn(wide, (seed, "gate"), dtype), ops)
        self.up_proj = parameter(drawn(wide, (seed, "up"), dtype), ops)
        self.down_proj = parameter(drawn(narrow, (seed, "down"), dtype), ops)


class MixtureOfExperts(Module):
    """A router, `gate`, chooses top_k experts for each token; their SwiGLU networks are weighted (Shazeer et al. 2017).

    Weights are the chosen probabilities, made to add up to 1. forward returns the auxiliary loss beside the result,
    alpha times that of Fedus et al. 2021, which asks for an even load.
    """

    def __init__(
        self, hidden: int, ffn: int, experts: int, top_k: int, *, seed: Any, alpha: float = 0.01, ops: Ops = reference,
        functions: Composed = FUSED, dtype: Any = np.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        check(1 <= top_k <= experts, "MixtureOfExperts", f"top_k from 1 to {experts}", top_k)
        of_all: dict[str, Any] = {"ops": ops, "functions": functions, "dtype": dtype}
        self.gate = Linear(hidden, experts, bias=False, seed=(seed, "router"), **of_all)
        self.experts = ExpertWeights(hidden, ffn, experts, seed=seed, ops=ops, dtype=dtype)
        self._top_k, self._alpha, self._functions = top_k, alpha, functions

    def forward(self, x: Variable) -> tuple[Variable, Variable]:
        """(output, auxiliary loss): x (..., hidden), and so the output; the loss has shape ()."""
        tokens = x.reshape((x.size // x.shape[-1], x.shape[-1]))
        f, held, logits = self._functions, self.experts, self.gate(tokens)
        chosen = f.choose(logits, self._top_k)
        output = f.experts(tokens, f.route(logits, chosen), chosen, held.gate_proj, held.up_proj, held.down_proj)
        return output.reshape(x.shape), f.auxiliary_loss(logits, chosen, self._alpha)
