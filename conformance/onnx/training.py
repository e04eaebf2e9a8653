"""Losses and updates of parameters in ONNX's operators, which has few of its own for training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reference.ops.losses import LOWEST_LOG, SMALLEST

from .graph import Graph

Build = Callable[[Graph], None]
_GIVEN = {"mse": "prediction", "bce": "probability", "bce_logits": "logits"}


def _number(graph: Graph, value: float) -> str:
    return graph.constant(value, np.float32)


def _log(graph: Graph, tensor: str) -> str:
    return graph.node("Max", graph.node("Log", tensor), _number(graph, LOWEST_LOG))


def _rest(graph: Graph, tensor: str) -> str:
    return graph.node("Sub", _number(graph, 1.0), tensor)


def _both(graph: Graph, loss: str) -> tuple[str, str]:
    return graph.given(_GIVEN[loss]), graph.given("target")


def _mean(graph: Graph, terms: str) -> None:
    graph.result("loss", graph.node("ReduceMean", terms, graph.constant([0], np.int64), keepdims=1))


def _mean_of_rows(graph: Graph, log_probs: str) -> None:
    """Of minus the labels times logarithms."""
    terms = graph.node("Mul", graph.given("labels"), log_probs)
    _mean(graph, graph.node("Neg", graph.node("ReduceSum", terms, graph.constant([1], np.int64), keepdims=0)))


def _scaled(graph: Graph, output: str, slope: str, factor: float) -> None:
    """factor: besides the scale over how many there are."""
    first = next(iter(graph.inputs.values()))
    graph.result(output, graph.node("Mul", slope, _number(graph, factor * graph.arguments["scale"] / len(first))))


def _mse_forward(graph: Graph) -> None:
    difference = graph.node("Sub", *_both(graph, "mse"))
    _mean(graph, graph.node("Mul", difference, difference))


def _mse_backward(graph: Graph) -> None:
    _scaled(graph, "d_prediction", graph.node("Sub", *_both(graph, "mse")), 2.0)


def _bce_forward(graph: Graph) -> None:
    p, t = _both(graph, "bce")
    right = graph.node("Mul", t, _log(graph, p))
    wrong = graph.node("Mul", _rest(graph, t), _log(graph, _rest(graph, p)))
    _mean(graph, graph.node("Neg", graph.node("Add", right, wrong)))


def _bce_backward(graph: Graph) -> None:
    p, t = _both(graph, "bce")
    divisor = graph.node("Max", graph.node("Mul", p, _rest(graph, p)), _number(graph, SMALLEST))
    _scaled(graph, "d_probability", graph.node("Div", graph.node("Sub", p, t), divisor), 1.0)


def _bce_logits_forward(graph: Graph) -> None:
    x, t = _both(graph, "bce_logits")
    linear = graph.node("Sub", graph.node("Relu", x), graph.node("Mul", x, t))
    _mean(graph, graph.node("Add", linear, graph.node("Softplus", graph.node("Neg", graph.node("Abs", x)))))


def _bce_logits_backward(graph: Graph) -> None:
    x, t = _both(graph, "bce_logits")
    _scaled(graph, "d_logits", graph.node("Sub", graph.node("Sigmoid", x), t), 1.0)


def _categorical_forward(graph: Graph) -> None:
    _mean_of_rows(graph, _log(graph, graph.given("probabilities")))


def _categorical_backward(graph: Graph) -> None:
    divisor = graph.node("Max", graph.given("probabilities"), _number(graph, SMALLEST))
    _scaled(graph, "d_probabilities", graph.node("Div", graph.given("labels"), divisor), -1.0)


def _dense_forward(graph: Graph) -> None:
    divided = graph.node("Div", graph.given("logits"), _number(graph, graph.arguments["temperature"]))
    log_probs = graph.node("LogSoftmax", divided, axis=-1)
    graph.result("log_probs", log_probs)
    _mean_of_rows(graph, log_probs)


def _dense_backward(graph: Graph) -> None:
    probabilities, labels = graph.node("Exp", graph.given("log_probs")), graph.given("labels")
    total = graph.node("ReduceSum", labels, graph.constant([1], np.int64), keepdims=1)
    slope = graph.node("Sub", graph.node("Mul", probabilities, total), labels)
    _scaled(graph, "d_logits", slope, 1.0 / graph.arguments["temperature"])


def _decayed(graph: Graph, param: str) -> str:
    decay = graph.node("Mul", param, _number(graph, graph.arguments["weight_decay"]))
    return graph.node("Add", graph.given("grad"), decay)


def _moved(graph: Graph, param: str, update: str) -> None:
    graph.result("param", graph.node("Sub", param, graph.node("Mul", update, _number(graph, graph.arguments["lr"]))))


def _sgd_step(graph: Graph) -> None:
    param = graph.given("param")
    _moved(graph, param, _decayed(graph, param))


def _momentum_step(graph: Graph) -> None:
    param, momentum = graph.given("param"), _number(graph, graph.arguments["momentum"])
    gradient = _decayed(graph, param)
    velocity = graph.node("Add", graph.node("Mul", graph.given("velocity"), momentum), gradient)
    graph.result("velocity", velocity)
    ahead = graph.arguments["nesterov"]
    _moved(graph, param, graph.node("Add", gradient, graph.node("Mul", velocity, momentum)) if ahead else velocity)


OPERATORS: dict[str, Build] = {
    "mse_forward": _mse_forward,
    "mse_backward": _mse_backward,
    "bce_forward": _bce_forward,
    "bce_backward": _bce_backward,
    "bce_logits_forward": _bce_logits_forward,
    "bce_logits_backward": _bce_logits_backward,
    "categorical_cross_entropy_forward": _categorical_forward,
    "categorical_cross_entropy_backward": _categorical_backward,
    "cross_entropy_dense_forward": _dense_forward,
    "cross_entropy_dense_backward": _dense_backward,
    "sgd_step": _sgd_step,
    "momentum_step": _momentum_step,
}
