"""The whole model: embedding, layers, final norm, head; its loss and the gradient of every parameter.

Written against a namespace of operations `ops`: the reference itself, or a library with the same functions.  tokens and
targets are int32 arrays [batch, seq]; a negative target is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from reference.arrays import Array
from reference.namespace import Ops, offers

from . import attention, block, linear
from .config import Config
from .parameters import Parameters, layer, named_layer
from .recompute import Keeping, Kept, Recompute, Tape

Ready = Callable[[Parameters], None]


class Trunk(NamedTuple):
    """The model below its head: the last stream and its norm [batch * seq, hidden], the auxiliary loss [1] summed over
    the layers, what each layer keeps for backward, how many tokens met each of its experts [experts], and the
    caches where they are given."""

    stream: Array
    normed: Array
    aux_loss: Array
    layers: list[Kept]
    loads: list[Array]
    caches: list[attention.Cache | None]


class Output(NamedTuple):
    """logits [batch * seq, vocab], and what backward needs."""

    logits: Array
    tokens: Array
    freqs: Array
    trunk: Trunk


class Loss(NamedTuple):
    """total = cross_entropy + aux, each of shape [1]."""

    total: Array
    cross_entropy: Array
    aux: Array


def rotary_angles(ops: Ops, config: Config, length: int) -> Array:
    """The angles of the first `length` positions, [length, head_dim / 2]."""
    base, alpha = config.rope_base, config.rope_alpha
    return ops.rope_freqs(max_seq_len=length, head_dim=config.head_dim, base=base, alpha=alpha)


def forward(
    ops: Ops, config: Config, parameters: Parameters, tokens: Array, recompute: Recompute | None = None
) -> Output:
    """Logits of every position; recompute: which layers keep nothing but an input for backward."""
    freqs = rotary_angles(ops, config, tokens.shape[1])
    below = trunk(ops, config, parameters, tokens, freqs, [None] * config.layers, 0, recompute)
    return Output(ops.gemm(below.normed, parameters["lm_head"]), tokens, freqs, below)


def trunk(
    ops: Ops,
    config: Config,
    parameters: Parameters,
    tokens: Array,
    freqs: Array,
    caches: Sequence[attention.Cache | None],
    position: int,
    recompute: Recompute | None = None,
) -> Trunk:
    """Everything below the head; with caches the tokens follow the `position` ones whose keys and values those hold."""
    stream, branch, aux_loss = ops.embedding(parameters["embedding"], tokens.reshape(-1)), None, None
    keeping = Keeping(recompute, config.layers)
    kept, loads, filled = [], [], []
    for index, cache in enumerate(caches):
        arrays, before = layer(parameters, index), keeping.before(index, stream, branch)
        output = block.forward(ops, config, arrays, stream, branch, freqs, len(tokens), cache, position)
        stream, branch = output.stream, output.branch
        aux_loss = output.aux_loss if aux_loss is None else ops.add(aux_loss, output.aux_loss)
        kept.append(keeping.behind(index, before, output.kept))
        loads.append(output.kept.moe.routing.f_counts)
        filled.append(output.cache)
    normed, stream = block.join(ops, config, stream, branch, parameters["final_norm"])
    return Trunk(stream, normed, aux_loss, kept, loads, filled)


def loss(ops: Ops, output: Output, targets: Array) -> tuple[Loss, Array]:
    """(loss, log_probs [batch * seq, vocab]): cross entropy, mean over the targets that count, plus auxiliary loss."""
    cross_entropy, log_probs = ops.cross_entropy_forward(output.logits, targets.reshape(-1))
    return _with_aux(ops, cross_entropy, output.trunk), log_probs


def loss_and_gradient(ops: Ops, output: Output, targets: Array, scale: float) -> tuple[Loss, Array]:
    """(loss, gradient of the logits [batch * seq, vocab]); scale: 1 / the targets that count, for that of the mean.

    Of one output there is one: where the namespace offers both at once, the gradient takes the logits' place.
    """
    flat = targets.reshape(-1)
    if offers(ops, "fused_cross_entropy"):
        d_logits, cross_entropy, _ = ops.fused_cross_entropy(output.logits, flat, scale=scale)
        return _with_aux(ops, cross_entropy, output.trunk), d_logits
    found, log_probs = loss(ops, output, targets)
    return found, ops.cross_entropy_backward(log_probs, flat, scale=scale)


def _with_aux(ops: Ops, cross_entropy: Array, below: Trunk) -> Loss:
    return Loss(ops.add(cross_entropy, below.aux_loss), cross_entropy, below.aux_loss)


def backward(
    ops: Ops,
    config: Config,
    parameters: Parameters,
    output: Output,
    d_logits: Array,
    d_aux_loss: float,
    into: Parameters | None = None,
    ready: Ready | None = None,
) -> Parameters:
    """The gradient of every parameter by name, added to what `into` holds (a library adds in place).

    Of one forward there is one backward: it takes what the layers kept out of the output, layer by layer.
    d_logits: [batch * seq, vocab]; d_aux_loss: the gradient of the auxiliary loss.  ready is given gradients as soon as
    they are what they will be.
    """
    buffers = into or dict.fromkeys(parameters)
    below, head, norm = output.trunk, parameters["lm_head"], parameters["final_norm"]
    d_normed, d_head = linear.backward(ops, below.normed, head, d_logits, buffers["lm_head"])
    d_stream, d_norm = block.join_backward(ops, config, below.stream, norm, d_normed, None, buffers["final_norm"])
    tape = Tape(ops, config, parameters, below.layers, output.freqs, len(output.tokens))
    ready = ready or _nobody
    gradients = {"lm_head": d_head, "final_norm": d_norm}
    ready(gradients)
    for index in reversed(range(config.layers)):
        arrays, given = layer(parameters, index), layer(buffers, index)
        d_stream, d_layer = block.backward(ops, config, arrays, tape.pop(), output.freqs, d_stream, d_aux_loss, given)
        of_layer = named_layer(index, d_layer)
        ready(of_layer)
        gradients |= of_layer
    d_embedding = _embedding_backward(ops, parameters["embedding"], output.tokens, d_stream, buffers["embedding"])
    ready({"embedding": d_embedding})
    gradients["embedding"] = d_embedding
    return {name: gradients[name] for name in parameters}


def _nobody(gradients: Parameters) -> None:
    """Nobody waits for them."""


def _embedding_backward(ops: Ops, weight: Array, tokens: Array, d_stream: Array, into: Array | None) -> Array:
    if into is None:
        into = ops.zero_grad(size=weight.size).reshape(weight.shape)
    return ops.scatter_add(d_stream, tokens.reshape(-1), into)
