"""The table of gradients: which forward each backward operation belongs to, and at which shapes they are checked."""

from __future__ import annotations

from typing import Any

import numpy as np

import reference as ops
from reference import random
from tests.reference.differences import Case

EPS, SCALE, ALPHA, OFFSET, TOP_K = 0.01, 0.4, 0.3, 2, 2
OFFSETS = {6: np.array([0, 2, 2, 6]), 40: np.array([0, 0, 27, 40])}
FREQS = ops.rope_freqs(16, 6, 100.0, 4.0)
POSITION = {10: np.array([[3, 8], [0, 5], [9, 1], [2, 7], [6, 4]])}
LEAKY, ELU, TEMPERATURE = 0.3, 1.5, 0.7
TARGETS = np.array([2, -1, 6, 0, 0, -7, 5, 3, 1, 1, 4, 6])
LABELS = random.uniform(random.stream("labels"), (12, 257))
INDICES = np.array([4, 1, 4, 0, 4, 1, 5, 5])
PHILOX, RATE = np.array([0x0123456789ABCDEF, 2**64 - 1], np.uint64), 0.25
EXPERTS = np.array([[0, 3], [3, 1], [4, 0], [3, 4], [1, 3], [0, 1]])


def _rmsnorm_residual_backward(x: dict[str, Any], d_output: Any, d_residual_out: Any) -> dict[str, Any]:
    s = x["input"] + x["residual"]
    d, d_weight = ops.rmsnorm_residual_backward(s, x["weight"], d_output, d_residual_out, None, EPS, 0.0)
    return {"input": d, "residual": d, "weight": d_weight}


def _layernorm_backward(x: dict[str, Any], d_output: Any) -> dict[str, Any]:
    _, mean, rstd = ops.layernorm(x["input"], x["weight"], x["bias"], EPS)
    gradients = ops.layernorm_backward(x["input"], x["weight"], mean, rstd, d_output, None, None, 0.0)
    return dict(zip(("input", "weight", "bias"), gradients, strict=True))


def _attention_backward(x: dict[str, Any], d_output: Any) -> dict[str, Any]:
    output, lse = ops.attention_forward(x["Q"], x["K"], x["V"], x["K"].shape[1], SCALE)
    d_Q, d_K, d_V = ops.attention_backward(x["Q"], x["K"], x["V"], output, lse, d_output, SCALE)
    return {"Q": d_Q, "K": d_K, "V": d_V}


def _attention(batch: int, length: int, heads: int, kv_heads: int, width: int) -> Case:
    shapes = {"Q": (batch, length, heads, width)} | dict.fromkeys("KV", (batch, length, kv_heads, width))
    return Case("attention_backward", shapes, lambda Q, K, V: ops.flash_attention(Q, K, V, SCALE), _attention_backward)


def _attention_softmax(batch: int, heads: int, queries: int, keys: int, offset: int) -> Case:
    """Under a mask that adds to all keys and hides the last, and that of the future."""
    mask = random.normal(random.stream("mask"), (batch, keys))
    mask[:, -1] = -np.inf

    def forward(scores: Any) -> Any:
        return ops.attention_softmax(scores, mask, SCALE, 1, 1, offset)

    def gradient(x: dict[str, Any], d_weights: Any) -> dict[str, Any]:
        return {"scores": ops.attention_softmax_backward(forward(x["scores"]), d_weights, SCALE)}

    return Case("attention_softmax_backward", {"scores": (batch, heads, queries, keys)}, forward, gradient)


def _softmax_topk_backward(x: dict[str, Any], d_weights: Any) -> dict[str, Any]:
    weights, indices = ops.softmax_topk(x["input"], d_weights.shape[1])
    return {"input": ops.softmax_topk_backward(weights, indices, d_weights, x["input"].shape[1])}


def _aux_loss_backward(x: dict[str, Any], d_loss: Any) -> dict[str, Any]:
    _, f_counts, _ = ops.aux_loss_forward(x["router_probs"], EXPERTS, ALPHA)
    return {"router_probs": ops.aux_loss_backward(f_counts, len(EXPERTS), ALPHA, d_loss[0])}


def _cross_entropy_backward(x: dict[str, Any], d_loss: Any) -> dict[str, Any]:
    targets = TARGETS[: len(x["logits"])]
    _, log_probs = ops.cross_entropy_forward(x["logits"], targets)
    return {"logits": ops.cross_entropy_backward(log_probs, targets, d_loss[0] / np.count_nonzero(targets >= 0))}


