"""A graph evaluated by PyTorch's functions in float64, its gradients by autograd: written by nobody here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import graph
from graph.kinds import philox_of
from reference.ops import dropout

torch = pytest.importorskip("torch", reason="PyTorch, the independent library, is not installed")
F = torch.nn.functional


class Evaluated(NamedTuple):
    """Values, losses and running statistics by name, and the gradients of the weighted sum of losses."""

    values: dict[str, Any]
    state: dict[str, Any]
    gradients: dict[str, Any]


def evaluate(checked: graph.Checked, arrays: dict[str, Any], seed: int, step: int = 0) -> Evaluated:
    """Run the graph forward and backward."""
    known = {name: torch.tensor(array) for name, array in arrays.items()}
    for name, tensor in known.items():
        if tensor.is_floating_point() and name not in checked.state:
            tensor.requires_grad_()
    state: dict[str, Any] = {}
    total = torch.zeros((), dtype=torch.float64)
    for number in checked.order:
        record = checked.graph.records[number]
        x = [known[name] for name in record.inputs]
        p = [state.get(name, known[name]) for name in record.parameters]
        if record.kind == "batchnorm":
            p = [*p[:2], *(tensor.clone() for tensor in p[2:])]
        output = FUNCTIONS[record.kind](x, p, dict(record.attributes) | {"_draw": (seed, step, number)})
        if record.kind == "batchnorm":
            state.update(zip(record.parameters[2:], p[2:], strict=True))
        if number in checked.losses:
            total = total + record.attributes["weight"] * output
            output = output.reshape(1)
        elif output.requires_grad:
            output.retain_grad()
        known[record.output] = output
    total.backward()
    values = {record.output: known[record.output].detach().numpy() for record in checked.graph.records}
    kept = {n: t for n, t in known.items() if t.requires_grad and (t.is_leaf or t.retains_grad)}
    gradients = {n: t.grad.numpy() for n, t in kept.items() if t.grad is not None}
    return Evaluated(values, {name: tensor.numpy() for name, tensor in state.items()}, gradients)


def _activation(name: str, x: Any, alpha: float = 0.0, form: str = "erf") -> Any:
    return {
        "linear": lambda: x,
        "relu": lambda: F.relu(x),
        "leaky_relu": lambda: F.leaky_relu(x, alpha),
        "elu": lambda: F.elu(x, alpha),
        "sigmoid": lambda: torch.sigmoid(x),
        "tanh": lambda: torch.tanh(x),
        "silu": lambda: F.silu(x),
        "gelu": lambda: F.gelu(x, approximate="tanh" if form == "tanh" else "none"),
        "gelu_tanh": lambda: F.gelu(x, approximate="tanh"),
    }[name]()


def _dense(x: Any, p: Any, a: Any) -> Any:
    return _activation(a["activation"], F.linear(x[0], *p), a["alpha"])


def _dropout(x: Any, p: Any, a: Any) -> Any:
    seed, step, number = a["_draw"]
    stream = number if a["stream"] is None else a["stream"]
    kept = dropout.kept(philox_of(seed, step, stream), x[0].numel(), a["rate"]).reshape(x[0].shape)
    return x[0] * torch.tensor(kept) / (1 - a["rate"])


def _max_pool(x: Any, p: Any, a: Any) -> Any:
    return F.max_pool2d(x[0], a["kernel"], a["stride"], a["padding"])


def _avg_pool(x: Any, p: Any, a: Any) -> Any:
    return F.avg_pool2d(x[0], a["kernel"], a["stride"], a["padding"], count_include_pad=a["count_include_pad"])


def _conv(x: Any, p: Any, a: Any) -> Any:
    bias = p[1] if len(p) > 1 else None
    return F.conv2d(x[0], p[0], bias, a["stride"], a["padding"], a["dilation"], a["groups"])


def _batchnorm(x: Any, p: Any, a: Any) -> Any:
    weight, bias, mean, var = p
    return F.batch_norm(x[0], mean, var, weight, bias, True, a["momentum"], a["eps"])


def _recurrent(kind: str) -> Callable[..., Any]:
    def function(x: Any, p: Any, a: Any) -> Any:
        layers, hidden, batch = a["layers"], a["hidden"], x[0].shape[0]
        each = len(p) // layers
        weights = []
        for layer in range(layers):
            own = p[layer * each : (layer + 1) * each]
            weights += [*own, torch.zeros_like(own[2])] if a["bias"] and kind != "gru" else own
        per = 2 if kind == "lstm" else 1
        none = torch.zeros(layers, batch, hidden, dtype=torch.float64)
        states = [torch.stack(x[1 + i :: per]) for i in range(per)] if len(x) > 1 else [none] * per
        name = f"rnn_{a['activation']}" if kind == "rnn" else kind
        first = tuple(states) if kind == "lstm" else states[0]
        output = getattr(torch, name)(x[0], first, weights, a["bias"], layers, 0.0, True, False, True)[0]
        return output if a["return_sequences"] else output[:, -1]

    return function


def _cross_entropy(x: Any, p: Any, a: Any) -> Any:
    logits = (x[0] / a["temperature"]).reshape(-1, x[0].shape[-1])
    if a["labels"] == "index":
        return F.cross_entropy(logits, x[1].reshape(-1).long())
    return F.cross_entropy(logits, x[1].reshape(logits.shape))


def _categorical(x: Any, p: Any, a: Any) -> Any:
    rows = x[0].numel() // x[0].shape[-1]
    return -(x[1] * torch.log(x[0]).clamp(min=-100)).sum() / rows


def _matmul(x: Any, p: Any, a: Any) -> Any:
    first, second = (*x, *p)
    return first @ (second.T if a["transposed"] else second)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "dense": _dense,
    "matmul": _matmul,
    "add_bias": lambda x, p, a: torch.add(*x, *p),
    "add_column": lambda x, p, a: x[0] + (*x, *p)[1].reshape(-1, *(1,) * (x[0].ndim - 1)),
    "add": lambda x, p, a: x[0] + x[1],
    "mul": lambda x, p, a: x[0] * x[1],
    "scale": lambda x, p, a: x[0] * a["scale"],
    **{
        name: (lambda x, p, a, name=name: _activation(name, x[0], a.get("alpha", 0.0), a.get("form", "erf")))
        for name in ("relu", "leaky_relu", "elu", "sigmoid", "tanh", "silu", "gelu")
    },
    "softmax": lambda x, p, a: F.softmax(x[0] / a["temperature"], -1),
    "dropout": _dropout,
    "conv2d": _conv,
    "max_pool2d": _max_pool,
    "avg_pool2d": _avg_pool,
    "flatten": lambda x, p, a: x[0].flatten(1),
    "reshape": lambda x, p, a: x[0].reshape([x[0].shape[i] if n == 0 else n for i, n in enumerate(a["shape"])]),
    "slice_steps": lambda x, p, a: x[0][:, a["first"] : a["first"] + a["count"]],
    "concat_steps": lambda x, p, a: torch.cat([x[0], x[1]], 1),
    **{name: _recurrent(name) for name in ("rnn", "lstm", "gru")},
    "layernorm": lambda x, p, a: F.layer_norm(x[0], p[0].shape, *p, eps=a["eps"]),
    "batchnorm": _batchnorm,
    "embedding": lambda x, p, a: F.embedding(x[0].long(), p[0]),
    "mse": lambda x, p, a: F.mse_loss(x[0], x[1]),
    "bce": lambda x, p, a: F.binary_cross_entropy(x[0], x[1]),
    "bce_logits": lambda x, p, a: F.binary_cross_entropy_with_logits(x[0], x[1]),
    "categorical_cross_entropy": _categorical,
    "softmax_cross_entropy": _cross_entropy,
}
