"""ONNX's operators as operations: a node's arrays become a call, and what it must give what the call must give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.onnx_import.windows import by_sides, window

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


def _unary(operation: str, **scalars: float) -> Callable[[Node], Call]:
    """scalars: the operation's numbers, by the names that they have as attributes too, with what holds where one is
    left out."""

    def call(node: Node) -> Call:
        expect_float32(node)
        numbers = {name: node.attributes.get(name, value) for name, value in scalars.items()}
        return Call(operation, {"input": node.given(0).ravel(), **numbers}, {"output": node.outputs[0].ravel()})

    return call


def gelu(node: Node) -> Call:
    """gelu, or gelu_tanh by its attribute."""
    return _unary("gelu_tanh" if node.attributes.get("approximate", b"none") == b"tanh" else "gelu")(node)


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


def layer_normalization(node: Node) -> Call:
    """All axes from `axis` on are one row."""
    expect_float32(node)
    x, weight, bias = node.given(0), node.given(1), node.given(2)
    axis = node.attributes.get("axis", -1) % x.ndim
    size = int(np.prod(x.shape[axis:]))
    expect(weight.size == size, "one weight for several numbers of a row")
    bias = np.zeros(size, np.float32) if bias is None else bias.ravel()
    arguments = {"input": x.reshape(-1, size), "weight": weight.ravel(), "bias": bias}
    due: dict[str, Array] = {"output": node.outputs[0].reshape(-1, size)}
    due |= {name: value.ravel() for name, value in zip(("mean", "rstd"), node.outputs[1:], strict=False)}
    return Call("layernorm", arguments | {"eps": node.attributes.get("epsilon", 1e-5)}, due)


def batch_normalization(node: Node) -> Call:
    """batchnorm_evaluation; channels lie along axis 1."""
    expect_float32(node)
    kept = "trained: the running variance there is not of a sample, and momentum the other way round"
    expect(not node.attributes.get("training_mode", 0), kept)
    x = node.given(0)
    shape = (*x.shape[:2], -1)
    names = ("weight", "bias", "running_mean", "running_var")
    arguments = {"input": x.reshape(shape)} | {name: node.given(i) for i, name in enumerate(names, 1)}
    eps = node.attributes.get("epsilon", 1e-5)
    return Call("batchnorm_evaluation", arguments | {"eps": eps}, {"output": node.outputs[0].reshape(shape)})


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


def max_pool(node: Node) -> Call:
    """max_pool2d, whose places are counted in their plane."""
    arguments = {"input": node.given(0), **by_sides(window(node.attributes))}
    expect_float32(node)
    due = {"output": node.outputs[0]}
    if len(node.outputs) > 1:
        expect(not node.attributes.get("storage_order", 0), "places counted by columns")
        height, width = node.given(0).shape[2:]
        due["places"] = (node.outputs[1] % (height * width)).astype(np.int32)
    return Call("max_pool2d", arguments, due)


def average_pool(node: Node) -> Call:
    counted = node.attributes.get("count_include_pad", 0)
    arguments = {"input": node.given(0), **by_sides(window(node.attributes)), "count_include_pad": counted}
    return Call("avg_pool2d", arguments, {"output": node.outputs[0]})


def _as_steps(array: Array, axis: int) -> Array:
    """(all axes before, the axis, all behind)."""
    return array.reshape(int(np.prod(array.shape[:axis])), array.shape[axis], -1)


def slice_(node: Node) -> Call:
    """slice_steps, of one axis."""
    expect_float32(node)
    x, starts, ends = node.given(0), node.given(1), node.given(2)
    axes = range(len(starts)) if node.given(3) is None else node.given(3)
    ranges = [range(n) for n in x.shape]
    for place, (axis, start, end) in enumerate(zip(axes, starts, ends, strict=True)):
        step = None if node.given(4) is None else int(node.given(4)[place])
        ranges[axis] = range(x.shape[axis])[int(start) : int(end) : step]
    expect(all(r.step == 1 for r in ranges), "steps left out, or in reverse")
    cut = [axis for axis, r in enumerate(ranges) if len(r) < x.shape[axis]]
    expect(len(cut) == 1 and len(ranges[cut[0]]) > 0, "more axes than one are cut, or nothing is left")
    [axis] = cut
    arguments = {"input": _as_steps(x, axis), "first": ranges[axis].start, "count": len(ranges[axis])}
    return Call("slice_steps", arguments, {"output": _as_steps(node.outputs[0], axis)})


def concat(node: Node) -> Call:
    """concat_steps, of two arrays."""
    expect_float32(node)
    expect(len(node.inputs) == 2, "not two arrays")
    axis = node.attributes["axis"] % node.outputs[0].ndim
    a, b = (_as_steps(node.given(place), axis) for place in (0, 1))
    return Call("concat_steps", {"a": a, "b": b}, {"output": _as_steps(node.outputs[0], axis)})


def split(node: Node) -> Call:
    """concat_steps_backward, of two parts."""
    expect_float32(node)
    expect(len(node.outputs) == 2 and all(part.size for part in node.outputs), "not two parts")
    axis = node.attributes.get("axis", 0) % node.given(0).ndim
    d_a, d_b = (_as_steps(part, axis) for part in node.outputs)
    arguments = {"d_output": _as_steps(node.given(0), axis), "steps_a": d_a.shape[1], "steps_b": d_b.shape[1]}
    return Call("concat_steps_backward", arguments, {"d_a": d_a, "d_b": d_b})


def momentum(node: Node) -> Call:
    """momentum_step; beta is what new gradients are taken times, but for the first."""
    settings = node.attributes
    lr, count, param, grad, velocity = map(node.given, range(5))
    expect(len(node.inputs) == 5, "several parameters, the header's are single")
    expect(count == 0 or settings["beta"] == 1, "the gradient is dampened, as no operation of the header does")
    arguments = {"param": param.ravel(), "grad": grad.ravel(), "velocity": velocity.ravel(), "lr": float(lr)}
    arguments |= {"momentum": settings["alpha"], "weight_decay": settings["norm_coefficient"]}
    arguments["nesterov"] = int(settings["mode"] == b"nesterov")
    due = {"param": node.outputs[0].ravel(), "velocity": node.outputs[1].ravel()}
    return Call("momentum_step", arguments, due)


def _never(reason: str) -> Callable[[Node], Call]:
    def call(node: Node) -> Call:
        raise NotApplicableError(reason)

    return call


SHARED: Mapping[str, Callable[[Node], Call]] = {
    "Add": _elementwise("add"),
    "Mul": _elementwise("mul"),
    "Swish": swish,
    "Relu": _unary("relu"),
    "LeakyRelu": _unary("leaky_relu", alpha=0.01),
    "Elu": _unary("elu", alpha=1.0),
    "Sigmoid": _unary("sigmoid"),
    "Tanh": _unary("tanh"),
    "Gelu": gelu,
    "Softmax": softmax,
    "RMSNormalization": rms_normalization,
    "LayerNormalization": layer_normalization,
    "BatchNormalization": batch_normalization,
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
    "Dropout": _never("each runtime draws a mask of its own"),
    "MaxPool": max_pool,
    "AveragePool": average_pool,
    "Slice": slice_,
    "Concat": concat,
    "Split": split,
    "Adam": _never("eps is added before the correction, and the decay goes through the moments"),
    "Momentum": momentum,
    "TopK": _never("the header's top-k is of a softmax, and renormalised"),
}