def _fused_cross_entropy(x: dict[str, Any], d_loss: Any) -> dict[str, Any]:
    targets = TARGETS[: len(x["logits"])]
    scale = d_loss[0] / np.count_nonzero(targets >= 0)
    return {"logits": ops.fused_cross_entropy(x["logits"], targets, scale)[0]}


def elementwise(n: int) -> list[Case]:
    return [
        Case("silu_backward", {"input": (n,)}, ops.silu, lambda x, d: {"input": ops.silu_backward(x["input"], d)}),
        Case(
            "swiglu_backward",
            {"gate": (n,), "up": (n,)},
            ops.swiglu,
            lambda x, d: dict(zip(("gate", "up"), ops.swiglu_backward(x["gate"], x["up"], d), strict=True)),
        ),
        Case(
            "dropout_backward",
            {"input": (n,)},
            lambda input: ops.dropout(input, PHILOX, RATE),
            lambda x, d: {"input": ops.dropout_backward(d, PHILOX, RATE)},
        ),
    ]


def _from_input(operation: str, n: int, *numbers: float) -> Case:
    """A gradient that is computed from the forward's input."""
    forward, backward = getattr(ops, operation), getattr(ops, f"{operation}_backward")

    def gradient(x: dict[str, Any], d: Any) -> dict[str, Any]:
        return {"input": backward(x["input"], d, *numbers)}

    return Case(f"{operation}_backward", {"input": (n,)}, lambda input: forward(input, *numbers), gradient)


def _from_output(operation: str, *shape: int, numbers: tuple[float, ...] = ()) -> Case:
    """A gradient that is computed from the forward's output."""
    forward, backward = getattr(ops, operation), getattr(ops, f"{operation}_backward")

    def gradient(x: dict[str, Any], d: Any) -> dict[str, Any]:
        return {"input": backward(forward(x["input"], *numbers), d, *numbers)}

    return Case(f"{operation}_backward", {"input": shape}, lambda input: forward(input, *numbers), gradient)


def _activations(n: int) -> list[Case]:
    return [
        _from_input("relu", n),
        _from_input("leaky_relu", n, LEAKY),
        _from_input("elu", n, ELU),
        _from_output("sigmoid", n),
        _from_output("tanh", n),
        _from_input("gelu", n),
        _from_input("gelu_tanh", n),
    ]


def _rows(rows: int, cols: int, k: int) -> list[Case]:
    return [
        Case(
            "softmax_backward",
            {"input": (rows, cols)},
            ops.softmax,
            lambda x, d: {"input": ops.softmax_backward(ops.softmax(x["input"]), d)},
        ),
        _from_output("softmax_temperature", rows, cols, numbers=(TEMPERATURE,)),
        Case(
            "softmax_topk_backward",
            {"input": (rows, cols)},
            lambda input: ops.softmax_topk(input, k)[0],
            _softmax_topk_backward,
        ),
        Case(
            "rmsnorm_backward",
            {"input": (rows, cols), "weight": (cols,)},
            lambda input, weight: ops.rmsnorm(input, weight, EPS),
            lambda x, d: dict(zip(x, ops.rmsnorm_backward(x["input"], x["weight"], d, None, EPS, 0.0), strict=True)),
        ),
        Case(
            "rmsnorm_residual_backward",
            {"input": (rows, cols), "residual": (rows, cols), "weight": (cols,)},
            lambda input, residual, weight: ops.rmsnorm_residual(input, residual, weight, EPS),
            _rmsnorm_residual_backward,
        ),
        Case(
            "layernorm_backward",
            {"input": (rows, cols), "weight": (cols,), "bias": (cols,)},
            lambda input, weight, bias: ops.layernorm(input, weight, bias, EPS)[0],
            _layernorm_backward,
        ),
    ]


def _batchnorm_backward(x: dict[str, Any], d_output: Any) -> dict[str, Any]:
    rest = x["weight"]
    _, mean, rstd, *_ = ops.batchnorm_training(x["input"], rest, rest, rest, rest, 0.1, EPS)
    gradients = ops.batchnorm_backward(x["input"], x["weight"], mean, rstd, d_output, None, None, 0.0)
    return dict(zip(("input", "weight", "bias"), gradients, strict=True))


def _images(batch: int, channels: int, spatial: int) -> list[Case]:
    return [
        Case(
            "batchnorm_backward",
            {"input": (batch, channels, spatial), "weight": (channels,), "bias": (channels,)},
            lambda input, weight, bias: ops.batchnorm_training(input, weight, bias, bias, bias, 0.1, EPS)[0],
            _batchnorm_backward,
        )
    ]


