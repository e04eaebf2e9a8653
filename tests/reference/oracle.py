"""Comparing an operation and its gradient with a PyTorch function and autograd, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference import random
from tests.reference.bounds import assert_agree

Torch = Callable[..., Any]


def draw(*shapes: tuple[int, ...]) -> list[Any]:
    return [random.normal(random.stream("torch", i), shape) for i, shape in enumerate(shapes)]


def oracle(function: Torch, inputs: list[Any], *d_outputs: Any) -> tuple[list[Any], list[Any]]:
    """Outputs of a PyTorch function and, for the given gradients of its outputs, the gradients of its inputs."""
    import torch

    leaves = [torch.tensor(array, requires_grad=True) for array in inputs]
    results = function(*leaves)
    outputs = list(results) if isinstance(results, tuple) else [results]
    if d_outputs:
        torch.autograd.backward(outputs, [torch.tensor(d) for d in d_outputs])
    return [output.detach().numpy() for output in outputs], [leaf.grad for leaf in leaves]


def check(forward: Torch, backward: Torch | None, function: Torch, *shapes: tuple[int, ...]) -> None:
    """The forward's outputs agree with PyTorch's, and backward(d_outputs, *inputs) with autograd's gradients."""
    inputs = draw(*shapes)
    results = forward(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    d_outputs = draw(*(r.shape for r in results)) if backward else []
    outputs, expected = oracle(function, inputs, *d_outputs)
    for got, output in zip(results, outputs, strict=True):
        assert_agree(got, output, inputs, "forward")
    if backward:
        gradients = backward(*d_outputs, *inputs)
        gradients = gradients if isinstance(gradients, tuple) else (gradients,)
        for i, (got, grad) in enumerate(zip(gradients, expected, strict=True)):
            assert_agree(got, grad.numpy(), [*inputs, *d_outputs], f"gradient of input {i}")
