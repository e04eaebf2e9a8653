"""Optimisers: single updates by the reference's operations, schedules, clipping, and training resumed bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from bindings import Library
from reference.step import TrainingConfig, learning_rate
from tensors import Tensor, TensorError
from tensors.modules import Linear, Module, parameter
from tensors.optimizers import (
    SGD,
    Adam,
    AdamW,
    WarmupCosine,
    WarmupLinear,
    clip_by_global_norm,
    clipping,
)
from tensors.tape import Variable

X = np.linspace(-1.0, 1.0, 12).reshape(4, 3)


def loss(module: Module) -> Variable:
    return (module(Variable(Tensor(X))) - 1.0).map("square").mean()


OPTIMIZERS: dict[str, Any] = {
    "sgd": lambda m: SGD(m, 0.5, weight_decay=0.25),
    "momentum": lambda m: SGD(m, 0.5, momentum=0.75),
    "nesterov": lambda m: SGD(m, 0.5, momentum=0.75, nesterov=True),
    "adam": lambda m: Adam(m, 0.125, weight_decay=0.25),
    "adamw": lambda m: AdamW(m, WarmupCosine(0.125, 2, 4), weight_decay=0.25),
}


def trained(name: str, updates: int, module: Module | None = None, optimizer: Any = None) -> tuple[Module, Any]:
    module = module or Linear(3, 2, seed=0, dtype=np.float64)
    optimizer = optimizer or OPTIMIZERS[name](module)
    for _ in range(updates):
        optimizer.zero_grad()
        loss(module).backward()
        optimizer.step()
    return module, optimizer


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_loss_falls(name: str) -> None:
    before, (module, optimizer) = loss(Linear(3, 2, seed=0, dtype=np.float64)).item(), trained(name, 3)
    assert optimizer.updates == 3
    assert loss(module).item() < before


def test_one_update_is_the_operation_s() -> None:
    module = Linear(3, 2, seed=0, dtype=np.float64)
    loss(module).backward()
    p, g = np.array(module.weight.numpy()), np.array(module.weight.grad.numpy())
    AdamW(module, 0.1, weight_decay=0.5).step()
    told = {"lr": 0.1, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.5, "step": 1}
    due, _, _ = reference.adamw_step(p, g, np.zeros_like(p), np.zeros_like(p), **told)
    assert np.array_equal(module.weight.numpy(), due)


def test_norms_and_biases_do_not_decay() -> None:
    module = Linear(3, 2, seed=0, dtype=np.float64)
    module.bias.value[...] = 1.0
    module.weight.value[...] = 1.0
    zero = Variable(Tensor(np.zeros((1, 3))))
    (module(zero) * 0.0).sum().backward()
    AdamW(module, 0.5, weight_decay=0.5).step()
    assert np.array_equal(module.bias.numpy(), np.ones(2))
    assert np.array_equal(module.weight.numpy(), np.full((2, 3), 0.75))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on_where_it_was(name: str) -> None:
    whole, _ = trained(name, 5)
    module, optimizer = trained(name, 2)
    again = Linear(3, 2, seed=1, dtype=np.float64)
    again.load_state_dict(module.state_dict())
    resumed = OPTIMIZERS[name](again)
    resumed.load_state_dict(optimizer.state_dict())
    trained(name, 3, again, resumed)
    assert all(np.array_equal(array, again.state_dict()[key]) for key, array in whole.state_dict().items())


def test_a_state_that_does_not_fit_is_refused_and_changes_nothing() -> None:
    _, optimizer = trained("adam", 1)
    state = optimizer.state_dict()
    state["m.bias"] = np.zeros(3)
    state.pop("v.weight")
    before = optimizer.state_dict()
    with pytest.raises(TensorError, match=r"m.bias \(3,\) of float64, not \(2,\) of float64; no v.weight"):
        optimizer.load_state_dict(state)
    assert all(np.array_equal(array, before[key]) for key, array in optimizer.state_dict().items())


def test_schedules() -> None:
    training = TrainingConfig(lr=0.25, warmup=3, total=9)
    schedule = WarmupCosine(0.25, 3, 9)
    assert [schedule(n) for n in range(1, 12)] == [learning_rate(training, n) for n in range(1, 12)]
    assert [WarmupLinear(1.0, 2, 6)(n) for n in range(1, 9)] == [0.5, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0, 0.0]
    with pytest.raises(TensorError, match="WarmupCosine: expected a warmup from 0 up to below 3, got 3"):
        WarmupCosine(1.0, 3, 3)


def test_clipping_is_by_the_norm_over_all_gradients() -> None:
    module = Linear(3, 2, seed=0, dtype=np.float64)
    loss(module).backward()
    before = [np.array(one.grad.numpy()) for one in module.parameters()]
    norm = np.sqrt(sum(np.sum(one**2) for one in before))
    found, factor = clipping(module.parameters(), norm / 2)
    assert found.item() == pytest.approx(norm, rel=2.0**-50)  # a square root of a sum of 8 numbers
    assert clip_by_global_norm(module.parameters(), norm / 2).item() == found.item()
    after = [one.grad.numpy() for one in module.parameters()]
    assert all(np.array_equal(a, b * factor.item()) for a, b in zip(after, before, strict=True))


def test_on_the_c_library(stub: Library) -> None:
    """A factor of 1 and whole numbers: nothing rounds but the update itself, which adds two numbers."""
    module = Linear(2, 1, seed=0, ops=stub)
    module.weight.value[...] = 1.0
    x = Variable(Tensor(np.array([[1.0, 2.0]], np.float32), stub))
    module(x).sum().backward()
    SGD(module, 0.5).step()
    assert module.weight.numpy().tolist() == [[0.5, 0.0]]
    assert module.bias.numpy().tolist() == [-0.5]


class Tied(Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = parameter(np.ones((2, 2)))
        self.other = Variable(self.one.value.T, requires_grad=True)


def test_parameters_that_share_memory_are_refused() -> None:
    with pytest.raises(TensorError, match="SGD: expected other in a dense storage of its own"):
        SGD(Tied(), 0.1)


BAD = (lambda m: SGD(m, -1.0), lambda m: Adam(m, 0.1, betas=(0.9, 1.0)), lambda m: AdamW(m, np.nan))


@pytest.mark.parametrize("call", BAD)
def test_numbers_that_no_training_can_have_are_refused(call: Any) -> None:
    with pytest.raises(TensorError, match=r"expected (lr|betas): a finite number from 0"):
        call(Linear(2, 2, seed=0))


def test_without_gradients_there_is_no_step() -> None:
    with pytest.raises(TensorError, match="SGD: expected gradients: backward first, got none"):
        SGD(Linear(2, 2, seed=0), 0.1).step()
