"""The gradients of ONNX Runtime's training build: `assayer run --module examples/modules/with_ort_training.py`.

Operators of the domain com.microsoft, each alone in a model; forward functions are here where its gradient needs one.
"""

from __future__ import annotations

import functools

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

_FLOAT, _INT64, _BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
_MICROSOFT = "com.microsoft"
_TYPES = {"labels": _INT64, "indices": _INT64, "shape": _INT64, "step": _INT64, "flag": _BOOL}
_LISTS = ("params", "grads", "ms", "vs", "new_params", "new_ms", "new_vs")


def _declared(name):
    kind = _TYPES.get(name, _FLOAT)
    if name in _LISTS:
        return helper.make_tensor_sequence_value_info(name, kind, None)
    return helper.make_tensor_value_info(name, kind, None)


@functools.cache
def _session(operator, inputs, outputs, domain, attributes):
    node = helper.make_node(operator, inputs, outputs, domain=domain, **dict(attributes))
    graph = helper.make_graph([node], "operation", [*map(_declared, inputs)], [*map(_declared, outputs)])
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid(_MICROSOFT, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _run(operator, outputs, given, domain=_MICROSOFT, **attributes):
    """Run one operator; outputs: their names, as one text.  given: its inputs by name, in its order."""
    session = _session(operator, tuple(given), tuple(outputs.split()), domain, tuple(attributes.items()))
    return session.run(None, given)


def _added(beta, old, new):
    """beta * old + new, where with beta = 0 the old values, which may be anything, are not read."""
    return new if beta == 0 else np.float32(beta) * old + new


# ---- elementwise -----------------------------------------------------------------------------------------------------
def silu(input):
    return _run("QuickGelu", "y", {"x": input}, alpha=1.0)[0]


def silu_backward(input, d_output):
    return _run("QuickGeluGrad", "d_x", {"d_y": d_output, "x": input}, alpha=1.0)[0]


# ---- softmax and norm ------------------------------------------------------------------------------------------------
def softmax_backward(output, d_output):
    return _run("SoftmaxGrad_13", "d_x", {"d_y": d_output, "y": output}, axis=-1)[0]


def rmsnorm(input, weight, eps):
    given = {"x": input, "weight": weight}
    return _run("SimplifiedLayerNormalization", "y inverse", given, domain="", axis=-1, epsilon=float(eps))[0]


def rmsnorm_backward(input, weight, d_output, d_weight, eps, beta):
    given = {"x": input, "weight": weight}
    _, inverse = _run("SimplifiedLayerNormalization", "y inverse", given, domain="", axis=-1, epsilon=float(eps))
    given = {"d_y": d_output, "x": input, "weight": weight, "inverse": inverse}
    d_input, d_w = _run("SimplifiedLayerNormalizationGrad", "d_x d_w", given, axis=-1)
    return d_input, _added(beta, d_weight, d_w)


# ---- loss, embedding -------------------------------------------------------------------------------------------------
def cross_entropy_backward(log_probs, targets, scale):
    """The gradient of a sum of losses, times the scale."""
    labels = np.maximum(targets, -1).astype(np.int64)
    given = {"d_loss": np.array(scale, np.float32), "log_probs": log_probs, "labels": labels}
    return _run("SoftmaxCrossEntropyLossGrad", "d_x", given, ignore_index=-1, reduction="sum")[0]


def scatter_add(grad_output, indices, grad_weight):
    counted = indices >= 0
    if not counted.any():
        return grad_weight
    given = {"shape": np.array(grad_weight.shape), "indices": indices[counted].astype(np.int64)}
    return grad_weight + _run("GatherGrad", "d_x", given | {"d_y": grad_output[counted]}, axis=0)[0]


# ---- optimizer -------------------------------------------------------------------------------------------------------
def adamw_step(param, grad, m, v, lr, beta1, beta2, eps, weight_decay, step):
    """Its mode 0 is torch's AdamW."""
    given = {"lr": np.array([lr], np.float32), "step": np.array([step])}
    given |= {"params": [param], "grads": [grad], "ms": [m], "vs": [v]}
    settings = {"alpha": beta1, "beta": beta2, "epsilon": eps, "weight_decay": weight_decay}
    results = _run("AdamWOptimizer", "flag new_params new_ms new_vs", given, adam_mode=0, correct_bias=1, **settings)
    return tuple(result[0] for result in results[1:])
