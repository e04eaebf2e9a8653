"""ONNX's operators as operations: a node's arrays become a call, and what it must give what the call must give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .convolution import conv, conv_transpose
from .graph import NotApplicableError
from .node import Call, Node, expect, expect_float32

__all__ = ["SHARED", "Call", "Node"]

Array = NDArray[Any]


def _rows(array: Array, axis: int) -> Array:
    """The axis last, all others as rows."""
    return np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis])


def _elementwise(operation: str) -> Callable[[Node], Call]:
    def call(node: Node) -> Call:
        expect_float32(node)
        a, b = (array.ravel() for array in np.broadcast_arrays(node.given(0), node.given(1)))
        return Call(operation, {"a": a, "b": b}, {"output": node.outputs[0].ravel()})

    return call


def swish(node: Node) -> Call:
    """silu; alpha is 1 there."""
    expect_float32(node)
    expect(node.attributes.get("alpha", 1.0) == 1, "alpha is not 1, as in the header's silu")
    return Call("silu", {"input": node.given(0).ravel()}, {"output": node.outputs[0].ravel()})


def softmax(node: Node) -> Call:
    """Rows lie along the axis."""
    axis = node.attributes.get("axis", -1)
    return Call("softmax", {"input": _rows(node.given(0), axis)}, {"output": _rows(node.outputs[0], axis)})


def rms_normalization(node: Node) -> Call:
    """All axes from `axis` on are one row."""
    x, weight = node.given(0), node.given(1)
    axis = node.attributes.get("axis", -1) % x.ndim
    size = int(np.prod(x.shape[axis:]))
    expect(weight.size == size, "one weight for several numbers of a row")
    arguments = {"input": x.reshape(-1, size), "weight": weight.ravel(), "eps": node.attributes.get("epsilon", 1e-5)}
    return Call("rmsnorm", arguments, {"output": node.outputs[0].reshape(-1, size)})


def gemm(node: Node) -> Call:
    """One of gemm_nn, gemm_beta, gemm_tn and gemm_tt."""
    settings = node.attributes
    first, second = settings.get("transA", 0), settings.get("transB", 0)
    operation = {(0, 0): "gemm_nn", (0, 1): "gemm_beta", (1, 0): "gemm_tn", (1, 1): "gemm_tt"}[first, second]
    shape, added = node.outputs[0].shape, node.given(2)
    c = np.zeros(shape, np.float32) if added is None else np.array(np.broadcast_to(added, shape))
    beta = 0.0 if added is None else settings.get("beta", 1.0)
    arguments = {"A": node.given(0), "B": node.given(1), "C": c, "alpha": settings.get("alpha", 1.0), "beta": beta}
    return Call(operation, arguments, {"C": node.outputs[0]})


def matmul(node: Node) -> Call:
    """batched_gemm, whose B is stored the other way."""
    expect_float32(node)
    a, b = node.given(0), node.given(1)
    a, b = a[None] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])).reshape(-1, *x.shape[-2:]) for x in (a, b))
    shape = (len(a), a.shape[1], b.shape[2])
    return Call("batched_gemm", {"A": a, "B": b.swapaxes(1, 2)}, {"C": node.outputs[0].reshape(shape)})


def gather(node: Node) -> Call:
    """embedding: what is picked along the axis is a row."""
    expect_float32(node)
    weight, indices, axis = node.given(0), node.given(1), node.attributes.get("axis", 0)
    expect((indices >= 0).all(), "an index counts from the end")
    rows = np.moveaxis(weight, axis, 0).reshape(weight.shape[axis], -1)
    places = range(axis, axis + indices.ndim)
    due = np.moveaxis(node.outputs[0], places, range(indices.ndim)).reshape(indices.size, -1)
    return Call("embedding", {"weight": rows, "indices": indices.ravel()}, {"output": due})


def argmax(node: Node) -> Call:
    """The first of equals."""
    expect(
        not node.attributes.get("select_last_index", 0),
        "the last of equals is due; the header's argmax takes the first",
    )
    return Call(
        "argmax", {"logits": _rows(node.given(0), node.attributes.get("axis", 0))}, {"output": node.outputs[0].ravel()}
    )


def cross_entropy(node: Node) -> Call:
    """Classes lie along axis 1; what is ignored is negative in the header."""
    expect(
        node.attributes.get("reduction", b"mean") == b"mean",
        "a sum, or a loss for each row, where the header's is a mean",
    )
    expect(node.given(2) is None, "weights of classes")
    scores, labels = node.given(0), node.given(1)
    ignored = node.attributes.get("ignore_index")
    targets = labels if ignored is None else np.where(labels == ignored, -1, labels)
    due = {"loss": node.outputs[0].reshape(1)}
    if len(node.outputs) > 1:
        due["log_probs"] = _rows(node.outputs[1], 1)
    return Call("cross_entropy_forward", {"logits": _rows(scores, 1), "targets": targets.ravel()}, due)


def attention(node: Node) -> Call:
    """flash_attention, of as many queries as keys."""
    expect_float32(node)
    settings = node.attributes
    expect(settings.get("is_causal", 0), "not causal")
    others = {"softcap": "a soft cap", "qk_matmul_output_mode": "scores as a result", "left_window_size": "a window"}
    for name, what in others.items():
        expect(settings.get(name, 0) in (0, -1), what)
    expect(all(each is None for each in node.inputs[3:]) and len(node.outputs) == 1, "a mask, or keys of earlier calls")
    q, k, v = map(node.given, range(3))
    counts = settings.get("q_num_heads"), settings.get("kv_num_heads"), settings.get("kv_num_heads")
    if q.ndim == 3:
        q, k, v = (x.reshape(*x.shape[:2], heads, -1) for x, heads in zip((q, k, v), counts, strict=True))
        due = node.outputs[0].reshape(q.shape) if v.shape[-1] == q.shape[-1] else node.outputs[0]
    else:
        q, k, v, due = (x.swapaxes(1, 2) for x in (q, k, v, node.outputs[0]))
    expect(q.shape[1] == k.shape[1], "fewer queries than keys, the first of which stand at the beginning")
    expect(q.shape[-1] == v.shape[-1], "values of another length than keys")
    scale = settings.get("scale", q.shape[-1] ** -0.5)
    return Call("flash_attention", {"Q": q, "K": k, "V": v, "scale": scale}, {"output": due})


def rotary_embedding(node: Node) -> Call:
    """None: ONNX's takes cosines and sines, the header's the angles."""
    expect(node.attributes.get("interleaved", 0), "halves of a head are pairs; the header's are interleaved")
    raise NotApplicableError("caches are given, which need not be cosines and sines of one angle")


def scatter_nd(node: Node) -> Call:
    """scatter_add of rows."""
    expect(node.attributes.get("reduction") == b"add", "the header's scatter_add adds")
    indices = node.given(1)
    expect(indices.shape[-1] == 1 and (indices >= 0).all(), "indices of more than rows")
    weight = node.given(0)
    rows = (len(weight), -1)
    arguments = {"grad_output": node.given(2).reshape(len(indices), -1), "indices": indices.ravel()}
    arguments["grad_weight"] = weight.reshape(rows)
    return Call("scatter_add", arguments, {"grad_weight": node.outputs[0].reshape(rows)})


def _never(reason: str) -> Callable[[Node], Call]:
    def call(node: Node) -> Call:
        raise NotApplicableError(reason)

    return call


SHARED: Mapping[str, Callable[[Node], Call]] = {
    "Add": _elementwise("add"),
    "Mul": _elementwise("mul"),
    "Swish": swish,
    "Softmax": softmax,
    "RMSNormalization": rms_normalization,
    "Gemm": gemm,
    "MatMul": matmul,
    "Gather": gather,
    "ArgMax": argmax,
    "SoftmaxCrossEntropyLoss": cross_entropy,
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "Attention": attention,
    "RotaryEmbedding": rotary_embedding,
    "ScatterND": scatter_nd,
    "Adam": _never("eps is added before the correction, and the decay goes through the moments"),
    "TopK": _never("the header's top-k is of a softmax, and renormalised"),
}
