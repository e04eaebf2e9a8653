"""A transformer block and a decoder language model, which is the project's own where it is given its parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

import reference
from reference.model.config import Config
from reference.namespace import Ops
from tensors.errors import check
from tensors.functions import FUSED, Composed
from tensors.tape import Variable

from .attention import Attention
from .basic import Embedding, Linear, RMSNorm
from .feed_forward import MixtureOfExperts
from .module import Array, Module

# Of a layer's parameters, the names in reference/model: the experts' matrices are stacked in both.
_LAYER = {
    "attn_norm": "input_layernorm.weight",
    "w_q": "self_attn.q_proj.weight",
    "w_k": "self_attn.k_proj.weight",
    "w_v": "self_attn.v_proj.weight",
    "w_o": "self_attn.o_proj.weight",
    "ffn_norm": "post_attention_layernorm.weight",
    "router": "mlp.gate.weight",
    "gate": "mlp.experts.gate_proj",
    "up": "mlp.experts.up_proj",
    "down": "mlp.experts.down_proj",
}
_ENDS = {"embedding": "embed_tokens.weight", "final_norm": "norm.weight", "lm_head": "lm_head.weight"}


class Loss(NamedTuple):
    """total = cross_entropy + aux, of shape () each."""

    total: Variable
    cross_entropy: Variable
    aux: Variable


class Block(Module):
    """x + attention(norm(x)), then x + experts(norm(x)): pre-norm, as Llama has it."""

    def __init__(self, config: Config, *, seed: Any, ops: Ops, functions: Composed, dtype: Any) -> None:
        super().__init__()
        c, of_all = config, {"ops": ops, "functions": functions, "dtype": dtype}
        sizes, rope = (c.hidden, c.q_heads, c.kv_heads, c.head_dim), (c.rope_base, c.rope_alpha)
        self.input_layernorm = RMSNorm(c.hidden, eps=c.eps, **of_all)
        self.self_attn = Attention(*sizes, seed=(seed, "attention"), rope=rope, **of_all)
        self.post_attention_layernorm = RMSNorm(c.hidden, eps=c.eps, **of_all)
        mixed = (c.hidden, c.ffn, c.experts, c.top_k)
        self.mlp = MixtureOfExperts(*mixed, seed=(seed, "experts"), alpha=c.aux_alpha, **of_all)

    def forward(self, x: Variable, angles: Any) -> tuple[Variable, Variable]:
        """(x behind the layer, auxiliary loss): x (batch, seq, hidden)."""
        x = x + self.self_attn(self.input_layernorm(x), angles)
        branch, aux = self.mlp(self.post_attention_layernorm(x))
        return x + branch, aux


class Decoder(Module):
    """A mixture-of-experts language model: embedding, blocks, norm, head (config: reference/model's)."""

    def __init__(
        self, config: Config, *, seed: Any = 0, ops: Ops = reference, functions: Composed = FUSED,
        dtype: Any = np.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        of_all: dict[str, Any] = {"ops": ops, "functions": functions, "dtype": dtype}
        self.embed_tokens = Embedding(config.vocab, config.hidden, seed=(seed, "embedding"), **of_all)
        self.layers = [Block(config, seed=(seed, index), **of_all) for index in range(config.layers)]
        self.norm = RMSNorm(config.hidden, eps=config.eps, **of_all)
        self.lm_head = Linear(config.hidden, config.vocab, bias=False, seed=(seed, "head"), **of_all)
        self.config, self._functions = config, functions

    def forward(self, tokens: Array) -> tuple[Variable, Variable]:
        """(logits (batch, seq, vocab), auxiliary loss summed over the layers): tokens int32 (batch, seq)."""
        check(np.ndim(tokens) == 2, "Decoder", "tokens (batch, seq)", np.shape(tokens))
        x, losses = self.embed_tokens(tokens), []
        angles = self.layers[0].self_attn.angles(tokens.shape[1])
        for layer in self.layers:
            x, aux = layer(x, angles)
            losses.append(aux)
        return self.lm_head(self.norm(x)), sum(losses[1:], losses[0])

    def loss(self, tokens: Array, targets: Array) -> Loss:
        """Cross entropy, the mean over targets from 0 on, plus auxiliary loss; both arrays int32 (batch, seq)."""
        check(np.shape(targets) == np.shape(tokens), "Decoder", f"targets {np.shape(tokens)}", np.shape(targets))
        logits, aux = self.forward(tokens)
        rows = logits.reshape((tokens.size, self.config.vocab))
        cross_entropy = self._functions.cross_entropy(rows, targets.reshape(-1).astype(np.int32))
        return Loss(cross_entropy + aux, cross_entropy, aux)

    def model_parameters(self) -> dict[str, Variable]:
        """The parameters by the names that reference/model has for them, in its order."""
        own = dict(self.named_parameters())
        return {theirs: own[ours] for theirs, ours in names(self.config.layers)}

    def load_model(self, parameters: Mapping[str, Array]) -> None:
        """Take reference/model's parameters; raises TensorError, and changes nothing, where they do not fit."""
        ours = dict(names(self.config.layers))
        self.load_state_dict({ours.get(name, name): array for name, array in parameters.items()})


def names(layers: int) -> Iterator[tuple[str, str]]:
    """Yield each parameter's name in reference/model, in its order, and here."""
    yield "embedding", _ENDS["embedding"]
    for index in range(layers):
        yield from ((f"layers.{index}.{theirs}", f"layers.{index}.{ours}") for theirs, ours in _LAYER.items())
    yield from ((theirs, _ENDS[theirs]) for theirs in ("final_norm", "lm_head"))
