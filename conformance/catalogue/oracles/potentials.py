"""What each backward operation is the derivative of: a potential, by the order of the header.

Where an operation is given rounded results of its forward (probabilities, a log-sum-exp), they are no longer exactly
those of any input.  Probabilities p get a further entry that makes up for what they lack of 1, and are moved by the
change t of their logits: p e^t / (1 - sum(p) + sum(p e^t)).  Rows that a norm was given are moved by t as well, which
changes mean and variance that were stored with them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from decimal import Decimal

from . import (
    activations,
    attention_softmax,
    batchnorm,
    broadcast,
    convolution,
    dropout,
    elementwise,
    layernorm,
    loss,
    moe,
    norm,
    pooling,
    rope,
    sequence,
    through_time,
)
from .differences import Gradient
from .numbers import Matrix, Nested, Number, Vector, dot, exp, flat, shape


def _product(a: Nested, b: Nested) -> Number:
    return dot(flat(a), flat(b))


def _silu(input: Vector, d_output: Vector) -> Number:
    return dot(elementwise.silu(input), d_output)


def _swiglu(gate: Vector, up: Vector, d_output: Vector) -> Number:
    return dot(elementwise.swiglu(gate, up), d_output)


def _relu(input: Vector, d_output: Vector, t: Vector) -> Number:
    """Of the branch that the input is on, moved by t: at 0 the function itself has no derivative."""
    return _leaky_relu(input, d_output, Decimal(0), t)


def _leaky_relu(input: Vector, d_output: Vector, alpha: Number, t: Vector) -> Number:
    return dot(d_output, (y if x > 0 else alpha * y for x, y in zip(input, t, strict=True)))


def _elu(input: Vector, d_output: Vector, alpha: Number, t: Vector) -> Number:
    moved = (y if x > 0 else alpha * (exp(x + y) - 1) for x, y in zip(input, t, strict=True))
    return dot(d_output, moved)


def _sigmoid(output: Vector, d_output: Vector, t: Vector) -> Number:
    """The sigmoid of the logit of y, moved by t."""
    return dot(d_output, (y * exp(s) / (1 - y + y * exp(s)) for y, s in zip(output, t, strict=True)))


def _tanh(output: Vector, d_output: Vector, t: Vector) -> Number:
    """The tanh of the area tangent of y, moved by t: tanh's addition theorem."""
    slopes = activations.tanh(t)
    return dot(d_output, ((y + s) / (1 + y * s) for y, s in zip(output, slopes, strict=True)))


def _gelu(input: Vector, d_output: Vector) -> Number:
    return dot(activations.gelu(input), d_output)


def _gelu_tanh(input: Vector, d_output: Vector) -> Number:
    return dot(activations.gelu_tanh(input), d_output)


def _softmax_temperature(output: Matrix, d_output: Matrix, temperature: Number, t: Matrix) -> Number:
    return _softmax(output, d_output, [[x / temperature for x in row] for row in t])


def _shifted(p: Vector, t: Vector) -> tuple[Vector, Number]:
    """Return the weights p e^t and their total with the entry that completes p."""
    weights = [x * exp(y) for x, y in zip(p, t, strict=True)]
    return weights, sum(weights, 1 - sum(p, Decimal(0)))


def _softmax(output: Matrix, d_output: Matrix, t: Matrix) -> Number:
    rows = ((_shifted(p, shift), d) for p, shift, d in zip(output, t, d_output, strict=True))
    return sum((dot(weights, d) / total for (weights, total), d in rows), Decimal(0))


def _attention_softmax(weights: Nested, d_scores: Nested, scale: Number, t: Nested) -> Number:
    """Moved by logits that are scale times the scores."""
    rows, gradients, moves = (attention_softmax.queries_of(array) for array in (weights, d_scores, t))
    return _softmax(rows, gradients, [[scale * x for x in row] for row in moves])


def _softmax_topk(weights: Matrix, indices: Sequence[Sequence[int]], d_weights: Matrix, cols: int, t: Matrix) -> Number:
    chosen = [[row[i] for i in places] for row, places in zip(t, indices, strict=True)]
    return _softmax(weights, d_weights, chosen)


def _rmsnorm(input: Matrix, weight: Vector, d_output: Matrix, d_weight: Vector, eps: Number, beta: Number) -> Number:
    added = beta * dot(d_weight, weight) if beta else 0
    return _product(norm.rmsnorm(input, weight, eps), d_output) + added


def _rmsnorm_residual(
    residual_out: Matrix, weight: Vector, d_output: Matrix, d_residual_out: Matrix, d_weight: Vector,
    eps: Number, beta: Number,
) -> Number:  # fmt: skip
    through_norm = _rmsnorm(residual_out, weight, d_output, d_weight, eps, beta)
    return through_norm + _product(residual_out, d_residual_out)


