"""The ONNX models of `in_onnx.py`, by ONNX Runtime on the CPU, and some of the domain com.microsoft.

`assayer run --module examples/modules/with_onnxruntime.py --exported`
"""

from __future__ import annotations

import in_onnx
import onnxruntime
from in_onnx import (  # noqa: F401  (what it imports is judged)
    add,
    argmax,
    batched_gemm,
    cross_entropy_forward,
    embedding,
    flash_attention,
    gemm,
    gemm_beta,
    gemm_nn,
    gemm_tn,
    gemm_tt,
    mul,
    rope_backward,
    rope_forward,
    scale,
    scatter_add,
    silu,
    softmax,
    softmax_topk,
    swiglu,
)

_MICROSOFT = "com.microsoft"


def _compiled(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda given: session.run(None, given)


in_onnx.compile_by(_compiled)


def rmsnorm(input, weight, eps):
    made = in_onnx.node("SimplifiedLayerNormalization", "x weight", "y", axis=-1, epsilon=float(eps))
    return in_onnx.run([made], {"x": input, "weight": weight}, y=2)


def rmsnorm_residual(input, residual, weight, eps):
    outputs = "y unused_mean unused_inverse total"
    settings = {"epsilon": float(eps), "domain": _MICROSOFT}
    made = in_onnx.node("SkipSimplifiedLayerNormalization", "x residual weight", outputs, **settings)
    given = {"x": input[None], "residual": residual[None], "weight": weight}
    return tuple(each[0] for each in in_onnx.run([made], given, y=3, total=3))
