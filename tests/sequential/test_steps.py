"""Trained from the same weights, the digits' models and PyTorch's give the same numbers, step for step.

The limit: the reference makes the steps on the judge's noise numbers, so that after each of them loss and parameters
have the deviation that all honest roundings before leave.  In float32 the C library and PyTorch each keep to it, in
float64 the reference and PyTorch, of which both err, keep to that of their difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graph
import reference
from benchmarks.digits import TASKS, Task, digits
from bindings import Library
from conformance.limits.namespaces import OnNumbers
from conformance.limits.noise import Noisy, exact, using
from graph.optimizers import Adam, Momentum, Optimizer, State
from graph.step import train_step
from sequential import Sequential
from sequential.blueprint import INPUT, LABEL
from tests.graph.limits import FLOAT32, FLOAT64, OnDoubles, shares

torch = pytest.importorskip("torch", reason="nox -s oracle installs it")
pytest.importorskip("sklearn", reason="nox -s oracle installs it")

STEPS, BATCH = 5, 32
BY = (Momentum(lr=0.05), Adam())
Arrays = dict[str, Any]
Batches = list[tuple[Any, Any]]


def batches(task: Task, dtype: str) -> Batches:
    x, y = digits()
    cut = [slice(i * BATCH, (i + 1) * BATCH) for i in range(STEPS)]
    return [(x[c].reshape(-1, *task.shape).astype(dtype), y[c].astype(np.int32)) for c in cut]


def model_of(task: Task, by: Optimizer, dtype: str, ops: Any) -> Sequential:
    """The digits' model without dropout, whose draws PyTorch does not make."""
    layers = [layer for layer in task.model().layers if type(layer).__name__ != "Dropout"]
    model = Sequential(layers, input_shape=task.shape, ops=ops, dtype=dtype)
    model.compile(by, "sparse_categorical_crossentropy")
    return model


def expected(model: Sequential, by: Optimizer, given: Batches, ops: Any) -> Iterator[Arrays]:
    """Loss and parameters after each step, as noise numbers; the worst case is not carried along."""
    run = graph.Run(model.run(BATCH, loss=True).checked, ops)
    parameters = {name: exact(array, worst=False) for name, array in model.state_dict().items()}
    moments = {name: (exact(np.zeros(array.shape), worst=False),) * by.count for name, array in parameters.items()}
    state = State(0, moments)
    for x, y in given:
        made = train_step(run, {INPUT: exact(x, worst=False), LABEL: y, **parameters}, by, state)
        parameters, state = made.parameters, made.state
        yield {"loss": made.forward.losses["loss"], **parameters}


def ours(model: Sequential, given: Batches) -> Iterator[Arrays]:
    for x, y in given:
        yield {"loss": np.array([model.train_on_batch(x, y)]), **model.state_dict()}


def logits_of_cnn(p: Arrays, x: Any) -> Any:
    functional = torch.nn.functional
    for layer in ("conv2d", "conv2d_1"):
        x = functional.conv2d(x, p[f"{layer}.weight"], p[f"{layer}.bias"], padding=1).relu()
        x = functional.max_pool2d(x, 2)
    return functional.linear(x.flatten(1), p["dense.weight"], p["dense.bias"])


def logits_of_rnn(p: Arrays, x: Any) -> Any:
    h = torch.zeros(len(x), len(p["simple_rnn.w_h"]), dtype=x.dtype)
    for step in x.unbind(1):
        h = torch.tanh(step @ p["simple_rnn.w_x"].T + h @ p["simple_rnn.w_h"].T + p["simple_rnn.bias"])
    return torch.nn.functional.linear(h, p["dense.weight"], p["dense.bias"])


def theirs(task: Task, by: Optimizer, start: Arrays, given: Batches) -> Iterator[Arrays]:
    """PyTorch's steps, with its optimiser."""
    parameters = {name: torch.tensor(array, requires_grad=True) for name, array in start.items()}
    logits: Callable[[Arrays, Any], Any] = {"CNN": logits_of_cnn, "RNN": logits_of_rnn}[task.name]
    if isinstance(by, Adam):
        optimizer = torch.optim.Adam(parameters.values(), lr=by.lr, betas=(by.beta1, by.beta2), eps=by.eps)
    else:
        optimizer = torch.optim.SGD(parameters.values(), lr=by.lr, momentum=asdict(by)["momentum"])
    for x, y in given:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(logits(parameters, torch.tensor(x)), torch.tensor(y).long())
        loss.backward()
        optimizer.step()
        yield {"loss": loss.detach().numpy().reshape(1), **{n: p.detach().numpy() for n, p in parameters.items()}}


def worst(due: list[Arrays], got: Iterator[Arrays], both_err: bool) -> float:
    """The largest share of a limit, over all steps."""
    return max(max(shares(d, g, both_err).values()) for d, g in zip(due, got, strict=True))


@pytest.mark.parametrize("by", BY, ids=lambda by: type(by).__name__)
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_c_library_and_pytorch_make_the_same_steps_in_float32(task: Task, by: Optimizer, stub_path: Path) -> None:
    given = batches(task, "float32")
    model = model_of(task, by, "float32", Library(stub_path))
    start = model.state_dict()
    with using(FLOAT32), np.errstate(all="ignore"):
        due = list(expected(model, by, given, OnNumbers(exact)))
    assert worst(due, ours(model, given), both_err=False) <= 1
    assert worst(due, theirs(task, by, start, given), both_err=False) <= 1


@pytest.mark.parametrize("by", BY, ids=lambda by: type(by).__name__)
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_reference_and_pytorch_make_the_same_steps_in_float64(task: Task, by: Optimizer) -> None:
    given = batches(task, "float64")
    model = model_of(task, by, "float64", reference)
    start = model.state_dict()
    with using(FLOAT64), np.errstate(all="ignore"):
        due = list(expected(model, by, given, OnDoubles(exact)))
    made = list(ours(model, given))
    between = [{n: centred(noise, made[i][n]) for n, noise in step.items()} for i, step in enumerate(due)]
    assert worst(between, theirs(task, by, start, given), both_err=True) <= 1


def centred(noise: Noisy, values: Any) -> Noisy:
    """The same deviation around what the other of two has found."""
    return noise.replaced(v=np.asarray(values, np.float64))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_a_rate_that_is_off_by_a_thousandth_is_seen(task: Task, stub_path: Path) -> None:
    given, by = batches(task, "float32"), BY[0]
    model = model_of(task, by, "float32", Library(stub_path))
    with using(FLOAT32), np.errstate(all="ignore"):
        due = list(expected(model, by, given, OnNumbers(exact)))
    other = model_of(task, Momentum(lr=by.lr * 1.001), "float32", Library(stub_path))
    assert worst(due, ours(other, given), both_err=False) > 1
