"""Recurrent layers in PyTorch, eager.  A layer with one bias has zeros for the second, which PyTorch adds to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Timed = Callable[[], Any]
RELU = 1  # assayer.h: ASSAYER_RELU


def recurrent(kind: str, activation: int | None = None) -> Callable[..., Tensor]:
    """A layer's output [batch, steps, hidden] by the header's names."""
    function = {"lstm": torch.lstm, "gru": torch.gru, "rnn": torch.rnn_relu if activation == RELU else torch.rnn_tanh}[
        kind
    ]

    def forward(
        input: Tensor, w_x: Tensor, w_h: Tensor, *, h0: Tensor, bias: Tensor | None = None,
        b_x: Tensor | None = None, b_h: Tensor | None = None, c0: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        first, second = (b_x, b_h) if b_x is not None else (bias, None if bias is None else torch.zeros_like(bias))
        weights = [w_x, w_h] + ([] if first is None else [first, second])
        state = h0[None] if c0 is None else (h0[None], c0[None])
        return function(input, state, weights, first is not None, 1, 0.0, True, False, True)[0]

    return forward


def _forward(kind: str, activation: int | None, **given: Tensor | None) -> Timed:
    """As in training: what the gradient needs is kept."""
    leaves = {name: x.detach().clone().requires_grad_() for name, x in given.items() if x is not None}
    forward = recurrent(kind, activation)
    return lambda: forward(**leaves).detach()


def _backward(kind: str, activation: int | None, d_output: Tensor, **given: Tensor | None) -> Timed:
    """Gradients of what is given, in its order."""
    leaves = {name: x.detach().clone().requires_grad_() for name, x in given.items() if x is not None}
    output = recurrent(kind, activation)(**leaves)
    return lambda: torch.autograd.grad(output, list(leaves.values()), d_output, retain_graph=True)


def rnn_forward(
    input: Tensor,
    w_x: Tensor,
    w_h: Tensor,
    bias: Tensor | None,
    h0: Tensor,
    activation: int,
    has_bias: int,
    has_h0: int,
) -> Timed:
    return _forward("rnn", activation, input=input, w_x=w_x, w_h=w_h, bias=bias, h0=h0)


def rnn_backward(
    input: Tensor, w_x: Tensor, w_h: Tensor, h0: Tensor, output: Tensor, d_output: Tensor, d_w_x: None, d_w_h: None,
    d_bias: None, activation: int, has_h0: int, beta: float,
) -> Timed:  # fmt: skip
    zeros = w_h.new_zeros(len(w_h))
    return _backward("rnn", activation, d_output, input=input, w_x=w_x, w_h=w_h, bias=zeros, h0=h0)


def lstm_forward(
    input: Tensor, w_x: Tensor, w_h: Tensor, bias: Tensor | None, h0: Tensor, c0: Tensor, has_bias: int, has_state: int
) -> Timed:
    return _forward("lstm", None, input=input, w_x=w_x, w_h=w_h, bias=bias, h0=h0, c0=c0)


def lstm_backward(
    input: Tensor, w_x: Tensor, w_h: Tensor, h0: Tensor, c0: Tensor, output: Tensor, cells: Tensor, gates: Tensor,
    d_output: Tensor, d_w_x: None, d_w_h: None, d_bias: None, has_state: int, beta: float,
) -> Timed:  # fmt: skip
    zeros = w_h.new_zeros(len(w_h))
    return _backward("lstm", None, d_output, input=input, w_x=w_x, w_h=w_h, bias=zeros, h0=h0, c0=c0)


def gru_forward(
    input: Tensor,
    w_x: Tensor,
    w_h: Tensor,
    b_x: Tensor | None,
    b_h: Tensor | None,
    h0: Tensor,
    has_bias: int,
    has_h0: int,
) -> Timed:
    return _forward("gru", None, input=input, w_x=w_x, w_h=w_h, b_x=b_x, b_h=b_h, h0=h0)


def gru_backward(
    input: Tensor, w_x: Tensor, w_h: Tensor, h0: Tensor, output: Tensor, gates: Tensor, d_output: Tensor,
    d_w_x: None, d_w_h: None, d_b_x: None, d_b_h: None, has_h0: int, beta: float,
) -> Timed:  # fmt: skip
    zeros = w_h.new_zeros(len(w_h))
    return _backward("gru", None, d_output, input=input, w_x=w_x, w_h=w_h, b_x=zeros, b_h=zeros.clone(), h0=h0)