def _products(m: int, n: int, k: int) -> list[Case]:
    nt = {"A": (m, k), "B": (n, k)}
    return [
        Case("gemm_nn", nt, ops.gemm, lambda x, d: {"A": ops.gemm_nn(d, x["B"], None, 1.0, 0.0)}),
        Case("gemm_tn", nt, ops.gemm, lambda x, d: {"B": ops.gemm_tn(d, x["A"], None, 1.0, 0.0)}),
        Case(
            "gemm_tt",
            {"A": (k, m), "B": (n, k)},
            lambda A, B: ops.gemm_tt(A, B, None, 0.5, 0.0),
            lambda x, d: {"A": ops.gemm_tt(x["B"], d, None, 0.5, 0.0)},
        ),
    ]


def _grouped(rows: int, n: int, k: int) -> list[Case]:
    offsets = OFFSETS[rows]
    shapes = {"A": (rows, k), "B": (3, n, k)}

    def forward(A: Any, B: Any) -> Any:
        return ops.grouped_gemm(A, B, offsets)

    def d_weight(x: dict[str, Any], d: Any) -> dict[str, Any]:
        return {"B": ops.grouped_gemm_tn(d, x["A"], offsets, None, 0.0)}

    return [
        Case("grouped_gemm_nn", shapes, forward, lambda x, d: {"A": ops.grouped_gemm_nn(d, x["B"], offsets)}),
        Case("grouped_gemm_tn", shapes, forward, d_weight),
    ]


def _gate_and_up(rows: int, n: int, k: int) -> list[Case]:
    """SwiGLU behind both products: its gradients are those of the operations that it is made of."""
    offsets = OFFSETS[rows]
    shapes = {"A": (rows, k), "B_gate": (n, k), "B_up": (n, k)}
    of_experts = {"A": (rows, k), "B_gate": (3, n, k), "B_up": (3, n, k)}

    def slopes(x: dict[str, Any], gate: Any, up: Any, d: Any) -> dict[str, Any]:
        return dict(zip(("B_gate", "B_up"), ops.swiglu_backward(gate, up, d), strict=True))

    def backward(x: dict[str, Any], d: Any) -> dict[str, Any]:
        inner = slopes(x, *ops.gemm_swiglu(**x)[:2], d)
        d_A = sum(ops.gemm_nn(d_inner, x[name], None, 1.0, 0.0) for name, d_inner in inner.items())
        return {"A": d_A} | {name: ops.gemm_tn(di, x["A"], None, 1.0, 0.0) for name, di in inner.items()}

    def grouped_backward(x: dict[str, Any], d: Any) -> dict[str, Any]:
        inner = slopes(x, *ops.grouped_gemm_swiglu(**x, offsets=offsets)[:2], d)
        d_A = sum(ops.grouped_gemm_nn(d_inner, x[name], offsets) for name, d_inner in inner.items())
        return {"A": d_A} | {n: ops.grouped_gemm_tn(di, x["A"], offsets, None, 0.0) for n, di in inner.items()}

    def grouped(**x: Any) -> Any:
        return ops.grouped_gemm_swiglu(**x, offsets=offsets)[2]

    return [
        Case("gemm_swiglu", shapes, lambda **x: ops.gemm_swiglu(**x)[2], backward),
        Case("grouped_gemm_swiglu", of_experts, grouped, grouped_backward),
    ]


def _router(tokens: int, cols: int, k: int) -> Case:
    """The logits' gradient, through the weights of those chosen and through the auxiliary loss's means."""

    def forward(logits: Any) -> Any:
        weights, _, _, aux_loss, _, _ = ops.topk_router(logits, k, ALPHA)
        return weights, aux_loss

    def backward(x: dict[str, Any], d_weights: Any, d_loss: Any) -> dict[str, Any]:
        weights, indices, probs, _, f_counts, _ = ops.topk_router(x["logits"], k, ALPHA)
        return {"logits": ops.topk_router_backward(weights, indices, probs, f_counts, d_weights, ALPHA, d_loss[0])}

    return Case("topk_router_backward", {"logits": (tokens, cols)}, forward, backward)


