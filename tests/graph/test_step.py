"""Training steps in one call: what moves by what, clipping by one norm, state, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graph
import reference
from bindings import Library
from reference import random
from tests.graph.test_check import one

RECORDS = [
    one("dense", "x", "h", "w b", units=4, activation="tanh"),
    one("batchnorm", "h", "n", "g c mean var"),
    one("dense", "n", "y", "w", units=4),
    one("mse", "y t", "loss"),
    one("relu", "y", "z"),
    one("add_bias", "z", "beside", "unread"),
]
SHAPES = {"x": (5, 4), "t": (5, 4)}
OPTIMIZERS = (
    graph.SGD(0.1, 0.25),
    graph.Momentum(0.1, momentum=0.5),
    graph.Momentum(0.1, 0.25, nesterov=True),
    graph.Adam(weight_decay=0.25),
    graph.AdamW(0.01),
)


def prepared(dtype: Any = np.float64) -> tuple[graph.Checked, dict[str, Any]]:
    read = graph.read(RECORDS)
    checked = graph.check(read, SHAPES | graph.parameter_shapes(read, SHAPES))
    names = (*read.inputs, *read.parameters)
    arrays = {n: random.normal(random.stream("step", n), checked.shapes[n]).astype(dtype) for n in names}
    return checked, arrays | {"var": np.abs(arrays["var"])}


def test_sgd_moves_every_parameter_by_its_gradient() -> None:
    checked, arrays = prepared()
    run = graph.Run(checked, reference)
    stepped = graph.train_step(run, arrays, graph.SGD(0.5), seed=2)
    gradients = run.backward(run.forward(arrays, seed=2)).parameters
    for name in ("w", "b", "g", "c"):
        np.testing.assert_array_equal(stepped.parameters[name], arrays[name] - 0.5 * gradients[name])
    assert stepped.parameters["unread"] is arrays["unread"]
    assert (stepped.parameters["mean"] == stepped.forward.state["mean"]).all()
    assert (stepped.parameters["mean"] != arrays["mean"]).any()
    assert stepped.norm is None
    assert stepped.loss == stepped.forward.losses["loss"][0]


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=str)
def test_moments_go_on_from_step_to_step(optimizer: graph.Optimizer) -> None:
    """Each parameter as the operation moves it alone, by the gradients of the step."""
    checked, arrays = prepared()
    run, state = graph.Run(checked, reference), None
    held = {name: (arrays[name], *(np.zeros_like(arrays[name]) for _ in range(optimizer.count))) for name in "wbgc"}
    for step in range(1, 4):
        stepped = graph.train_step(run, arrays, optimizer, state, lr=0.1 / step)
        for name, (param, *moments) in held.items():
            gradient = stepped.backward.parameters[name]
            new, moved = optimizer.update(reference, param, gradient, tuple(moments), step, 0.1 / step)
            held[name] = (new, *moved)
            np.testing.assert_array_equal(stepped.parameters[name], new)
        state, arrays = stepped.state, arrays | stepped.parameters
    assert state is not None
    assert state.step == 3


@pytest.mark.parametrize("clip_norm", [0.25, 1e6])
def test_one_norm_clips_all_gradients(clip_norm: float) -> None:
    checked, arrays = prepared()
    run = graph.Run(checked, reference)
    free = graph.train_step(run, arrays, graph.SGD(0.5))
    clipped = graph.train_step(run, arrays, graph.SGD(0.5), clip_norm=clip_norm)
    gradients = [gradient.reshape(-1) for gradient in free.backward.parameters.values() if gradient is not None]
    norm, factor = reference.clip_scale(reference.multi_sum_squares(gradients), clip_norm)
    np.testing.assert_array_equal(clipped.norm, norm)
    assert (factor < 1) == (clip_norm < 1)
    for name, gradient in free.backward.parameters.items():
        if gradient is not None:
            np.testing.assert_array_equal(clipped.backward.parameters[name], gradient * factor)
            np.testing.assert_array_equal(clipped.parameters[name], arrays[name] - 0.5 * (gradient * factor))


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=str)
def test_a_library_writes_over_what_is_given_only_in_place(optimizer: graph.Optimizer, stub: Library) -> None:
    checked, arrays = prepared(np.float32)
    run, before = graph.Run(checked, stub), {name: array.copy() for name, array in arrays.items()}
    first = graph.train_step(run, arrays, optimizer)
    moments = {name: [moment.copy() for moment in held] for name, held in first.state.moments.items()}
    second = graph.train_step(run, arrays | first.parameters, optimizer, first.state)
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, before[name])
    for name, held in first.state.moments.items():
        for moment, kept in zip(held, moments[name], strict=True):
            np.testing.assert_array_equal(moment, kept)
    again = graph.train_step(run, arrays | first.parameters, optimizer, first.state, in_place=True)
    for name in "wbgc":
        np.testing.assert_array_equal(again.parameters[name], second.parameters[name])
        assert np.shares_memory(again.parameters[name], first.parameters[name])


REFUSED = {
    "clip_norm": ({"clip_norm": 0.0}, "train_step: clip_norm: expected a number above 0, got 0.0"),
    "a norm that is no number": ({"clip_norm": "1"}, "train_step: clip_norm: expected a number above 0, got 1"),
    "a rate that is no number": ({"lr": float("nan")}, "train_step: lr: expected a number of 0 or more, got nan"),
    "a negative rate": ({"lr": -1.0}, "train_step: lr: expected a number of 0 or more, got -1.0"),
    "moments that are missing": (
        {"state": graph.State(1, {"w": ()})},
        "train_step: state: b: expected moments of every trained parameter and of no other, got none",
    ),
    "moments of another optimiser": (
        {"state": graph.Adam().start(prepared()[1])},
        "train_step: state: mean: expected moments of every trained parameter and of no other, "
        "got some of an unknown one",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused(what: str) -> None:
    named, said = REFUSED[what]
    checked, arrays = prepared()
    with pytest.raises(graph.GraphError) as error:
        graph.train_step(graph.Run(checked, reference), arrays, graph.SGD(), **named)
    assert str(error.value) == said


def test_an_array_that_is_missing_is_said_before_the_state() -> None:
    checked, arrays = prepared()
    state = graph.SGD().start({name: arrays[name] for name in checked.trainable})
    del arrays["w"]
    with pytest.raises(graph.GraphError, match=r"run: w: expected an array of shape \(4, 4\), got none"):
        graph.train_step(graph.Run(checked, reference), arrays, graph.SGD(), state)


def test_nothing_is_there_to_be_clipped() -> None:
    run = graph.Run(graph.check(graph.read([one("mse", "x t", "loss")]), SHAPES), reference)
    arrays = {name: np.ones(shape) for name, shape in SHAPES.items()}
    with pytest.raises(graph.GraphError, match="clip_norm: expected a graph that trains a parameter, got one without"):
        graph.train_step(run, arrays, graph.SGD(), clip_norm=1.0)


def test_what_is_said_of_moments_of_another_kind() -> None:
    checked, arrays = prepared()
    state = graph.Adam().start({name: arrays[name] for name in checked.trainable})
    with pytest.raises(
        graph.GraphError, match=r"train_step: state: w: expected moments of the shapes \[\], got \[\(4, 4\)"
    ):
        graph.train_step(graph.Run(checked, reference), arrays, graph.SGD(), state)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: graph.SGD(-0.1), "SGD: lr: expected a number of 0 or more, got -0.1"),
        (lambda: graph.SGD(float("inf")), "SGD: lr: expected a number of 0 or more, got inf"),
        (lambda: graph.SGD("0.1"), "SGD: lr: expected a number of 0 or more, got 0.1"),  # type: ignore[arg-type]
        (lambda: graph.Momentum(momentum=-1.0), "Momentum: momentum: expected a number of 0 or more, got -1.0"),
        (lambda: graph.Adam(beta2=1.0), "Adam: beta2: expected a number of 0 or more, below 1, got 1.0"),
        (lambda: graph.AdamW(weight_decay=-1.0), "AdamW: weight_decay: expected a number of 0 or more, got -1.0"),
    ],
)
def test_what_is_said_of_wrong_numbers(make: Any, said: str) -> None:
    with pytest.raises(graph.GraphError) as error:
        make()
    assert str(error.value) == said
