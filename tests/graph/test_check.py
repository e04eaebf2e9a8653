"""Order and shapes: what fits together, and what is said where something does not."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import graph
import reference
from graph.attributes import REQUIRED
from graph.kinds import KINDS

Records = list[dict[str, Any]]


def one(kind: str, inputs: str, output: str, parameters: str = "", **attributes: Any) -> dict[str, Any]:
    """A record whose names are given as words."""
    return {"kind": kind, "inputs": inputs.split(), "parameters": parameters.split(), "output": output, **attributes}


CHAIN = [one("relu", "x", "h"), one("mse", "h t", "loss")]
WRONG: dict[str, tuple[Records, dict[str, Any], str]] = {
    "cycle": (
        [one("add", "x c", "a"), one("relu", "a", "b"), one("tanh", "b", "c"), one("relu", "c", "y")],
        {"x": (2, 3)},
        "cycle: record 0 (add -> a), record 1 (relu -> b), record 2 (tanh -> c) read each other's values in a circle",
    ),
    "a record that reads itself": (
        [one("add", "x y", "y")],
        {"x": (2, 3)},
        "cycle: record 0 (add -> y) read each other's values in a circle",
    ),
    "written twice": (
        [one("relu", "x", "y"), one("tanh", "x", "y")],
        {"x": (2, 3)},
        "record 1 (tanh -> y): output y: expected a value written once, got one that record 0 (relu -> y) writes too",
    ),
    "a parameter read as a value": (
        [one("add_bias", "x", "h", "b"), one("add", "h b", "y")],
        {"x": (2, 3), "b": (3,)},
        "b: expected an input or a parameter, got a name of both",
    ),
    "a parameter written": (
        [one("add_bias", "x", "h", "b"), one("relu", "h", "b")],
        {"x": (2, 3), "b": (3,)},
        "record 1 (relu -> b): output b: expected a name of its own, got that of a parameter",
    ),
    "a loss read": (
        [*CHAIN, one("relu", "loss", "y")],
        {"x": (2, 3), "t": (2, 3)},
        "record 2 (relu -> y): input loss: "
        "expected a value that is no loss; losses are summed by their weights, got a loss",
    ),
    "other shapes": (
        CHAIN,
        {"x": (2, 3), "t": (2, 4)},
        "record 1 (mse -> loss): label t: expected the shape of h, (2, 3), got (2, 4)",
    ),
    "no shape": (CHAIN, {"x": (2, 3)}, "input t: expected its shape, got none"),
    "no shape of a parameter": (
        [one("dense", "x", "y", "w", units=4)],
        {"x": (2, 3)},
        "record 0 (dense -> y): parameter w: expected its shape, (4, 3), got none",
    ),
    "wrong shape of a parameter": (
        [one("dense", "x", "y", "w b")],
        {"x": (2, 3), "w": (4, 5), "b": (4,)},
        "record 0 (dense -> y): parameter w: expected shape (any, 3), got (4, 5)",
    ),
    "bias of another size": (
        [one("dense", "x", "y", "w b")],
        {"x": (2, 3), "w": (4, 3), "b": (5,)},
        "record 0 (dense -> y): parameter b: expected shape (4,), got (5,)",
    ),
    "an unused parameter": (
        CHAIN,
        {"x": (2, 3), "t": (2, 3), "w": (3, 3)},
        "w: expected the name of an input or a parameter, got one that no record reads",
    ),
    "no shape at all": (CHAIN, {"x": (2, 0), "t": (2, 3)}, "x: shape: expected lengths of 1 or more, got (2, 0)"),
    "too few axes": (
        [one("conv2d", "x", "y", "w", kernel=3)],
        {"x": (2, 3), "w": (4, 3, 3, 3)},
        "record 0 (conv2d -> y): input: expected shape (batch, channels, height, width), got (2, 3)",
    ),
    "a kernel that does not fit": (
        [one("conv2d", "x", "y", "w", kernel=3, dilation=2)],
        {"x": (2, 3, 4, 9), "w": (4, 3, 3, 3)},
        "record 0 (conv2d -> y): input: expected a padded height of 5 at least, as the kernel spans, got 4",
    ),
    "channels that do not divide": (
        [one("conv2d", "x", "y", "w", kernel=1, groups=2)],
        {"x": (2, 3, 4, 9), "w": (4, 1, 1, 1)},
        "record 0 (conv2d -> y): attribute groups: expected a divisor of 3 channels, got 2",
    ),
    "steps past the end": (
        [one("slice_steps", "x", "y", first=2, count=2)],
        {"x": (2, 3, 4)},
        "record 0 (slice_steps -> y): attributes first + count: expected at most 3 steps, got 4",
    ),
    "other steps than stated": (
        [one("rnn", "x", "y", "w u", hidden=2, bias=False, steps=4)],
        {"x": (2, 3, 4), "w": (2, 4), "u": (2, 2)},
        "record 0 (rnn -> y): input: expected 4 steps, as the record's attribute says, got 3",
    ),
    "a shape of another size": (
        [one("reshape", "x", "y", shape=[0, 2])],
        {"x": (2, 3)},
        "record 0 (reshape -> y): attribute shape: expected one of 6 numbers, as (2, 3) has, got (0, 2)",
    ),
    "softmax over another axis": (
        [one("softmax", "x", "y", axis=0)],
        {"x": (2, 3)},
        "record 0 (softmax -> y): attribute axis: expected -1 or 1, the last of two or more, got 0 of shape (2, 3)",
    ),
    "class numbers read as numbers": (
        [one("relu", "i", "h"), one("embedding", "i", "y", "w")],
        {"i": (2, 3), "w": (4, 5)},
        "i: expected either numbers or class numbers (int32), got a value read as both",
    ),
    "statistics that are trained": (
        [one("batchnorm", "x", "y", "w b b v")],
        {"x": (2, 3), "w": (3,), "b": (3,), "v": (3,)},
        "parameter b: expected one that is trained or running statistics, got both",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_said_of_a_graph_that_does_not_fit(what: str) -> None:
    records, shapes, said = WRONG[what]
    with pytest.raises(graph.GraphError) as error:
        graph.check(graph.read(records), shapes)
    assert str(error.value) == said


def test_one_array_for_both_statistics_is_not_trained() -> None:
    shapes = {"x": (2, 3), "w": (3,), "b": (3,), "s": (3,)}
    run = graph.Run(graph.check(graph.read([one("batchnorm", "x", "y", "w b s s")]), shapes), reference)
    arrays = {name: np.ones(shape) for name, shape in shapes.items()}
    run.forward(arrays, training=False)
    said = r"record 0 \(batchnorm -> y\): parameters: expected a running mean and another running variance, got s"
    for trained in (run.check_training, lambda: run.forward(arrays)):
        with pytest.raises(graph.GraphError, match=said):
            trained()


def test_an_unknown_name() -> None:
    read = graph.read({"records": CHAIN, "inputs": ["x"]})
    with pytest.raises(graph.GraphError) as error:
        graph.check(read, {"x": (2, 3), "t": (2, 3)})
    expected = "expected an input of the graph or a value that a record writes, got an unknown name"
    assert str(error.value) == f"record 1 (mse -> loss): input t: {expected}"
    read = graph.read({"records": CHAIN, "inputs": ["x", "t", "z"]})
    with pytest.raises(graph.GraphError, match="input z: expected one that a record reads, got one that none does"):
        graph.check(read, {"x": (2, 3), "t": (2, 3), "z": (1,)})


def test_records_stand_in_any_order() -> None:
    read = graph.read([one("mse", "y t", "loss"), one("tanh", "h", "y"), one("relu", "x", "h")])
    checked = graph.check(read, {"x": (2, 3), "t": (2, 3)})
    assert checked.order == (2, 1, 0)
    assert checked.shapes == {"x": (2, 3), "t": (2, 3), "h": (2, 3), "y": (2, 3), "loss": (1,)}
    assert checked.losses == (0,)


def test_the_given_order_is_kept_where_it_is_one() -> None:
    read = graph.read([one("relu", "x", "a"), one("tanh", "x", "b"), one("add", "b a", "c")])
    assert graph.check(read, {"x": (2, 3)}).order == (0, 1, 2)


def test_parameter_shapes() -> None:
    records = [
        one("conv2d", "x", "h", "k c", filters=6, kernel=(3, 2), groups=2),
        one("flatten", "h", "f"),
        one("dense", "f", "y", "w b", units=3),
    ]
    found = graph.parameter_shapes(graph.read(records), {"x": (5, 4, 8, 8)})
    assert found == {"k": (6, 2, 3, 2), "c": (6,), "w": (3, 6 * 6 * 7), "b": (3,)}
    with pytest.raises(graph.GraphError) as error:
        graph.parameter_shapes(graph.read([one("dense", "x", "y", "w")]), {"x": (2, 3)})
    said = "record 0 (dense -> y): parameter w: expected a shape that attributes tell, got (any, 3)"
    assert str(error.value) == said
    shared = [one("dense", "x", "h", "w", units=4), one("dense", "h", "y", "w", units=4)]
    with pytest.raises(
        graph.GraphError, match=r"record 1 \(dense -> y\): parameter w: expected shape \(4, 4\), got \(4, 3\)"
    ):
        graph.parameter_shapes(graph.read(shared), {"x": (2, 3)})
    with pytest.raises(graph.GraphError, match="z: expected the name of an input or a parameter, got one that no rec"):
        graph.parameter_shapes(graph.read(shared[:1]), {"x": (2, 3), "z": (2, 3)})


def test_ten_thousand_records_are_checked_within_a_second() -> None:
    """Of processor time, one record after the other in a chain: nothing calls itself, nothing is looked for twice."""
    records = [one("relu", "v0", "v1")]
    records += [one("add", f"v{n} v{n // 2}", f"v{n + 1}") for n in range(1, 10_000)]
    read = graph.read(records[::-1])
    start = time.process_time()
    checked = graph.check(read, {"v0": (2, 3)})
    took = time.process_time() - start
    assert len(checked.order) == 10_000
    assert checked.order == tuple(range(9_999, -1, -1))
    assert took < 1, f"{took:.2f} s"


def test_every_kind_says_what_it_takes() -> None:
    for name, kind in KINDS.items():
        assert kind.name == name
        assert type(kind).__doc__
        assert all(
            a.default is REQUIRED or a.default is None or a.read("", a.default) == a.default for a in kind.attributes
        )
