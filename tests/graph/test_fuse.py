"""Fused records: which become one, which must not, and that the result is the same within the noise."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import graph
import reference
from tests.graph.drawn import Drawn, graphs
from tests.graph.limits import FLOAT64, noisy, results, shares
from tests.graph.samples import drawn
from tests.graph.test_check import one

MATMUL, BIAS = one("matmul", "x", "p", "w", units=4), one("add_bias", "p", "h", "b")
FUSED: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "matmul, bias": ([MATMUL, BIAS, one("mse", "h t", "loss")], ["dense", "mse"]),
    "matmul, bias, activation": (
        [MATMUL, BIAS, one("gelu", "h", "y", form="tanh"), one("mse", "y t", "loss")],
        ["dense", "mse"],
    ),
    "matmul, activation": (
        [MATMUL, one("leaky_relu", "p", "y", alpha=0.3), one("mse", "y t", "loss")],
        ["dense", "mse"],
    ),
    "dense, bias, activation": (
        [one("dense", "x", "p", "w", units=4), BIAS, one("elu", "h", "y"), one("mse", "y t", "loss")],
        ["dense", "mse"],
    ),
    "softmax and its loss": (
        [
            MATMUL,
            one("softmax", "p", "q", temperature=2.5),
            one("categorical_cross_entropy", "q t", "loss", weight=0.5),
        ],
        ["matmul", "softmax_cross_entropy"],
    ),
    "sigmoid and its loss": (
        [MATMUL, BIAS, one("sigmoid", "h", "q"), one("bce", "q t", "loss", weight=0.5)],
        ["dense", "bce_logits"],
    ),
    "a product that two read": (
        [MATMUL, BIAS, one("add", "p h", "y"), one("mse", "y t", "loss")],
        ["matmul", "add_bias", "add", "mse"],
    ),
    "a product with a value": (
        [one("matmul", "x z", "p"), BIAS, one("mse", "h t", "loss")],
        ["matmul", "add_bias", "mse"],
    ),
    "a weight stored in x out": (
        [one("matmul", "x", "p", "w", units=4, transposed=False), BIAS, one("mse", "h t", "loss")],
        ["matmul", "add_bias", "mse"],
    ),
    "a second activation": (
        [MATMUL, one("relu", "p", "h"), one("tanh", "h", "y"), one("mse", "y t", "loss")],
        ["dense", "tanh", "mse"],
    ),
    "a second bias": (
        [MATMUL, BIAS, one("add_bias", "h", "y", "c"), one("mse", "y t", "loss")],
        ["dense", "add_bias", "mse"],
    ),
    "probabilities that two read": (
        [one("softmax", "x", "q"), one("categorical_cross_entropy", "q t", "loss"), one("mse", "q t", "beside")],
        ["softmax", "categorical_cross_entropy", "mse"],
    ),
    "a dropout between": (
        [MATMUL, BIAS, one("dropout", "h", "d", rate=0.5), one("relu", "d", "y"), one("mse", "y t", "loss")],
        ["dense", "dropout", "relu", "mse"],
    ),
}


@pytest.mark.parametrize("what", FUSED)
def test_what_is_fused(what: str) -> None:
    records, kinds = FUSED[what]
    read = graph.read(records)
    fused = graph.fuse(read)
    assert [record.kind for record in fused.records] == kinds
    shapes = {
        name: {"x": (3, 5), "z": (4, 5)}.get(name, (3, 5 if kinds[0] == "softmax" else 4)) for name in read.inputs
    }
    shapes |= graph.parameter_shapes(read, shapes)
    checked = graph.check(read, shapes)
    assert_same(checked, graph.check(fused, shapes), drawn(checked, {}, positive=("t",)))


def assert_same(before: graph.Checked, after: graph.Checked, arrays: dict[str, Any]) -> None:
    """Both give the same, each within the noise of float64; errors of both count."""
    expected = noisy(after, arrays, 3, FLOAT64)
    got = results(graph.Run(before, reference), arrays, 3)
    other = noisy(before, arrays, 3, FLOAT64)
    assert {*before.graph.parameters} == {*after.graph.parameters}
    assert {f"d {name}" for name in before.trainable if f"d {name}" in got} <= expected.keys()
    for name in expected:
        either = expected[name].replaced(
            variance=expected[name].variance + other[name].variance,
            shared=expected[name].shared + other[name].shared,
            worst=expected[name].worst + other[name].worst,
        )
        found = shares({name: either}, {name: got[name]}, both_err=False)
        assert max(found.values()) <= 1, found


def test_values_that_are_to_be_kept() -> None:
    read = graph.read([MATMUL, BIAS, one("relu", "h", "y")])
    kinds = [[record.kind for record in graph.fuse(read, keep=keep).records] for keep in ([], ["p"], ["h"])]
    assert kinds == [["dense"], ["matmul", "add_bias", "relu"], ["dense", "relu"]]
    with pytest.raises(graph.GraphError, match="fuse: keep: expected names of values, got q"):
        graph.fuse(read, keep=["q"])


def test_dropout_draws_what_it_drew() -> None:
    records = FUSED["a dropout between"][0]
    read = graph.read(records)
    (stream,) = (record.attributes["stream"] for record in graph.fuse(read).records if record.kind == "dropout")
    assert stream == 2
    assert graph.fuse(graph.fuse(read)) == graph.fuse(read)


def test_graphs_drawn_at_random() -> None:
    """Many have nothing to fuse; what is fused in the others computes the same."""
    changed = 0

    @settings(max_examples=100, derandomize=True, database=None, suppress_health_check=[*HealthCheck])
    @given(graphs())
    def agree(found: Drawn) -> None:
        nonlocal changed
        fused = graph.fuse(found.checked.graph)
        shapes = {name: found.checked.shapes[name] for name in (*fused.inputs, *fused.parameters)}
        if len(fused.records) < len(found.checked.graph.records):
            changed += 1
            assert_same(found.checked, graph.check(fused, shapes), found.arrays)

    agree()
    assert changed >= 10


def test_the_comparison_finds_a_lost_temperature() -> None:
    records = FUSED["softmax and its loss"][0]
    before = graph.read(records)
    after = graph.read([MATMUL, one("softmax_cross_entropy", "p t", "loss", weight=0.5)])
    shapes = {"x": (3, 5), "t": (3, 4), "w": (4, 5)}
    checked = graph.check(before, shapes)
    with pytest.raises(AssertionError):
        assert_same(checked, graph.check(after, shapes), drawn(checked, {}, positive=("t",)))