def _rope_and_routing() -> list[Case]:
    position = POSITION[10]
    return [
        Case(
            "rope_backward",
            {"input": (2, 3, 2, 6)},
            lambda input: ops.rope_forward(input, FREQS, OFFSET),
            lambda x, d: {"input": ops.rope_backward(d, FREQS, OFFSET)},
        ),
        Case(
            "rope_qk_backward",
            {"q": (1, 3, 2, 6), "k": (1, 3, 1, 6)},
            lambda q, k: ops.rope_qk(q, k, FREQS, OFFSET),
            lambda x, d_q, d_k: dict(zip("qk", ops.rope_qk_backward(d_q, d_k, FREQS, OFFSET), strict=True)),
        ),
        Case(
            "expert_dispatch_backward",
            {"input": (5, 3)},
            lambda input: ops.expert_dispatch(input, position),
            lambda x, d: {"input": ops.expert_dispatch_backward(d, position)},
        ),
        Case(
            "expert_combine_backward",
            {"input": (10, 3), "weights": (5, 2)},
            lambda input, weights: ops.expert_combine(input, weights, position),
            lambda x, d: dict(
                zip(x, ops.expert_combine_backward(x["input"], x["weights"], position, d), strict=True),
            ),
        ),
        Case(
            "scatter_add",
            {"weight": (6, 3)},
            lambda weight: ops.embedding(weight, INDICES),
            lambda x, d: {"weight": ops.scatter_add(d, INDICES, np.zeros((6, 3)))},
        ),
    ]


def _max_pool2d_backward(x: dict[str, Any], d_output: Any, window: tuple[int, ...]) -> dict[str, Any]:
    places = ops.max_pool2d(x["input"], *window)[1]
    return {"input": ops.max_pool2d_backward(d_output, places, *x["input"].shape[2:], *window)}


def _pooling(shape: tuple[int, ...], window: tuple[int, ...]) -> list[Case]:
    """window: kernel, stride and padding, of height and width each."""
    return [
        Case(
            "max_pool2d_backward",
            {"input": shape},
            lambda input: ops.max_pool2d(input, *window)[0],
            lambda x, d: _max_pool2d_backward(x, d, window),
        ),
        *(
            Case(
                "avg_pool2d_backward",
                {"input": shape},
                lambda input, counted=counted: ops.avg_pool2d(input, *window, counted),
                lambda x, d, counted=counted: {
                    "input": ops.avg_pool2d_backward(d, *x["input"].shape[2:], *window, counted)
                },
            )
            for counted in (0, 1)
        ),
    ]


def _sequence(steps: int, first: int, count: int) -> list[Case]:
    return [
        Case(
            "slice_steps_backward",
            {"input": (2, steps, 3)},
            lambda input: ops.slice_steps(input, first, count),
            lambda x, d: {"input": ops.slice_steps_backward(d, steps, first)},
        ),
        Case(
            "concat_steps_backward",
            {"a": (2, first, 3), "b": (2, count, 3)},
            ops.concat_steps,
            lambda x, d: dict(zip("ab", ops.concat_steps_backward(d, first, count), strict=True)),
        ),
    ]


def _dense_backward(x: dict[str, Any], d_loss: Any) -> dict[str, Any]:
    labels = LABELS[: len(x["logits"]), : x["logits"].shape[1]]
    _, log_probs = ops.cross_entropy_dense_forward(x["logits"], labels, SCALE)
    return {"logits": ops.cross_entropy_dense_backward(log_probs, labels, SCALE, d_loss[0])}


def _pointwise(n: int) -> list[Case]:
    """Losses of n numbers; logits stand for probabilities, which no difference takes out of their range."""
    target = LABELS.reshape(-1)[:n]

    def inside(logits: Any) -> Any:
        return 1.0 / (1.0 + np.exp(-logits))

    def through(logits: Any, d_probability: Any) -> dict[str, Any]:
        return {"logits": d_probability * inside(logits) * (1.0 - inside(logits))}

    return [
        Case(
            "mse_backward",
            {"prediction": (n,)},
            lambda prediction: ops.mse_forward(prediction, target),
            lambda x, d: {"prediction": ops.mse_backward(x["prediction"], target, d[0])},
        ),
        Case(
            "bce_backward",
            {"logits": (n,)},
            lambda logits: ops.bce_forward(inside(logits), target),
            lambda x, d: through(x["logits"], ops.bce_backward(inside(x["logits"]), target, d[0])),
        ),
        Case(
            "bce_logits_backward",
            {"logits": (n,)},
            lambda logits: ops.bce_logits_forward(logits, target),
            lambda x, d: {"logits": ops.bce_logits_backward(x["logits"], target, d[0])},
        ),
    ]


