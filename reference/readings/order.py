"""The wrong reading of a whole backward pass: a sublayer's norm is passed before the sublayer, as in the forward.

Seen in a published family of ports: every loss falls, and only the final norm and the head have right gradients.
"""

from __future__ import annotations

from reference import step
from reference.arrays import Array
from reference.model import attention, block, linear, moe, transformer
from reference.model.config import Config
from reference.model.parameters import Layer, Parameters, layer, named_layer
from reference.model.recompute import Tape
from reference.namespace import Ops
from reference.step import Metrics, State, TrainingConfig

FRESH = Layer(*[None] * len(Layer._fields))


def norm_before_sublayer(
    ops: Ops, config: Config, training: TrainingConfig, state: State, tokens: Array, targets: Array
) -> tuple[State, Metrics]:
    """A training step (of one micro-batch) with that backward."""
    output = transformer.forward(ops, config, state.parameters, tokens)
    loss, log_probs = transformer.loss(ops, output, targets)
    scale = 1.0 / max(1, int((targets >= 0).sum()))
    d_logits = ops.cross_entropy_backward(log_probs, targets.reshape(-1), scale=scale)
    gradients = _backward(ops, config, state.parameters, output, d_logits)
    rate = step.learning_rate(training, state.step + 1)
    state, norm = step.update(ops, training, state, gradients, rate)
    return state, Metrics(*loss, norm, rate)


def _backward(
    ops: Ops, config: Config, parameters: Parameters, output: transformer.Output, d_logits: Array
) -> Parameters:
    below, head, norm = output.trunk, parameters["lm_head"], parameters["final_norm"]
    d_normed, d_head = linear.backward(ops, below.normed, head, d_logits, None)
    d_stream, d_norm = block.join_backward(ops, config, below.stream, norm, d_normed, None, None)
    gradients = {"final_norm": d_norm, "lm_head": d_head}
    tape = Tape(ops, config, parameters, below.layers, output.freqs, len(output.tokens))
    for index in reversed(range(config.layers)):
        arrays = layer(parameters, index)
        d_stream, of_layer = _block_backward(ops, config, arrays, tape.pop(), output.freqs, d_stream)
        gradients |= named_layer(index, of_layer)
    embedding = parameters["embedding"]
    empty = ops.zero_grad(size=embedding.size).reshape(embedding.shape)
    return gradients | {"embedding": ops.scatter_add(d_stream, output.tokens.reshape(-1), empty)}


def _block_backward(
    ops: Ops, config: Config, arrays: Layer, kept: block.Kept, freqs: Array, d_stream: Array
) -> tuple[Array, Layer]:
    d_branch, d_ffn_norm = block.join_backward(ops, config, kept.ffn_stream, arrays.ffn_norm, d_stream, None, None)
    d_branch, of_moe = moe.backward(ops, config, arrays, kept.moe, d_branch, 1.0, FRESH)
    d_stream = _sum(ops, d_stream, d_branch)
    d_branch, d_attn_norm = block.join_backward(ops, config, kept.attn_stream, arrays.attn_norm, d_stream, None, None)
    d_branch, of_attention = attention.backward(ops, config, arrays, kept.attention, freqs, d_branch, FRESH)
    gradients = Layer(attn_norm=d_attn_norm, ffn_norm=d_ffn_norm, **of_attention, **of_moe)
    return _sum(ops, d_stream, d_branch), gradients


def _sum(ops: Ops, a: Array, b: Array) -> Array:
    return ops.add(a.reshape(-1), b.reshape(-1)).reshape(a.shape)
