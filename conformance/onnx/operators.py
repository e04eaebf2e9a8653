"""Operations as ONNX's operators: each function adds one call's nodes to a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from . import broadcast, planes, recurrent, training
from .convolution import conv2d, conv2d_backward_bias, conv2d_backward_input
from .graph import Graph, NotApplicableError, onnx

Build = Callable[[Graph], None]
_HEADS_FIRST = (0, 2, 1, 3)  # [batch, position, head, number] and the order that ONNX has


def _unary(operator: str) -> Build:
    return lambda graph: graph.result("output", graph.node(operator, graph.given("input")))


def _binary(operator: str) -> Build:
    return lambda graph: graph.result("output", graph.node(operator, graph.given("a"), graph.given("b")))


def _scale(graph: Graph) -> None:
    factor = graph.constant(graph.arguments["scale"], np.float32)
    graph.result("output", graph.node("Mul", graph.given("input"), factor))


def _with_alpha(operator: str) -> Build:
    def build(graph: Graph) -> None:
        graph.result("output", graph.node(operator, graph.given("input"), alpha=graph.arguments["alpha"]))

    return build


def _gelu(approximate: str) -> Build:
    return lambda graph: graph.result("output", graph.node("Gelu", graph.given("input"), approximate=approximate))


def _swiglu(graph: Graph) -> None:
    graph.result("output", graph.node("Mul", graph.node("Swish", graph.given("gate")), graph.given("up")))


def _cast(graph: Graph) -> None:
    graph.result("output", graph.node("Cast", graph.given("input"), to=onnx().TensorProto.FLOAT))


def _cast_to(kind: str) -> Build:
    return lambda graph: graph.result(
        "output", graph.node("Cast", graph.given("input"), to=getattr(onnx().TensorProto, kind))
    )


# ---- rows ------------------------------------------------------------------------------------------------------------
def _softmax(graph: Graph) -> None:
    graph.result("output", graph.node("Softmax", graph.given("input"), axis=-1))


def _softmax_temperature(graph: Graph) -> None:
    temperature = graph.constant(graph.arguments["temperature"], np.float32)
    tempered = graph.node("Div", graph.given("input"), temperature)
    graph.result("output", graph.node("Softmax", tempered, axis=-1))


def _argmax(graph: Graph) -> None:
    _expect_no_nan(graph, "logits")
    place = graph.node("ArgMax", graph.given("logits"), axis=-1, keepdims=0)
    graph.result("output", graph.node("Cast", place, to=onnx().TensorProto.INT32))


def _softmax_topk(graph: Graph) -> None:
    _expect_no_nan(graph, "input")
    count = graph.constant([graph.arguments["k"]], np.int64)
    chosen, places = graph.nodes("TopK", 2, graph.node("Softmax", graph.given("input"), axis=-1), count, axis=-1)
    total = graph.node("ReduceSum", chosen, graph.constant([-1], np.int64), keepdims=1)
    graph.result("weights", graph.node("Div", chosen, total))
    graph.result("indices", graph.node("Cast", places, to=onnx().TensorProto.INT32))


def _expect_no_nan(graph: Graph, name: str) -> None:
    if np.isnan(graph.arguments[name]).any():
        raise NotApplicableError("ONNX does not say which is the largest where there is a NaN")


def _normalised(graph: Graph, tensor: str) -> str:
    return graph.node("RMSNormalization", tensor, graph.given("weight"), axis=-1, epsilon=graph.arguments["eps"])


def _rmsnorm(graph: Graph) -> None:
    graph.result("output", _normalised(graph, graph.given("input")))


def _rmsnorm_residual(graph: Graph) -> None:
    total = graph.node("Add", graph.given("input"), graph.given("residual"))
    graph.result("output", _normalised(graph, total))
    graph.result("residual_out", total)


def _layernorm(graph: Graph) -> None:
    given = (graph.given(name) for name in ("input", "weight", "bias"))
    eps = float(graph.arguments["eps"])
    output, *statistics = graph.nodes("LayerNormalization", 3, *given, axis=-1, epsilon=eps)
    graph.result("output", output)
    for name, tensor in zip(("mean", "rstd"), statistics, strict=True):
        graph.result(name, graph.node("Reshape", tensor, graph.constant([-1], np.int64)))


def _batchnorm_evaluation(graph: Graph) -> None:
    given = (graph.given(name) for name in ("input", "weight", "bias", "running_mean", "running_var"))
    graph.result("output", graph.node("BatchNormalization", *given, epsilon=float(graph.arguments["eps"])))


def _cross_entropy_forward(graph: Graph) -> None:
    if (graph.arguments["targets"] < 0).all():
        raise NotApplicableError("no row counts: ONNX divides by 0")
    wide = graph.node("Cast", graph.given("targets"), to=onnx().TensorProto.INT64)
    labels = graph.node("Max", wide, graph.constant(-1, np.int64))
    loss, log_probs = graph.nodes("SoftmaxCrossEntropyLoss", 2, graph.given("logits"), labels, ignore_index=-1)
    graph.result("loss", graph.node("Reshape", loss, graph.constant([1], np.int64)))
    graph.result("log_probs", log_probs)


# ---- products --------------------------------------------------------------------------------------------------------
def _gemm(transposed_a: int, transposed_b: int) -> Build:
    def build(graph: Graph) -> None:
        alpha, beta = (float(graph.arguments.get(name, default)) for name, default in (("alpha", 1), ("beta", 0)))
        added = [graph.given("C")] if beta != 0 else []
        settings = {"alpha": alpha, "beta": beta, "transA": transposed_a, "transB": transposed_b}
        graph.result("C", graph.node("Gemm", graph.given("A"), graph.given("B"), *added, **settings))

    return build


def _batched_gemm(graph: Graph) -> None:
    transposed = graph.node("Transpose", graph.given("B"), perm=(0, 2, 1))
    graph.result("C", graph.node("MatMul", graph.given("A"), transposed))


# ---- rope and attention ----------------------------------------------------------------------------------------------
def _rotated(graph: Graph, names: Mapping[str, str], direction: int) -> None:
    """names: the argument that each result is turned from."""
    angles = graph.given("freqs")
    sine = graph.node("Sin", angles if direction > 0 else graph.node("Neg", angles))
    cosine = graph.node("Cos", angles)
    for result, name in names.items():
        batch, positions = graph.arguments[name].shape[:2]
        places = np.broadcast_to(np.arange(positions) + graph.arguments["offset"], (batch, positions))
        heads = graph.node("Transpose", graph.given(name), perm=_HEADS_FIRST)
        turned = graph.node("RotaryEmbedding", heads, cosine, sine, graph.constant(places, np.int64), interleaved=1)
        graph.result(result, graph.node("Transpose", turned, perm=_HEADS_FIRST))


def _rope(names: Mapping[str, str], direction: int) -> Build:
    return lambda graph: _rotated(graph, names, direction)


def _flash_attention(graph: Graph) -> None:
    heads = [graph.node("Transpose", graph.given(name), perm=_HEADS_FIRST) for name in "QKV"]
    output = graph.node("Attention", *heads, is_causal=1, scale=graph.arguments["scale"])
    graph.result("output", graph.node("Transpose", output, perm=_HEADS_FIRST))


def _attention_softmax(graph: Graph) -> None:
    """Softmax of what the masks leave; a query that sees no key has a softmax of zeros in its place, and then zeros."""
    given, lowest = graph.arguments, graph.constant(-np.inf, np.float32)
    x = graph.node("Mul", graph.given("scores"), graph.constant(given["scale"], np.float32))
    if given["has_mask"]:
        x = graph.node("Add", x, graph.node("Unsqueeze", graph.given("mask"), graph.constant([1, 2], np.int64)))
    if given["causal"]:
        queries, keys = given["scores"].shape[2:]
        future = np.arange(keys) > np.arange(queries)[:, None] + given["offset"]
        x = graph.node("Where", graph.constant(future, bool), lowest, x)
    largest = graph.node("ReduceMax", x, graph.constant([-1], np.int64), keepdims=1)
    sees_none, zero = graph.node("Equal", largest, lowest), graph.constant(0.0, np.float32)
    weights = graph.node("Softmax", graph.node("Where", sees_none, zero, x), axis=-1)
    graph.result("scores", graph.node("Where", sees_none, zero, weights))


def _attention_softmax_backward(graph: Graph) -> None:
    weights, gradient = graph.given("weights"), graph.given("d_scores")
    total = graph.node("ReduceSum", graph.node("Mul", weights, gradient), graph.constant([-1], np.int64), keepdims=1)
    slope = graph.node("Mul", weights, graph.node("Sub", gradient, total))
    graph.result("d_scores", graph.node("Mul", slope, graph.constant(graph.arguments["scale"], np.float32)))


# ---- rows by their numbers -------------------------------------------------------------------------------------------
def _embedding(graph: Graph) -> None:
    graph.result("output", graph.node("Gather", graph.given("weight"), graph.given("indices"), axis=0))


def _scatter_add(graph: Graph) -> None:
    if (graph.arguments["indices"] < 0).any():
        raise NotApplicableError("a negative index: ONNX counts it from the end")
    wide = graph.node("Cast", graph.given("indices"), to=onnx().TensorProto.INT64)
    places = graph.node("Unsqueeze", wide, graph.constant([1], np.int64))
    rows = (graph.given("grad_weight"), places, graph.given("grad_output"))
    graph.result("grad_weight", graph.node("ScatterND", *rows, reduction="add"))


OPERATORS: Mapping[str, Build] = {
    **training.OPERATORS,
    "silu": _unary("Swish"),
    "swiglu": _swiglu,
    "add": _binary("Add"),
    "mul": _binary("Mul"),
    "scale": _scale,
    "softmax": _softmax,
    "softmax_topk": _softmax_topk,
    "rmsnorm": _rmsnorm,
    "rmsnorm_residual": _rmsnorm_residual,
    "gemm": _gemm(0, 1),
    "gemm_beta": _gemm(0, 1),
    "gemm_nn": _gemm(0, 0),
    "gemm_tn": _gemm(1, 0),
    "gemm_tt": _gemm(1, 1),
    "batched_gemm": _batched_gemm,
    "rope_forward": _rope({"output": "input"}, 1),
    "rope_backward": _rope({"d_input": "d_output"}, -1),
    "rope_qk": _rope({"q_out": "q", "k_out": "k"}, 1),
    "rope_qk_backward": _rope({"d_q": "d_q_out", "d_k": "d_k_out"}, -1),
    "flash_attention": _flash_attention,
    "attention_softmax": _attention_softmax,
    "attention_softmax_backward": _attention_softmax_backward,
    "cross_entropy_forward": _cross_entropy_forward,
    "embedding": _embedding,
    "scatter_add": _scatter_add,
    **planes.OPERATORS,
    **recurrent.OPERATORS,
    **broadcast.OPERATORS,
    "argmax": _argmax,
    "layernorm": _layernorm,
    "batchnorm_evaluation": _batchnorm_evaluation,
    "relu": _unary("Relu"),
    "leaky_relu": _with_alpha("LeakyRelu"),
    "elu": _with_alpha("Elu"),
    "sigmoid": _unary("Sigmoid"),
    "tanh": _unary("Tanh"),
    "gelu": _gelu("none"),
    "gelu_tanh": _gelu("tanh"),
    "softmax_temperature": _softmax_temperature,
    "conv2d": conv2d,
    "conv2d_backward_input": conv2d_backward_input,
    "conv2d_backward_bias": conv2d_backward_bias,
    "cast_to_bf16": _cast_to("BFLOAT16"),
    "cast_to_fp16": _cast_to("FLOAT16"),
    "cast_from_bf16": _cast,
    "cast_from_fp16": _cast,
    "add_bf16": _binary("Add"),
    "add_fp16": _binary("Add"),
}
