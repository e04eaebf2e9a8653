"""A port in ONNX, for any runtime: each operation a model of standard operators.

`compile_by` says which runtime: a function that makes a function of a model, from arrays by name to a list of arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

Arrays = Mapping[str, NDArray[Any]]
Compiled = Callable[[Arrays], Sequence[NDArray[Any]]]
_RUNTIME: list[Callable[[bytes], Compiled]] = []

_OPSET = 24
_INT32, _INT64 = TensorProto.INT32, TensorProto.INT64
_MICROSOFT = "com.microsoft"


def compile_by(runtime: Callable[[bytes], Compiled]) -> None:
    """Have every model compiled by this function."""
    _RUNTIME[:] = [runtime]


def node(kind: str, inputs: str, outputs: str, **attributes: Any) -> tuple[Any, ...]:
    """A node that can be a key; inputs and outputs are names with spaces between them."""
    return (
        kind,
        inputs,
        outputs,
        tuple((name, tuple(v) if isinstance(v, list) else v) for name, v in attributes.items()),
    )


@functools.cache
def _made(nodes: tuple[Any, ...], given: tuple[Any, ...], due: tuple[Any, ...]) -> Compiled:
    """Compile a model; given and due: name, type and shape of each input and output."""

    def declared(values: tuple[Any, ...]) -> list[Any]:
        return [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in values]

    made = [
        helper.make_node(kind, inputs.split(), outputs.split(), **dict(attributes))
        for kind, inputs, outputs, attributes in nodes
    ]
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)]
    graph = helper.make_graph(made, "operation", declared(given), declared(due))
    model = helper.make_model(graph, opset_imports=opsets, ir_version=11)
    return _RUNTIME[0](model.SerializeToString())


def run(nodes: Sequence[tuple[Any, ...]], given: Arrays, **due: int) -> Any:
    """Run a model of these nodes; due: the rank of each output, by name.  Return one array, or a tuple."""
    inputs = tuple((n, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape) for n, array in given.items())
    # Indices are cast to the header's int32 and are called so.
    outputs = tuple((n, _INT32 if n == "indices" else TensorProto.FLOAT, (None,) * rank) for n, rank in due.items())
    results = _made(tuple(nodes), inputs, outputs)({name: np.ascontiguousarray(a) for name, a in given.items()})
    return results[0] if len(results) == 1 else tuple(results)


# ---- elementwise -----------------------------------------------------------------------------------------------------
def silu(input):
    return run([node("Swish", "x", "y")], {"x": input}, y=1)


def swiglu(gate, up):
    return run([node("Swish", "gate", "a"), node("Mul", "a up", "y")], {"gate": gate, "up": up}, y=1)


def add(a, b):
    return run([node("Add", "a b", "y")], {"a": a, "b": b}, y=1)


def mul(a, b):
    return run([node("Mul", "a b", "y")], {"a": a, "b": b}, y=1)


def scale(input, scale):
    return run([node("Mul", "a b", "y")], {"a": input, "b": np.full(1, scale, np.float32)}, y=1)


# ---- rows ------------------------------------------------------------------------------------------------------------
def softmax(input):
    return run([node("Softmax", "x", "y", axis=-1)], {"x": input}, y=2)


def argmax(logits):
    nodes = [node("ArgMax", "x", "at", axis=-1, keepdims=0), node("Cast", "at", "indices", to=_INT32)]
    return run(nodes, {"x": logits}, indices=1)


def softmax_topk(input, k):
    nodes = [
        node("Softmax", "x", "p", axis=-1),
        node("TopK", "p k", "chosen at", axis=-1),
        node("ReduceSum", "chosen axes", "total", keepdims=1),
        node("Div", "chosen total", "weights"),
        node("Cast", "at", "indices", to=_INT32),
    ]
    return run(nodes, {"x": input, "k": np.array([k]), "axes": np.array([-1])}, weights=2, indices=2)


def rmsnorm(input, weight, eps):
    made = node("RMSNormalization", "x weight", "y", axis=-1, epsilon=float(eps))
    return run([made], {"x": input, "weight": weight}, y=2)


def cross_entropy_forward(logits, targets):
    labels = np.maximum(targets, -1).astype(np.int64)
    if (labels < 0).all():  # where no row counts, the header's loss is 0
        return np.zeros(1, np.float32), run([node("LogSoftmax", "x", "y", axis=-1)], {"x": logits}, y=2)
    made = node("SoftmaxCrossEntropyLoss", "x labels", "loss log_probs", ignore_index=-1)
    loss, log_probs = run([made], {"x": logits, "labels": labels}, loss=0, log_probs=2)
    return loss.reshape(1), log_probs


# ---- products --------------------------------------------------------------------------------------------------------
def _product(A, B, C, alpha, beta, transposed_a, transposed_b):
    settings = {"alpha": float(alpha), "beta": float(beta), "transA": transposed_a, "transB": transposed_b}
    given = {"a": A, "b": B} | ({"c": C} if beta != 0 else {})
    return run([node("Gemm", " ".join(given), "y", **settings)], given, y=2)


def gemm(A, B):
    return _product(A, B, None, 1, 0, 0, 1)


def gemm_beta(A, B, C, alpha, beta):
    return _product(A, B, C, alpha, beta, 0, 1)


def gemm_nn(A, B, C, alpha, beta):
    return _product(A, B, C, alpha, beta, 0, 0)


def gemm_tn(A, B, C, alpha, beta):
    return _product(A, B, C, alpha, beta, 1, 0)


def gemm_tt(A, B, C, alpha, beta):
    return _product(A, B, C, alpha, beta, 1, 1)


def batched_gemm(A, B):
    nodes = [node("Transpose", "b", "t", perm=[0, 2, 1]), node("MatMul", "a t", "y")]
    return run(nodes, {"a": A, "b": B}, y=3)


# ---- rope and attention ----------------------------------------------------------------------------------------------
def _rotated(x, angles):
    nodes = [
        node("Cos", "angles", "cosine"),
        node("Sin", "angles", "sine"),
        node("RotaryEmbedding", "x cosine sine", "y", interleaved=1),
    ]
    given = {"x": np.swapaxes(x, 1, 2), "angles": np.broadcast_to(angles, (len(x), *angles.shape))}
    return np.swapaxes(run(nodes, given, y=4), 1, 2)


def rope_forward(input, freqs, offset):
    return _rotated(input, freqs[offset : offset + input.shape[1]])


def rope_backward(d_output, freqs, offset):
    return _rotated(d_output, -freqs[offset : offset + d_output.shape[1]])


def flash_attention(Q, K, V, scale):
    given = {name: np.swapaxes(array, 1, 2) for name, array in (("q", Q), ("k", K), ("v", V))}
    return np.swapaxes(run([node("Attention", "q k v", "y", is_causal=1, scale=float(scale))], given, y=4), 1, 2)


# ---- rows by their numbers -------------------------------------------------------------------------------------------
def embedding(weight, indices):
    return run([node("Gather", "weight i", "y", axis=0)], {"weight": weight, "i": indices}, y=2)


def scatter_add(grad_output, indices, grad_weight):
    counted = indices >= 0
    given = {"weight": grad_weight, "i": indices[counted, None].astype(np.int64), "g": grad_output[counted]}
    return run([node("ScatterND", "weight i g", "y", reduction="add")], given, y=2)
