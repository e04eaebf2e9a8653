"""Forward and backward of whole graphs: gradients added up, passes, what is refused; and the C library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import graph
import reference
from bindings import Library
from conformance.limits.noise import FLOAT32
from graph.kinds import backward_of_record, forward_of_record, philox_of
from graph.kinds.context import Context
from reference import random
from tests.graph.drawn import Drawn, graphs
from tests.graph.limits import noisy, results, shares
from tests.graph.samples import SAMPLES
from tests.graph.test_check import CHAIN, one

SHAPES = {"x": (2, 3), "t": (2, 3)}


def numbers(checked: graph.Checked, dtype: Any = np.float64) -> dict[str, Any]:
    names = (*checked.graph.inputs, *checked.graph.parameters)
    return {n: random.normal(random.stream("run", n), checked.shapes[n]).astype(dtype) for n in names}


def run_of(records: list[dict[str, Any]], **shapes: tuple[int, ...]) -> tuple[graph.Run, dict[str, Any]]:
    checked = graph.check(graph.read(records), SHAPES | shapes)
    return graph.Run(checked, reference), numbers(checked)


def test_gradients_of_a_value_used_twice_are_added() -> None:
    """A residual: y = x + tanh(x), whose gradient is that of the sum's both ways."""
    run, arrays = run_of([one("tanh", "x", "h"), one("add", "x h", "y"), one("mse", "y t", "loss")])
    backward = run.backward(run.forward(arrays))
    x = arrays["x"]
    d_y = (x + np.tanh(x) - arrays["t"]) * (2.0 / x.size)
    np.testing.assert_array_equal(backward.values["y"], d_y)
    through = reference.tanh_backward(np.tanh(x), d_y)
    np.testing.assert_array_equal(backward.values["x"], d_y + through)


def test_gradients_of_a_parameter_used_twice_are_added() -> None:
    once = [one("add_bias", "x", "a", "p"), one("add_bias", "a", "b", "q"), one("mse", "b t", "loss")]
    twice = [one("add_bias", "x", "a", "p"), one("add_bias", "a", "b", "p"), one("mse", "b t", "loss")]
    run, arrays = run_of(once, p=(3,), q=(3,))
    arrays["q"] = arrays["p"]
    apart = run.backward(run.forward(arrays)).parameters
    run, _ = run_of(twice, p=(3,))
    arrays.pop("q")
    shared = run.backward(run.forward(arrays)).parameters
    np.testing.assert_array_equal(shared["p"], apart["p"] + apart["q"])


def test_losses_are_summed_by_their_weights() -> None:
    records = [one("relu", "x", "h"), one("mse", "h t", "a", weight=0.25), one("bce_logits", "h t", "b", weight=2.0)]
    run, arrays = run_of(records)
    forward = run.forward(arrays)
    assert {*forward.losses} == {"a", "b"}
    assert forward.loss == 0.25 * forward.losses["a"][0] + 2.0 * forward.losses["b"][0]
    parts = [run_of([records[0], record])[0] for record in records[1:]]
    whole = run.backward(forward).values["h"]
    each = [part.backward(part.forward(arrays)).values["h"] for part in parts]
    np.testing.assert_array_equal(whole, each[1] + each[0])


def test_what_no_loss_depends_on_has_no_gradient() -> None:
    run, arrays = run_of([*CHAIN, one("add_bias", "h", "y", "p")], p=(3,))
    backward = run.backward(run.forward(arrays))
    assert backward.parameters == {"p": None}
    assert {*backward.values} == {"x", "h"}
    assert run.checked.contributing == {"x", "h"}


def test_a_pass_without_losses_needs_no_labels() -> None:
    run, arrays = run_of(CHAIN)
    forward = run.forward({"x": arrays["x"]}, training=False, losses=False)
    assert {*forward.values} == {"x", "h"}
    assert forward.losses == {}


def test_evaluation_drops_nothing_and_uses_running_statistics() -> None:
    records = [one("batchnorm", "x", "h", "w b m v"), one("dropout", "h", "y", rate=0.5), one("mse", "y t", "loss")]
    run, arrays = run_of(records, w=(3,), b=(3,), m=(3,), v=(3,))
    arrays["v"] = np.abs(arrays["v"])
    forward = run.forward(arrays, training=False)
    assert forward.values["y"] is forward.values["h"]
    assert forward.state == {}
    x, w, b, m, v = (arrays[name] for name in ("x", "w", "b", "m", "v"))
    expected = reference.batchnorm_evaluation(x[:, :, None], w, b, m, v, 1e-5)[:, :, 0]
    np.testing.assert_array_equal(forward.values["h"], expected)
    trained = run.forward(arrays)
    assert {*trained.state} == {"m", "v"}
    assert (run.forward(arrays, seed=1).values["y"] != trained.values["y"]).any()
    assert (run.forward(arrays, step=1).values["y"] != trained.values["y"]).any()


def test_no_two_records_draw_alike() -> None:
    drawn = {tuple(philox_of(seed, step, stream)) for seed in range(3) for step in range(3) for stream in range(3)}
    assert len(drawn) == 27
    records = [one("dropout", "x", name, rate=0.5) for name in ("a", "b")]
    run, arrays = run_of([*records, one("mse", "x t", "loss")], x=(40, 3), t=(40, 3))
    values = run.forward(arrays).values
    assert (values["a"] != values["b"]).any()


