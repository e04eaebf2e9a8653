"""Older records, with one input id and one parameter id, in the form that all others have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import refuse

# What kinds and attributes were called, where not as now in capitals.
_KINDS = {
    "linear": "dense",
    "fully_connected": "dense",
    "residual": "add",
    "multiply": "mul",
    "conv": "conv2d",
    "convolution": "conv2d",
    "max_pool": "max_pool2d",
    "maxpool": "max_pool2d",
    "maxpool2d": "max_pool2d",
    "avg_pool": "avg_pool2d",
    "avgpool": "avg_pool2d",
    "avgpool2d": "avg_pool2d",
    "slice_time": "slice_steps",
    "concat_time": "concat_steps",
    "layer_norm": "layernorm",
    "batch_norm": "batchnorm",
}
_ATTRIBUTES = {
    "kernel_size": "kernel",
    "hidden_size": "hidden",
    "num_layers": "layers",
    "time_steps": "steps",
    "pad": "padding",
}
_SLICE = {"start": "first", "time_steps": "count", "steps": "count"}
_LOSSES = {"cross_entropy": "categorical_cross_entropy", "bce_with_logits": "bce_logits"}
_FIELDS = ("kind", "input", "parameter", "output", "attributes")


def is_older(given: Mapping[str, Any]) -> bool:
    """Whether a record is of the older form: it names an input, not inputs."""
    return "inputs" not in given and ("input" in given or "parameter" in given)


def normalised(where: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record of the older form as one of the form that graph.read takes.

    Ids are whole numbers or words; None and -1 stand for none. Value 3 is then named "v3" and parameter 3 "p3"; words
    stay. A loss has the attributes `loss`, which one, and `label`, whose id is that of a value. Raises GraphError.
    """
    below = given.get("attributes", {})
    if not isinstance(below, Mapping):
        raise refuse(f"{where}: attributes", "a dict", repr(below))
    attributes = {name: value for name, value in given.items() if name not in _FIELDS} | dict(below)
    kind = given.get("kind")
    if not isinstance(kind, str):
        raise refuse(f"{where}: kind", "a word", repr(kind))
    inputs = _ids(f"{where}: input", "v", given.get("input"))
    name = kind.lower()
    if name == "loss":
        name, inputs = _loss(where, attributes, inputs)
    name = _KINDS.get(name, name)
    renamed = _ATTRIBUTES | (_SLICE if name == "slice_steps" else {})
    output = _ids(f"{where}: output", "v", given.get("output")) or (["loss"] if kind.lower() == "loss" else [])
    if len(output) != 1:
        raise refuse(f"{where}: output", "one id", given.get("output"))
    return {
        "kind": name,
        "inputs": inputs,
        "parameters": _ids(f"{where}: parameter", "p", given.get("parameter")),
        "output": output[0],
        "attributes": {renamed.get(attribute, attribute): value for attribute, value in attributes.items()},
    }


def _loss(where: str, attributes: dict[str, Any], inputs: list[str]) -> tuple[str, list[str]]:
    """The loss's kind and what it reads; its attributes are left without both."""
    which, label = attributes.pop("loss", None), attributes.pop("label", None)
    if not isinstance(which, str):
        raise refuse(f"{where}: attribute loss", "the name of a loss", repr(which))
    labels = _ids(f"{where}: attribute label", "v", label)
    if not labels:
        raise refuse(f"{where}: attribute label", "the id of a value", repr(label))
    return _LOSSES.get(which.lower(), which.lower()), [*inputs, *labels]


def _ids(where: str, letter: str, given: Any) -> list[str]:
    """The names of an id, of several, or of none."""
    found = []
    for one in given if isinstance(given, list | tuple) else (given,):
        if one is None or (one == -1 and not isinstance(one, bool)):
            continue
        if isinstance(one, bool) or not isinstance(one, int | str) or (isinstance(one, int) and one < 0) or one == "":
            raise refuse(where, "an id: a whole number of 0 or more, a word, None or -1", repr(one))
        found.append(one if isinstance(one, str) else f"{letter}{one}")
    return found
