"""Records are judged on what the engine gave them: what follows from a wrong result is not wrong itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.graphs.data import drawn
from conformance.graphs.engines.operations import call_operations
from conformance.graphs.handed import handed
from conformance.graphs.judge import Judged, free_of, judge_step, tensor_of
from conformance.graphs.task import Settings, Task, TaskError
from conformance.graphs.tasks import shipped
from conformance.judging.results import Status
from conformance.limits.namespaces import OnFloat32
from graph import GraphError, make, record
from graph.kinds import philox_of


def right(task: Task) -> dict[str, Any]:
    found: dict[str, Any] = call_operations(OnFloat32(), task.document, task.arrays)["results"]
    return found


def wrong(judged: Judged) -> list[str]:
    return [tensor_of(result) for result in judged.wrong]


def test_what_follows_from_a_wrong_value_is_judged_on_it() -> None:
    task = shipped("layers")
    moved = {**task.parameters, "w0": task.parameters["w0"] * np.float32(1.5)}
    other = Task(task.name, task.graph, task.inputs, moved, task.settings)  # an engine that reads another weight
    came = {name: array for name, array in right(other).items() if name not in ("parameter.w0", "gradient.x")}
    judged = judge_step(task, handed(task, came), partial=True)
    assert wrong(judged) == ["value.h"]
    assert [tensor_of(result) for result in judged.free if not result.is_fine][:2] == ["value.h", "value.t"]


@pytest.mark.slow
def test_one_wrong_gradient_is_one_wrong_result() -> None:
    task = shipped("sequences")
    came = right(task)
    came["gradient.g"] = came["gradient.g"] * np.float32(1.001)
    assert wrong(judge_step(task, handed(task, came)))[0] == "gradient.g"
    came["gradient.g"] = came["gradient.g"] * np.nan  # what is no number is not gone on with
    assert "gradient.both" not in wrong(judge_step(task, handed(task, came)))


def test_another_shape_and_type_are_said() -> None:
    task = shipped("layers")
    came = right(task)
    came["value.t"] = came["value.t"].T
    came["value.y"] = came["value.y"].astype(np.float64)
    judged = judge_step(task, handed(task, came))
    assert [result.headline for result in judged.wrong] == [
        "record 1 (tanh -> t): shape (5, 6), expected (6, 5)",
        "record 3 (dense -> y): dtype float64, expected float32",
    ]


def test_a_name_that_is_no_result_is_refused() -> None:
    task = shipped("layers")
    with pytest.raises(TaskError, match=r"value\.tt: expected one of the 18 results of layers, got another; did you"):
        handed(task, {"value.tt": np.zeros(3, np.float32)})


@pytest.mark.parametrize("name", ["documents", "sequences"])
def test_two_runs_that_differ_are_found(name: str) -> None:
    task = shipped(name)
    came = right(task)
    again = {one: array.copy() for one, array in came.items()}
    first = next(iter(task.wanted))
    again[first].reshape(-1)[0] = np.nextafter(again[first].reshape(-1)[0], np.float32(np.inf))
    judged = judge_step(task, handed(task, came, again))
    assert wrong(judged) == [first]
    assert judged.wrong[0].reason == f"{first}: the second run differs from the first"


def test_choices_within_the_noise_give_no_verdict() -> None:
    graph = make(
        [
            record("dense", ["x"], ["w"], "h", units=3),
            record("relu", ["h"], [], "r"),
            record("mse", ["r", "t"], [], "l"),
        ]
    )
    task = drawn(graph, {"x": (2, 4), "t": (2, 3)}, Settings(), "near")
    weight = np.array(task.parameters["w"])
    x = task.inputs["x"][0].astype(np.float64)
    row = weight[0].astype(np.float64)
    weight[0] = row - x * (row @ x) / (x @ x)  # so that a product is zero but for its roundings
    near = Task("near", graph, task.inputs, {"w": weight}, Settings())
    assert free_of(task).near == 0
    assert free_of(near).near == 1
    judged = judge_step(near, handed(near, right(near)))
    assert all(result.is_fine for result in judged.locked)
    assert {result.status for result in judged.free} == {Status.MISTRUSTED}


def test_the_largest_of_a_window_may_be_near_another() -> None:
    pooled = record("max_pool2d", ["c"], [], "p", kernel=2, stride=2)
    graph = make([record("scale", ["x"], [], "c", scale=0.3), pooled, record("mse", ["p", "t"], [], "l")])
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    task = Task("near", graph, {"x": x, "t": np.zeros((1, 1, 2, 2), np.float32)}, {}, Settings())
    assert free_of(task).near == 0
    x = x.copy()
    x[0, 0, 1, 0] = np.nextafter(x[0, 0, 1, 1], np.float32(0))
    assert free_of(Task("near", graph, {**task.inputs, "x": x}, {}, Settings())).near == 1


def test_arrays_that_do_not_fit_are_refused() -> None:
    task = shipped("layers")
    with pytest.raises(TaskError, match=r"input\.x: expected an array, got none"):
        Task("t", task.graph, {"targets": task.inputs["targets"]}, task.parameters)
    with pytest.raises(TaskError, match=r"parameter\.w9: expected one of the graph's parameters, got another"):
        Task("t", task.graph, task.inputs, {**task.parameters, "w9": task.parameters["w0"]})
    with pytest.raises(GraphError, match=r"record 0 \(dense -> h\): parameter w0: expected shape"):
        Task("t", task.graph, task.inputs, {**task.parameters, "w0": np.zeros((5, 3), np.float32)})


@pytest.mark.parametrize(
    ("records", "settings", "wanted"),
    [
        ([record("tanh", ["x"], [], "h")], Settings(optimizer="sgd"), ["value.h"]),
        (
            [record("mse", ["x", "t"], [], "loss")],
            Settings(optimizer="sgd", clip_norm=1.0),
            ["loss.loss"],
        ),
        (
            [
                record("dropout", ["x"], [], "d", rate=0.5),
                record("batchnorm", ["d"], ["g", "c", "mean", "var"], "n"),
                record("mse", ["n", "t"], [], "loss"),
            ],
            Settings(training=False),
            ["value.d", "value.n", "loss.loss"],
        ),
    ],
    ids=["no loss", "nothing to train", "evaluation"],
)
def test_a_step_that_updates_nothing_is_judged(records: Any, settings: Settings, wanted: list[str]) -> None:
    graph = make(records)
    task = drawn(graph, dict.fromkeys(graph.inputs, (3, 4)), settings, "aside")
    assert [*task.wanted] == wanted
    judged = judge_step(task, handed(task, right(task)))
    assert all(result.status is Status.PASS for result in judged.results)
    assert {tensor_of(result) for result in judged.locked} >= {*wanted}


def test_an_engine_is_told_what_a_dropout_with_a_stream_draws_by() -> None:
    records = [record("dropout", ["x"], [], "d", rate=0.5, stream=5), record("mse", ["d", "t"], [], "loss")]
    task = drawn(make(records), {"x": (3, 4), "t": (3, 4)}, Settings(seed=2, step=3), "stream")
    assert task.document["philox"] == {"d": [*map(int, philox_of(2, 3, 5))]}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"lr": float("nan")}, "settings: lr: expected a number of 0 or more, got nan"),
        ({"clip_norm": -1.0}, "settings: clip_norm: expected a number of 0 or more, got -1.0"),
        ({"step": -5}, "settings: step: expected a number of 0 or more, got -5"),
        ({"beta1": 1.0}, "settings: beta1: expected a number of 0 or more, below 1, got 1.0"),
    ],
)
def test_settings_past_their_bounds_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(TaskError) as error:
        Settings.read(given)
    assert str(error.value) == said