REFUSED = {
    "missing": (lambda a: {"x": a["x"]}, "run: t: expected an array of shape (2, 3), got none"),
    "unknown": (
        lambda a: a | {"z": a["x"]},
        "run: z: expected the name of an input or a parameter, got an unknown one",
    ),
    "a list": (lambda a: a | {"t": [1.0]}, "run: t: expected an array of shape (2, 3), got list"),
    "shape": (lambda a: a | {"t": a["t"][:1]}, "run: t: expected shape (2, 3), got (1, 3)"),
    "type": (lambda a: a | {"t": np.zeros((2, 3), np.int32)}, "run: t: expected floating-point numbers, got int32"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_said_of_wrong_arrays(what: str) -> None:
    change, said = REFUSED[what]
    run, arrays = run_of(CHAIN)
    with pytest.raises(graph.GraphError) as error:
        run.forward(change(arrays))
    assert str(error.value) == said


def test_what_is_said_of_a_backward_pass_that_cannot_be() -> None:
    run, arrays = run_of(CHAIN)
    with pytest.raises(graph.GraphError, match="backward: expected a forward pass with a loss, got one without"):
        run.backward(run.forward(arrays, losses=False))
    with pytest.raises(graph.GraphError, match="backward: expected a forward pass with training=True, got one with"):
        run.backward(run.forward(arrays, training=False))
    shapes = dict.fromkeys("wbmv", (3,)) | dict.fromkeys("xt", (1, 3))
    run, arrays = run_of([one("batchnorm", "x", "h", "w b m v"), one("mse", "h t", "loss")], **shapes)
    with pytest.raises(graph.GraphError, match=r"record 0 \(batchnorm -> h\): input: expected more than one number"):
        run.forward(arrays)


@pytest.mark.parametrize("name", SAMPLES)
def test_one_record_alone_is_what_it_is_in_the_graph(name: str) -> None:
    """Forward and backward of each record from its own arrays: what a judge of one record calls."""
    checked, arrays = SAMPLES[name].checked(), SAMPLES[name].arrays()
    run = graph.Run(checked, reference)
    forward = run.forward(arrays, seed=3)
    backward = run.backward(forward)
    for number, record in enumerate(checked.graph.records):
        inputs, parameters = [forward.values[n] for n in record.inputs], [arrays[n] for n in record.parameters]
        context = Context(seed=3, number=number)
        output, _ = forward_of_record(reference, record, inputs, parameters, context)
        np.testing.assert_array_equal(output, forward.values[record.output])
        d_output = backward.values.get(record.output)
        _, d_parameters = backward_of_record(reference, record, inputs, parameters, d_output, context, output)
        for parameter, gradient in zip(record.parameters, d_parameters, strict=True):
            if gradient is not None:
                np.testing.assert_array_equal(gradient, backward.parameters[parameter])


@pytest.mark.parametrize("resident", [False, True])
@pytest.mark.parametrize("name", SAMPLES)
def test_every_kind_on_the_c_library(name: str, resident: bool, stub: Library) -> None:
    checked, arrays = SAMPLES[name].checked(), SAMPLES[name].arrays(np.float32)
    assert_within_the_noise(checked, arrays, Library(stub.path, resident=True) if resident else stub)


@pytest.mark.usefixtures("device_memory")
@pytest.mark.parametrize("name", SAMPLES)
def test_every_kind_on_memory_of_a_device(name: str, emulated_path: Path) -> None:
    """Arrays stay there between records: NumPy could read none of them."""
    library = Library(emulated_path, resident=True)
    assert library.facts.on_device
    assert_within_the_noise(SAMPLES[name].checked(), SAMPLES[name].arrays(np.float32), library)


def assert_within_the_noise(checked: graph.Checked, arrays: dict[str, Any], library: Library) -> None:
    before = {name: array.copy() for name, array in arrays.items()}
    given = {name: library.array(array.copy()) for name, array in arrays.items()} if library.resident else arrays
    got = results(graph.Run(checked, library), given, seed=3)
    plain = {name: array.to_host() if library.resident else array for name, array in got.items()}
    found = shares(noisy(checked, arrays, 3, FLOAT32), plain, both_err=False)
    assert max(found.values()) <= 1, found
    for name, array in given.items():  # nothing that is given is written to
        np.testing.assert_array_equal(array.to_host() if library.resident else array, before[name])


class Assigns(graph.Run):
    """A run whose gradients are assigned where they should be added."""

    def _accumulate(self, into: dict[str, Any], name: str, gradient: Any) -> None:
        if gradient is not None:
            into[name] = gradient


def test_the_comparison_finds_gradients_that_are_assigned(stub: Library) -> None:
    checked, arrays = SAMPLES["add of one value"].checked(), SAMPLES["add of one value"].arrays(np.float32)
    found = shares(noisy(checked, arrays, 3, FLOAT32), results(Assigns(checked, stub), arrays, 3), both_err=False)
    assert {name for name, share in found.items() if share > 1} == {"d x"}


@pytest.mark.slow
def test_graphs_drawn_at_random_on_the_c_library(stub: Library) -> None:
    met = 0

    @settings(max_examples=200, derandomize=True, database=None, suppress_health_check=[*HealthCheck])
    @given(graphs())
    def agree(drawn: Drawn) -> None:
        nonlocal met
        arrays = {n: a.astype(np.float32) if a.dtype.kind == "f" else a for n, a in drawn.arrays.items()}
        assert_within_the_noise(drawn.checked, arrays, stub)
        met += 1

    agree()
    assert met >= 200