def _layernorm(
    input: Matrix, weight: Vector, mean: Vector, rstd: Vector, d_output: Matrix, d_weight: Vector, d_bias: Vector,
    beta: Number, bias: Vector, t: Matrix,
) -> Number:  # fmt: skip
    total = beta * (dot(d_weight, weight) + dot(d_bias, bias)) if beta else Decimal(0)
    for row, m, r, d, move in zip(input, mean, rstd, d_output, t, strict=True):
        h = layernorm.moved_norm([(x - m) * r for x in row], [r * step for step in move])
        total += dot([y * w + b for y, w, b in zip(h, weight, bias, strict=True)], d)
    return total


def _rope(d_output: Nested, freqs: Matrix, offset: int, x: Nested) -> Number:
    return _product(rope.rope_forward(x, freqs, offset), d_output)


def _rope_qk(d_q_out: Nested, d_k_out: Nested, freqs: Matrix, offset: int, q: Nested, k: Nested) -> Number:
    return _rope(d_q_out, freqs, offset, q) + _rope(d_k_out, freqs, offset, k)


def _attention(Q: Nested, K: Nested, V: Nested, output: Nested, lse: Nested, d_output: Nested, scale: Number) -> Number:
    """Sum of P * (d_output . V - D), in which lse and D = d_output . output are given."""
    batch, seq_len, heads, _ = shape(Q)
    group, total = heads // len(K[0][0]), Decimal(0)
    for b, i, h in itertools.product(range(batch), range(seq_len), range(heads)):
        d = dot(d_output[b][i][h], output[b][i][h])
        for j in range(i + 1):
            p = exp(scale * dot(Q[b][i][h], K[b][j][h // group]) - lse[b][h][i])
            total += p * (dot(d_output[b][i][h], V[b][j][h // group]) - d)
    return total


def _dispatch(d_output: Matrix, position: Sequence[Sequence[int]], x: Matrix) -> Number:
    return _product(moe.expert_dispatch(x, position), d_output)


def _combine(input: Matrix, weights: Matrix, position: Sequence[Sequence[int]], d_output: Matrix) -> Number:
    return _product(moe.expert_combine(input, weights, position), d_output)


def _aux_loss(f_counts: Vector, batch_seq: int, alpha: Number, scale: Number, probs: Matrix) -> Number:
    p_means = [sum((row[e] for row in probs), Decimal(0)) / batch_seq for e in range(len(f_counts))]
    return scale * alpha * len(f_counts) * dot(f_counts, p_means) / batch_seq


def _topk_router(
    weights: Matrix, indices: Sequence[Sequence[int]], probs: Matrix, f_counts: Vector, d_weights: Matrix,
    alpha: Number, scale: Number, t: Matrix,
) -> Number:  # fmt: skip
    """Moved by logits: those chosen move their weights, all of them the probabilities that the loss is the mean of."""
    slopes = [scale * alpha * len(f_counts) * f / len(probs) ** 2 for f in f_counts]
    through_loss = _softmax(probs, [slopes] * len(probs), t)
    return _softmax_topk(weights, indices, d_weights, len(f_counts), t) + through_loss


def _cross_entropy(log_probs: Matrix, targets: Sequence[int], scale: Number, t: Matrix) -> Number:
    total = Decimal(0)
    for row, shift, target in zip(log_probs, t, targets, strict=True):
        if target >= 0:
            total += _shifted([exp(x) for x in row], shift)[1].ln() - row[target] - shift[target]
    return scale * total


def _batchnorm(
    input: Nested, weight: Vector, mean: Vector, rstd: Vector, d_output: Nested, d_weight: Vector, d_bias: Vector,
    beta: Number, bias: Vector, t: Nested,
) -> Number:  # fmt: skip
    total = beta * (dot(d_weight, weight) + dot(d_bias, bias)) if beta else Decimal(0)
    for c, (m, r, w, b) in enumerate(zip(mean, rstd, weight, bias, strict=True)):
        x, d, moves = (batchnorm.of_channel(array, c) for array in (input, d_output, t))
        h = layernorm.moved_norm([(y - m) * r for y in x], [r * step for step in moves])
        total += dot([y * w + b for y in h], d)
    return total


def _dropout(d_output: Vector, philox: Sequence[int], rate: Number, x: Vector) -> Number:
    return dot(dropout.dropout(x, philox, rate), d_output)


def _max_pool2d(d_output: Nested, places: Nested, height: int, width: int, x: Nested, **window: int) -> Number:
    """Of each window the number at its place."""
    total = Decimal(0)
    for b, c in itertools.product(range(len(x)), range(len(x[0]))):
        numbers = flat(x[b][c])
        total += dot([numbers[place] for place in flat(places[b][c])], flat(d_output[b][c]))
    return total


def _avg_pool2d(d_output: Nested, height: int, width: int, x: Nested, **window: int) -> Number:
    return _product(pooling.avg_pool2d(x, **window), d_output)


def _slice_steps(d_output: Nested, steps: int, first: int, x: Nested) -> Number:
    return _product(sequence.slice_steps(x, first, len(d_output[0])), d_output)


def _concat_steps(d_output: Nested, steps_a: int, steps_b: int, a: Nested, b: Nested) -> Number:
    return _product(sequence.concat_steps(a, b), d_output)


def _mse(prediction: Vector, target: Vector, scale: Number) -> Number:
    return scale * loss.mse_forward(prediction, target)[0]


def _bce_logits(logits: Vector, target: Vector, scale: Number) -> Number:
    return scale * loss.bce_logits_forward(logits, target)[0]


def _dense(log_probs: Matrix, labels: Matrix, temperature: Number, scale: Number, t: Matrix) -> Number:
    """Moved by logits: log_probs by t / temperature, and what makes probabilities of them again."""
    total = Decimal(0)
    for row, label, shift in zip(log_probs, labels, t, strict=True):
        moved = [s / temperature for s in shift]
        log_total = _shifted([exp(x) for x in row], moved)[1].ln()
        total += sum(label, Decimal(0)) * log_total - dot(label, moved)
    return scale * total / len(labels)


def _convolution_of_input(weight: Nested, d_output: Nested, input: Nested, **steps: int) -> Number:
    inside = {name: value for name, value in steps.items() if name not in ("in_channels", "height", "width")}
    return _product(convolution.conv2d(input, weight, (), has_bias=0, **inside), d_output)


def _convolution_of_weight(
    input: Nested, d_output: Nested, d_weight: Nested, beta: Number, weight: Nested, **steps: int
) -> Number:
    inside = {name: value for name, value in steps.items() if name not in ("kernel_h", "kernel_w")}
    added = beta * _product(d_weight, weight) if beta else 0
    return _product(convolution.conv2d(input, weight, (), has_bias=0, **inside), d_output) + added


GRADIENTS = {
    "silu_backward": Gradient(_silu, {"d_input": "input"}),
    "swiglu_backward": Gradient(_swiglu, {"d_gate": "gate", "d_up": "up"}),
    "softmax_backward": Gradient(_softmax, {"d_input": "t"}),
    "attention_softmax_backward": Gradient(_attention_softmax, {"d_scores": "t"}),
    "softmax_topk_backward": Gradient(_softmax_topk, {"d_input": "t"}),
    "rmsnorm_backward": Gradient(_rmsnorm, {"d_input": "input", "d_weight": "weight"}),
    "rmsnorm_residual_backward": Gradient(_rmsnorm_residual, {"d_input": "residual_out", "d_weight": "weight"}),
    "rope_backward": Gradient(_rope, {"d_input": "x"}),
    "rope_qk_backward": Gradient(_rope_qk, {"d_q": "q", "d_k": "k"}),
    "attention_backward": Gradient(_attention, {"d_Q": "Q", "d_K": "K", "d_V": "V"}),
    "expert_dispatch_backward": Gradient(_dispatch, {"d_input": "x"}),
    "expert_combine_backward": Gradient(_combine, {"d_input": "input", "d_weights": "weights"}),
    "topk_router_backward": Gradient(_topk_router, {"d_logits": "t"}),
    "aux_loss_backward": Gradient(_aux_loss, {"d_router_probs": "probs"}),
    "max_pool2d_backward": Gradient(_max_pool2d, {"d_input": "x"}),
    "avg_pool2d_backward": Gradient(_avg_pool2d, {"d_input": "x"}),
    "slice_steps_backward": Gradient(_slice_steps, {"d_input": "x"}),
    "concat_steps_backward": Gradient(_concat_steps, {"d_a": "a", "d_b": "b"}),
    "conv2d_backward_input": Gradient(_convolution_of_input, {"d_input": "input"}),
    "conv2d_backward_weight": Gradient(_convolution_of_weight, {"d_weight": "weight"}),
    "cross_entropy_backward": Gradient(_cross_entropy, {"d_logits": "t"}),
    "layernorm_backward": Gradient(_layernorm, {"d_input": "t", "d_weight": "weight", "d_bias": "bias"}),
    "batchnorm_backward": Gradient(_batchnorm, {"d_input": "t", "d_weight": "weight", "d_bias": "bias"}),
    "dropout_backward": Gradient(_dropout, {"d_input": "x"}),
    "relu_backward": Gradient(_relu, {"d_input": "t"}),
    "leaky_relu_backward": Gradient(_leaky_relu, {"d_input": "t"}),
    "elu_backward": Gradient(_elu, {"d_input": "t"}),
    "sigmoid_backward": Gradient(_sigmoid, {"d_input": "t"}),
    "tanh_backward": Gradient(_tanh, {"d_input": "t"}),
    "gelu_backward": Gradient(_gelu, {"d_input": "input"}),
    "gelu_tanh_backward": Gradient(_gelu_tanh, {"d_input": "input"}),
    "softmax_temperature_backward": Gradient(_softmax_temperature, {"d_input": "t"}),
    "mse_backward": Gradient(_mse, {"d_prediction": "prediction"}),
    "bce_logits_backward": Gradient(_bce_logits, {"d_logits": "logits"}),
    "cross_entropy_dense_backward": Gradient(_dense, {"d_logits": "t"}),
    "dense_backward": Gradient(broadcast.dense_potential, through_time.by_of("d_pre", "d_input", "d_weight", "d_bias")),
    **{operation: Gradient(potential, by) for operation, (potential, by) in through_time.POTENTIALS.items()},
}
