"""Convolutions and recurrent layers in PyTorch, eager, forward and backward in one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from .torch_recurrent import recurrent

Timed = Callable[[], Any]


def layer(operations: Sequence[tuple[str, Mapping[str, Any]]]) -> Timed:
    """The layer that begins with this forward operation, and its gradients, given each operation's arguments."""
    (forward, arguments), *backward = operations
    d_output = backward[0][1]["d_output"]
    return (_convolution if forward == "conv2d" else _recurrent(forward))(arguments, d_output)


def _convolution(x: Mapping[str, Any], d_output: Tensor) -> Timed:
    leaves = [x[name].clone().requires_grad_() for name in ("input", "weight", "bias")]
    pairs = ((x[f"{name}_h"], x[f"{name}_w"]) for name in ("stride", "pad", "dilation"))
    steps = (*pairs, x["groups"])
    return lambda: torch.autograd.grad(F.conv2d(*leaves, *steps), leaves, d_output)


def _recurrent(operation: str) -> Callable[[Mapping[str, Any], Tensor], Timed]:
    def prepare(x: Mapping[str, Any], d_output: Tensor) -> Timed:
        names = ("input", "w_x", "w_h", "bias", "b_x", "b_h", "h0", "c0")
        leaves = {name: x[name].clone().requires_grad_() for name in names if name in x}
        forward = recurrent(operation.removesuffix("_forward"), x.get("activation"))
        return lambda: torch.autograd.grad(forward(**leaves), list(leaves.values()), d_output)

    return prepare
