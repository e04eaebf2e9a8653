"""The ONNX models of `in_onnx.py`, by OpenVINO: `assayer run --module examples/modules/with_openvino.py --exported`."""

from __future__ import annotations

import io

import in_onnx
import openvino
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
    rmsnorm,
    rope_backward,
    rope_forward,
    scale,
    scatter_add,
    silu,
    softmax,
    softmax_topk,
    swiglu,
)

_CORE = openvino.Core()
# Without the hint it may compute in 16 bits, where a processor is faster at them.
_CORE.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})


def _compiled(model):
    made = _CORE.compile_model(_CORE.read_model(io.BytesIO(model)), "CPU")
    return lambda given: [*made(given).values()]


in_onnx.compile_by(_compiled)
