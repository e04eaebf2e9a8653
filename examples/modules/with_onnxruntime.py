"""A port in ONNX: each operation a model of standard operators, run by ONNX Runtime on the CPU.

`assayer run --module examples/modules/with_onnxruntime.py --exported`; models of com.microsoft's operators stand last.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper

_FLOAT, _INT32, _INT64 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64
_OPSET = 22
_MICROSOFT = "com.microsoft"


def _session(nodes: list[Any], inputs: dict[str, int], outputs: dict[str, int]) -> onnxruntime.InferenceSession:
    """A session of a model; inputs and outputs: the type of each by its name, of any shape."""
    given, due = (
        [helper.make_tensor_value_info(name, kind, None) for name, kind in held.items()] for held in (inputs, outputs)
    )
    graph = helper.make_graph(nodes, "operation", given, due)
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


@functools.cache
def _made(build: Callable[..., Any], *settings: Any) -> onnxruntime.InferenceSession:
    return build(*settings)


def _run(build: Callable[..., Any], given: dict[str, NDArray[Any]], *settings: Any) -> list[NDArray[Any]]:
    results: list[NDArray[Any]] = _made(build, *settings).run(None, given)
    return results


def _node(kind: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    return helper.make_node(kind, inputs.split(), outputs.split(), **attributes)


# ---- elementwise -----------------------------------------------------------------------------------------------------
def _silu():
    nodes = [_node("Sigmoid", "x", "s"), _node("Mul", "x s", "y")]
    return _session(nodes, {"x": _FLOAT}, {"y": _FLOAT})


def silu(input):
    return _run(_silu, {"x": input})[0]


def _swiglu():
    nodes = [_node("Sigmoid", "gate", "s"), _node("Mul", "gate s", "a"), _node("Mul", "a up", "y")]
    return _session(nodes, {"gate": _FLOAT, "up": _FLOAT}, {"y": _FLOAT})


def swiglu(gate, up):
    return _run(_swiglu, {"gate": gate, "up": up})[0]


def _binary(kind):
    return _session([_node(kind, "a b", "y")], {"a": _FLOAT, "b": _FLOAT}, {"y": _FLOAT})


def add(a, b):
    return _run(_binary, {"a": a, "b": b}, "Add")[0]


def mul(a, b):
    return _run(_binary, {"a": a, "b": b}, "Mul")[0]


def scale(input, scale):
    return _run(_binary, {"a": input, "b": np.float32(scale).reshape(1)}, "Mul")[0]


# ---- rows ------------------------------------------------------------------------------------------------------------
def _by_row(kind):
    return _session([_node(kind, "x", "y", axis=-1)], {"x": _FLOAT}, {"y": _FLOAT})


def softmax(input):
    return _run(_by_row, {"x": input}, "Softmax")[0]


def _argmax():
    nodes = [_node("ArgMax", "x", "at", axis=-1, keepdims=0), _node("Cast", "at", "y", to=_INT32)]
    return _session(nodes, {"x": _FLOAT}, {"y": _INT32})


def argmax(logits):
    return _run(_argmax, {"x": logits})[0]


def _softmax_topk():
    nodes = [
        _node("Softmax", "x", "p", axis=-1),
        _node("TopK", "p k", "chosen at", axis=-1),
        _node("ReduceSum", "chosen axes", "total", keepdims=1),
        _node("Div", "chosen total", "weights"),
        _node("Cast", "at", "indices", to=_INT32),
    ]
    inputs = {"x": _FLOAT, "k": _INT64, "axes": _INT64}
    return _session(nodes, inputs, {"weights": _FLOAT, "indices": _INT32})


def softmax_topk(input, k):
    return tuple(_run(_softmax_topk, {"x": input, "k": np.array([k]), "axes": np.array([-1])}))


def _cross_entropy_forward():
    nodes = [_node("LogSoftmax", "x", "y", axis=-1), _node("NegativeLogLikelihoodLoss", "y t", "loss", ignore_index=-1)]
    return _session(nodes, {"x": _FLOAT, "t": _INT64}, {"loss": _FLOAT, "y": _FLOAT})


def cross_entropy_forward(logits, targets):
    labels = np.maximum(targets, -1).astype(np.int64)
    if (labels < 0).all():  # where no row counts, the header's loss is 0
        return np.zeros(1, np.float32), _run(_by_row, {"x": logits}, "LogSoftmax")[0]
    loss, log_probs = _run(_cross_entropy_forward, {"x": logits, "t": labels})
    return loss.reshape(1), log_probs


# ---- products --------------------------------------------------------------------------------------------------------
def _gemm(alpha, beta, transposed_a, transposed_b, added):
    node = _node("Gemm", "a b" + " c" * added, "y", alpha=alpha, beta=beta, transA=transposed_a, transB=transposed_b)
    inputs = {"a": _FLOAT, "b": _FLOAT} | ({"c": _FLOAT} if added else {})
    return _session([node], inputs, {"y": _FLOAT})


def _product(A, B, C, alpha, beta, transposed_a, transposed_b):
    given = {"a": A, "b": B} | ({"c": C} if beta != 0 else {})
    settings = (float(alpha), float(beta), int(transposed_a), int(transposed_b), beta != 0)
    return _run(_gemm, given, *settings)[0]


def gemm(A, B):
    return _product(A, B, None, 1, 0, False, True)


def gemm_beta(A, B, C, alpha, beta):
    return _product(A, B, C, alpha, beta, False, True)


def gemm_nn(A, B, C, alpha, beta):
    return _product(A, B, C, alpha, beta, False, False)


def gemm_tn(A, B, C, alpha, beta):
    return _product(A, B, C, alpha, beta, True, False)


def gemm_tt(A, B, C, alpha, beta):
    return _product(A, B, C, alpha, beta, True, True)


def _batched():
    nodes = [_node("Transpose", "b", "t", perm=[0, 2, 1]), _node("MatMul", "a t", "y")]
    return _session(nodes, {"a": _FLOAT, "b": _FLOAT}, {"y": _FLOAT})


def batched_gemm(A, B):
    return _run(_batched, {"a": A, "b": B})[0]


# ---- rows by their numbers -------------------------------------------------------------------------------------------
def _gather():
    return _session([_node("Gather", "w i", "y", axis=0)], {"w": _FLOAT, "i": _INT32}, {"y": _FLOAT})


def embedding(weight, indices):
    return _run(_gather, {"w": weight, "i": indices})[0]


def _scatter():
    node = _node("ScatterND", "w i g", "y", reduction="add")
    return _session([node], {"w": _FLOAT, "i": _INT64, "g": _FLOAT}, {"y": _FLOAT})


def scatter_add(grad_output, indices, grad_weight):
    counted = indices >= 0
    given = {"w": grad_weight, "i": indices[counted, None].astype(np.int64), "g": grad_output[counted]}
    return _run(_scatter, given)[0]


# ---- com.microsoft ---------------------------------------------------------------------------------------------------
def _rmsnorm(eps):
    node = _node("SimplifiedLayerNormalization", "x w", "y", axis=-1, epsilon=eps)
    return _session([node], {"x": _FLOAT, "w": _FLOAT}, {"y": _FLOAT})


def rmsnorm(input, weight, eps):
    return _run(_rmsnorm, {"x": input, "w": weight}, float(eps))[0]


def _rmsnorm_residual(eps):
    names = "y unused_mean unused_inverse total"
    node = _node("SkipSimplifiedLayerNormalization", "x r w", names, epsilon=eps, domain=_MICROSOFT)
    return _session([node], {"x": _FLOAT, "r": _FLOAT, "w": _FLOAT}, {"y": _FLOAT, "total": _FLOAT})


def rmsnorm_residual(input, residual, weight, eps):
    given = {"x": input[None], "r": residual[None], "w": weight}
    return tuple(each[0] for each in _run(_rmsnorm_residual, given, float(eps)))