def _losses(rows: int, cols: int) -> list[Case]:
    labels = LABELS[:rows, :cols]
    return [
        *_pointwise(rows * cols),
        Case(
            "categorical_cross_entropy_backward",
            {"logits": (rows, cols)},
            lambda logits: ops.categorical_cross_entropy_forward(np.exp(logits), labels),
            lambda x, d: {
                "logits": ops.categorical_cross_entropy_backward(np.exp(x["logits"]), labels, d[0])
                * np.exp(x["logits"])
            },
        ),
        Case(
            "cross_entropy_dense_backward",
            {"logits": (rows, cols)},
            lambda logits: ops.cross_entropy_dense_forward(logits, labels, SCALE)[0],
            _dense_backward,
        ),
        Case(
            "cross_entropy_backward",
            {"logits": (rows, cols)},
            lambda logits: ops.cross_entropy_forward(logits, TARGETS[: len(logits)])[0],
            _cross_entropy_backward,
        ),
        Case(
            "fused_cross_entropy",
            {"logits": (rows, cols)},
            lambda logits: ops.fused_cross_entropy(logits, TARGETS[: len(logits)], SCALE)[1],
            _fused_cross_entropy,
        ),
        Case(
            "aux_loss_backward",
            {"router_probs": (6, 5)},
            lambda router_probs: ops.aux_loss_forward(router_probs, EXPERTS, ALPHA)[0],
            _aux_loss_backward,
        ),
    ]


def _layer(
    batch: int,
    steps: int,
    input_dim: int,
    hidden_dim: int,
    parts: int,
    biases: tuple[str, ...],
    states: tuple[str, ...],
) -> dict[str, tuple[int, ...]]:
    rows = parts * hidden_dim
    shapes = {"input": (batch, steps, input_dim), "w_x": (rows, input_dim), "w_h": (rows, hidden_dim)}
    return shapes | dict.fromkeys(biases, (rows,)) | dict.fromkeys(states, (batch, hidden_dim))


def _rnn(batch: int, steps: int, input_dim: int, hidden_dim: int, activation: int) -> Case:
    def forward(**x: Any) -> Any:
        return ops.rnn_forward(**x, activation=activation, has_bias=1, has_h0=1)

    def backward(x: dict[str, Any], d_output: Any) -> dict[str, Any]:
        states, old = (x["h0"], forward(**x)), (None, None, None)
        results = ops.rnn_backward(x["input"], x["w_x"], x["w_h"], *states, d_output, *old, activation, 1, 0.0)
        return dict(zip(("input", "w_x", "w_h", "bias", "h0"), results, strict=True))

    return Case("rnn_backward", _layer(batch, steps, input_dim, hidden_dim, 1, ("bias",), ("h0",)), forward, backward)


def _lstm(batch: int, steps: int, input_dim: int, hidden_dim: int) -> Case:
    def forward(**x: Any) -> Any:
        return ops.lstm_forward(**x, has_bias=1, has_state=1)

    def backward(x: dict[str, Any], d_output: Any) -> dict[str, Any]:
        output, cells, gates = forward(**x)
        states = (x["h0"], x["c0"], output, cells, gates)
        results = ops.lstm_backward(x["input"], x["w_x"], x["w_h"], *states, d_output, None, None, None, 1, 0.0)
        return dict(zip(("input", "w_x", "w_h", "bias", "h0", "c0"), results, strict=True))

    shapes = _layer(batch, steps, input_dim, hidden_dim, 4, ("bias",), ("h0", "c0"))
    return Case("lstm_backward", shapes, lambda **x: forward(**x)[0], backward)


def _gru(batch: int, steps: int, input_dim: int, hidden_dim: int) -> Case:
    def forward(**x: Any) -> Any:
        return ops.gru_forward(**x, has_bias=1, has_h0=1)

    def backward(x: dict[str, Any], d_output: Any) -> dict[str, Any]:
        states, old = (x["h0"], *forward(**x)), (None, None, None, None)
        results = ops.gru_backward(x["input"], x["w_x"], x["w_h"], *states, d_output, *old, 1, 0.0)
        return dict(zip(("input", "w_x", "w_h", "b_x", "b_h", "h0"), results, strict=True))

    shapes = _layer(batch, steps, input_dim, hidden_dim, 3, ("b_x", "b_h"), ("h0",))
    return Case("gru_backward", shapes, lambda **x: forward(**x)[0], backward)


