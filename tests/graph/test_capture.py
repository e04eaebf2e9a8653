"""Captured steps: the same numbers as steps that are called, on the C library and on the emulated device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import graph
from bindings import Library
from graph.capture import CapturedStep
from graph.program import traced_pass
from tests.graph.drawn import Drawn, graphs
from tests.graph.samples import SAMPLES
from tests.graph.test_check import one
from tests.graph.test_step import OPTIMIZERS, prepared

TRAINED = [name for name, sample in SAMPLES.items() if sample.checked().trainable]


def batch_of(checked: graph.Checked, arrays: dict[str, Any], step: int) -> dict[str, Any]:
    """Another batch in each step, probabilities still within their interval."""
    return {name: np.roll(arrays[name], step, axis=0) for name in checked.graph.inputs}


def assert_same_steps(
    checked: graph.Checked, arrays: dict[str, Any], path: Path, optimizer: graph.Optimizer
) -> CapturedStep:
    """Three steps captured, and the same steps called one by one on the same library: bit by bit."""
    captured = CapturedStep(checked, Library(path, resident=True), arrays, optimizer, seed=3)
    run, state, held = graph.Run(checked, Library(path)), None, dict(arrays)
    for step in range(3):
        batch, lr = batch_of(checked, arrays, step), 0.1 / (step + 1)
        found = captured(batch, lr=lr)
        stepped = graph.train_step(run, held | batch, optimizer, state, seed=3, lr=lr)
        state, held = stepped.state, held | stepped.parameters
        for name, loss in stepped.forward.losses.items():
            np.testing.assert_array_equal(found[name].to_host(), loss)
    for name, array in captured.parameters().items():
        np.testing.assert_array_equal(array, held[name], name)
    assert captured.state().moments.keys() == state.moments.keys()
    for name, moments in captured.state().moments.items():
        for got, moment in zip(moments, state.moments[name], strict=True):
            np.testing.assert_array_equal(got, moment, name)
    assert captured.state().step == state.step == 3
    return captured


@pytest.mark.parametrize("name", TRAINED)
def test_every_kind_with_parameters(name: str, stub_path: Path) -> None:
    assert_same_steps(SAMPLES[name].checked(), SAMPLES[name].arrays(np.float32), stub_path, graph.Momentum())


def test_graphs_drawn_at_random(stub_path: Path) -> None:
    """Fan-out, shared parameters, values that lie where others did: bit by bit what uncaptured steps give."""
    reused = 0

    @settings(max_examples=100, derandomize=True, database=None, suppress_health_check=[*HealthCheck])
    @given(graphs())
    def agree(drawn: Drawn) -> None:
        nonlocal reused
        arrays = {n: a.astype(np.float32) if a.dtype.kind == "f" else a for n, a in drawn.arrays.items()}
        captured = assert_same_steps(drawn.checked, arrays, stub_path, graph.Adam(1e-3))
        assert captured.plan is not None
        reused += captured.plan.peak < captured.plan.apart

    agree()
    assert reused >= 50


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=str)
def test_every_optimiser(optimizer: graph.Optimizer, stub_path: Path) -> None:
    """Of a parameter that no loss depends on neither moves anything: its decay neither."""
    captured = assert_same_steps(*prepared(np.float32), stub_path, optimizer)
    np.testing.assert_array_equal(captured.parameters()["unread"], prepared(np.float32)[1]["unread"])


@pytest.mark.usefixtures("device_memory")
@pytest.mark.parametrize("name", ["dense", "conv2d", "dropout beside", "lstm", "batchnorm", "embedding"])
def test_on_memory_of_a_device(name: str, emulated_path: Path) -> None:
    """What the library itself captures, on arrays that lie where NumPy cannot read."""
    if name == "dropout beside":
        checked, arrays = dropped()
    else:
        checked, arrays = SAMPLES[name].checked(), SAMPLES[name].arrays(np.float32)
    captured = assert_same_steps(checked, arrays, emulated_path, graph.AdamW())
    assert captured.results["loss"].memory.space.on_device
    assert captured.launches_by_library
    assert captured.plan is not None
    assert captured.plan.bound <= captured.plan.peak


def dropped() -> tuple[graph.Checked, dict[str, Any]]:
    """Two dropouts behind a layer, one of them by a stream of its own."""
    records = [
        one("dense", "x", "h", "w b", units=6),
        one("dropout", "h", "d", rate=0.5),
        one("dropout", "d", "y", rate=0.25, stream=7),
        one("mse", "y t", "loss"),
    ]
    read = graph.read(records)
    shapes = {"x": (8, 5), "t": (8, 6)}
    checked = graph.check(read, shapes | graph.parameter_shapes(read, shapes))
    source = np.random.default_rng(1)
    return checked, {
        name: source.normal(size=checked.shapes[name]).astype(np.float32) for name in (*read.inputs, *read.parameters)
    }


def test_dropout_draws_anew_in_every_step(stub_path: Path) -> None:
    assert_same_steps(*dropped(), stub_path, graph.SGD())


def test_one_norm_clips(stub_path: Path) -> None:
    """The norm is that of all gradients, summed in another order: what moves is what the gradients times one factor
    do."""
    checked, arrays = dropped()
    library = Library(stub_path, resident=True)
    free = CapturedStep(checked, library, arrays, graph.SGD(1.0))
    clipped = CapturedStep(checked, library, arrays, graph.SGD(1.0), clip_norm=0.125)
    batch = batch_of(checked, arrays, 0)
    free(batch)
    clipped(batch)
    assert free.norm is None
    assert clipped.norm is not None
    norm = clipped.norm.to_host()
    gradients = {name: arrays[name] - free.parameters()[name] for name in checked.trainable}
    moved = {name: arrays[name] - clipped.parameters()[name] for name in checked.trainable}
    whole = np.sqrt(sum(float(np.sum(np.square(g, dtype=np.float64))) for g in gradients.values()))
    after = np.sqrt(sum(float(np.sum(np.square(g, dtype=np.float64))) for g in moved.values()))
    size, unit = sum(g.size for g in gradients.values()), float(np.finfo(np.float32).eps)
    largest = max(float(np.abs(arrays[name]).max()) for name in checked.trainable)
    # Each gradient comes back from a difference of parameters, off by no more than their last bit; the norm adds that
    # of each number, and as many roundings as numbers.
    allowed = unit * (largest * np.sqrt(size) + size * whole)
    assert whole > 0.125 + allowed
    assert abs(float(norm[0]) - whole) <= allowed
    assert abs(after - 0.125) <= allowed


def test_class_numbers_of_which_others_count_are_captured_anew(stub_path: Path) -> None:
    records = [one("dense", "x", "y", "w", units=5), one("softmax_cross_entropy", "y t", "loss", labels="index")]
    checked = graph.check(graph.read(records), {"x": (6, 4), "t": (6,), "w": (5, 4)})
    source = np.random.default_rng(2)
    arrays = {name: source.normal(size=checked.shapes[name]).astype(np.float32) for name in ("x", "w")}
    arrays["t"] = np.array([0, 4, 2, 1, 3, 0], np.int32)
    captured = CapturedStep(checked, Library(stub_path, resident=True), arrays, graph.SGD())
    run = graph.Run(checked, Library(stub_path))
    held = dict(arrays)
    for labels in ([0, 4, 2, 1, 3, 0], [0, -1, 2, -1, 3, 0], [-1] * 6, [1, 1, 1, 1, 1, 1]):
        batch = {"x": arrays["x"], "t": np.array(labels, np.int32)}
        captured(batch)
        held |= graph.train_step(run, held | batch, graph.SGD()).parameters
        np.testing.assert_array_equal(captured.parameters()["w"], held["w"])


def test_what_nobody_reads_is_not_computed(stub_path: Path) -> None:
    """The gradient of the images, and a value beside the loss; that of the layer between is read."""
    records = [
        one("conv2d", "x", "h", "k", filters=2, kernel=2),
        one("conv2d", "h", "y", "l", filters=2, kernel=2),
        one("tanh", "y", "beside"),
        one("mse", "y t", "loss"),
    ]
    shapes = {"x": (2, 2, 5, 5), "h": (2, 2, 4, 4), "t": (2, 2, 3, 3), "k": (2, 2, 2, 2), "l": (2, 2, 2, 2)}
    checked = graph.check(graph.read(records), {name: shapes[name] for name in "xtkl"})
    library = Library(stub_path, resident=True)
    arrays = {name: library.array(np.ones(shapes[name], np.float32)) for name in "xtkl"}
    noted = traced_pass(checked, library, arrays, lambda stream: arrays["x"], ["k", "l"], ["h"])
    calls = [call.operation for call in noted.trace.calls]
    assert calls.count("conv2d_backward_weight") == 2
    assert calls.count("conv2d_backward_input") == 1
    assert "tanh" not in calls
    kept = traced_pass(checked, library, arrays, lambda stream: arrays["x"], [], ["beside"])
    assert [call.operation for call in kept.trace.calls] == ["conv2d", "conv2d", "tanh", "mse_forward"]


def test_training_goes_on_from_a_state(stub_path: Path) -> None:
    checked, arrays = prepared(np.float32)
    library, optimizer = Library(stub_path, resident=True), graph.AdamW(0.01)
    batch = batch_of(checked, arrays, 0)
    whole = CapturedStep(checked, library, arrays, optimizer)
    for _ in range(4):
        whole(batch)
    first = CapturedStep(checked, library, arrays, optimizer)
    for _ in range(2):
        first(batch)
    second = CapturedStep(checked, library, batch | first.parameters(), optimizer, first.state())
    for _ in range(2):
        second(batch)
    assert second.step == 4
    for name, array in whole.parameters().items():
        np.testing.assert_array_equal(second.parameters()[name], array)
    with pytest.raises(graph.GraphError, match=r"CapturedStep: state: w: expected moments of the shapes \[\], got"):
        CapturedStep(checked, library, arrays, graph.SGD(), first.state())


def test_values_that_are_kept(stub_path: Path) -> None:
    checked, arrays = dropped()
    captured = CapturedStep(checked, Library(stub_path, resident=True), arrays, graph.SGD(), keep=["h"])
    forward = graph.Run(checked, Library(stub_path)).forward(arrays)
    np.testing.assert_array_equal(captured(batch_of(checked, arrays, 0))["h"].to_host(), forward.values["h"])
    assert {*captured.results} == {"loss", "h"}


def test_what_is_refused(stub_path: Path) -> None:
    checked, arrays = dropped()
    with pytest.raises(
        graph.GraphError, match=r"CapturedStep: library: expected one that was opened with resident=True"
    ):
        CapturedStep(checked, Library(stub_path), arrays, graph.SGD())
    library = Library(stub_path, resident=True)
    missing = {name: array for name, array in arrays.items() if name != "w"}
    with pytest.raises(graph.GraphError, match=r"CapturedStep: w: expected float32 of shape \(6, 5\), got none"):
        CapturedStep(checked, library, missing, graph.SGD())
    with pytest.raises(graph.GraphError, match="CapturedStep: keep: expected names of values, got w"):
        CapturedStep(checked, library, arrays, graph.SGD(), keep=["w"])
    with pytest.raises(graph.GraphError, match="CapturedStep: clip_norm: expected a number above 0, got 0"):
        CapturedStep(checked, library, arrays, graph.SGD(), clip_norm=0)
    captured = CapturedStep(checked, library, arrays, graph.SGD())
    with pytest.raises(graph.GraphError, match=r"CapturedStep: t: expected float32 of shape \(8, 6\), got none"):
        captured({"x": arrays["x"]})
    with pytest.raises(graph.GraphError, match=r"CapturedStep: t: expected float32 of shape \(8, 6\), got float64 of"):
        captured({"x": arrays["x"], "t": arrays["t"].astype(np.float64)})
    batch = {"x": arrays["x"], "t": arrays["t"]}
    with pytest.raises(graph.GraphError, match=r"CapturedStep: t: expected float32 of shape .*, got list"):
        captured(batch | {"t": arrays["t"].tolist()})
    with pytest.raises(graph.GraphError, match="CapturedStep: expected names of an input, got w"):
        captured(batch | {"w": arrays["w"]})
    with pytest.raises(graph.GraphError, match="CapturedStep: expected names of an input or a parameter, got v"):
        CapturedStep(checked, library, arrays | {"v": arrays["w"]}, graph.SGD())
    with pytest.raises(graph.GraphError, match="CapturedStep: lr: expected a number of 0 or more, got nan"):
        captured(batch, lr=float("nan"))
    assert captured.plan is None
    assert captured.step == 0


def test_moments_of_what_no_loss_depends_on_stay(stub_path: Path) -> None:
    records = [
        {"kind": "dense", "inputs": ["x"], "parameters": ["w"], "output": "y", "units": 3},
        {"kind": "mse", "inputs": ["y", "t"], "output": "loss"},
        {"kind": "dense", "inputs": ["x"], "parameters": ["unread"], "output": "beside", "units": 2},
    ]
    shapes = {"x": (2, 4), "t": (2, 3), "w": (3, 4), "unread": (2, 4)}
    checked = graph.check(graph.read(records), shapes)
    arrays = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
    state = graph.State(5, {name: (7 * arrays[name],) for name in ("w", "unread")})
    captured = CapturedStep(checked, Library(stub_path, resident=True), arrays, graph.Momentum(0.1), state)
    captured({"x": arrays["x"], "t": arrays["t"]})
    after = captured.state().moments
    np.testing.assert_array_equal(after["unread"][0], 7 * arrays["unread"])
    assert (after["w"][0] != 7).all()