def _convolution(batch: int, channels: int, filters: int, size: int, steps: tuple[int, ...]) -> list[Case]:
    """Planes of size x (size + 1), kernels of 2 x 3."""
    shapes = {"input": (batch, channels, size, size + 1), "weight": (filters, channels // steps[-1], 2, 3)}

    def forward(input: Any, weight: Any) -> Any:
        return ops.conv2d(input, weight, None, *steps, 0)

    def d_input(x: dict[str, Any], d: Any) -> dict[str, Any]:
        return {"input": ops.conv2d_backward_input(x["weight"], d, channels, size, size + 1, *steps)}

    def d_weight(x: dict[str, Any], d: Any) -> dict[str, Any]:
        return {"weight": ops.conv2d_backward_weight(x["input"], d, None, 2, 3, *steps, 0.0)}

    def with_bias(input: Any, weight: Any, bias: Any) -> Any:
        return ops.conv2d(input, weight, bias, *steps, 1)

    return [
        Case("conv2d_backward_input", shapes, forward, d_input),
        Case("conv2d_backward_weight", shapes, forward, d_weight),
        Case(
            "conv2d_backward_bias",
            shapes | {"bias": (filters,)},
            with_bias,
            lambda x, d: {"bias": ops.conv2d_backward_bias(d, None, 0.0)},
        ),
    ]


def _broadcast(rows: int, cols: int) -> list[Case]:
    return [
        Case(
            "add_row_backward",
            {"input": (rows, cols), "row": (cols,)},
            ops.add_row,
            lambda x, d: {"row": ops.add_row_backward(d, None, 0.0)},
        ),
        Case(
            "add_column_backward",
            {"input": (rows, cols), "column": (rows,)},
            ops.add_column,
            lambda x, d: {"column": ops.add_column_backward(d, None, 0.0)},
        ),
    ]


def _dense(rows: int, in_features: int, out_features: int, activation: int) -> Case:
    def forward(input: Any, weight: Any, bias: Any) -> Any:
        return ops.dense(input, weight, bias, activation, ELU, 1)

    def backward(x: dict[str, Any], d: Any) -> dict[str, Any]:
        pre, _ = forward(**x)
        found = ops.dense_backward(x["input"], x["weight"], pre, d, None, None, activation, ELU, 0.0)
        return dict(zip(("input", "weight", "bias"), found[1:], strict=True))

    shapes = {"input": (rows, in_features), "weight": (out_features, in_features), "bias": (out_features,)}
    return Case("dense_backward", shapes, lambda **x: forward(**x)[1], backward)


STEPS = (2, 1, 1, 2, 1, 2, 2)  # strides, pads, dilations by row and column, and groups
SMALL = [
    *elementwise(7),
    *_activations(7),
    *_rows(3, 5, TOP_K),
    *_images(2, 3, 4),
    *_products(2, 3, 4),
    *_grouped(6, 3, 4),
    *_gate_and_up(6, 3, 4),
    _router(6, 5, 2),
    *_rope_and_routing(),
    *_losses(4, 7),
    *_pooling((1, 2, 5, 4), (3, 2, 2, 1, 1, 1)),
    *_sequence(5, 1, 3),
    *_convolution(2, 4, 2, 3, STEPS),
    *_broadcast(3, 4),
    *(_dense(3, 4, 2, activation) for activation in range(8)),
    _attention(1, 4, 2, 1, 3),
    _attention(2, 3, 4, 2, 2),
    _attention_softmax(2, 2, 3, 4, 0),
    _attention_softmax(1, 2, 4, 3, -2),
    _rnn(2, 3, 2, 3, 5),
    _lstm(2, 3, 2, 2),
    _gru(2, 3, 2, 2),
]
LARGE = [
    *elementwise(1025),
    *_activations(1025),
    *_rows(37, 129, 5),
    *_images(9, 5, 17),
    *_products(33, 17, 65),
    *_grouped(40, 9, 33),
    *_gate_and_up(40, 9, 33),
    _router(40, 16, 4),
    *_losses(12, 257),
    *_pooling((2, 3, 17, 20), (3, 5, 2, 3, 1, 2)),
    *_sequence(33, 8, 17),
    *_convolution(3, 6, 4, 9, STEPS),
    *_broadcast(33, 65),
    *(_dense(17, 33, 9, activation) for activation in range(8)),
    _attention(2, 19, 6, 3, 8),
    _attention(1, 33, 4, 4, 16),
    _attention_softmax(3, 2, 9, 33, 5),
    _rnn(3, 5, 9, 17, 5),
    _lstm(3, 5, 9, 17),
    _gru(3, 5, 9, 17),
]
