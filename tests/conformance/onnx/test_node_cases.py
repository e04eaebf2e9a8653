"""ONNX's own node cases, of the operators that are shared, hold of the reference and of the C build."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.onnx import node_cases
from conformance.onnx.graph import NotApplicableError
from conformance.onnx.node_cases import NodeCase, judge_node_cases
from conformance.onnx.shared import SHARED, Call, Node
from conformance.onnx.table import lines

F32 = np.float32
ROWS = np.arange(24, dtype=F32).reshape(2, 3, 4)


@pytest.mark.slow
def test_all_cases_that_apply_pass(stub_path: Path) -> None:
    pytest.importorskip("onnx", reason="nox -s oracle installs it")
    found = judge_node_cases(stub_path)
    assert [case for case in found if case.failure] == []
    applied = {case.operator for case in found if case.operation}
    assert len(applied) >= 10
    assert all(case.reason for case in found if not case.operation)
    assert [*lines(found)][-1].startswith(f"{sum(bool(case.operation) for case in found)} passed, 0 failed")


@pytest.mark.parametrize("wrong", [False, True])
def test_a_case_whose_outputs_are_wrong_fails(wrong: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.array([1, 2], F32)
    call = Call("add", {"a": x, "b": x}, {"output": x * 2 + F32(wrong)})
    monkeypatch.setitem(node_cases.SHARED, "Add", lambda node: call)  # type: ignore[index]
    [node] = made = [type("Node", (), {"op_type": "Add"})()]
    monkeypatch.setattr(node_cases, "_read", lambda model, arrays: node)
    graph = type("Graph", (), {"node": made})()
    monkeypatch.setattr(node_cases, "_cases", lambda: [("test_add", type("Model", (), {"graph": graph})(), None)])
    [case] = judge_node_cases()
    assert (case.operation, bool(case.failure)) == ("add", wrong)
    assert case.failure.startswith(node_cases.REFERENCE) is wrong


def node(*inputs: object, due: object = ROWS, **attributes: object) -> Node:
    return Node(attributes, [None if x is None else np.asarray(x) for x in inputs], [np.asarray(due)])


def test_rows_lie_along_the_axis() -> None:
    call = SHARED["Softmax"](node(ROWS, axis=1))
    assert call.arguments["input"].shape == (8, 3)
    assert call.arguments["input"][1].tolist() == ROWS[0, :, 1].tolist()
    assert np.array_equal(call.arguments["input"], call.due["output"])


def test_gemm_s_c_is_spread_over_all_rows_and_its_transposes_choose_the_operation() -> None:
    a, b, c = np.ones((3, 2), F32), np.ones((4, 3), F32), np.arange(4, dtype=F32)
    call = SHARED["Gemm"](node(a, b, c, due=np.zeros((2, 4), F32), transA=1, transB=1, beta=0.5))
    assert call.operation == "gemm_tt"
    assert call.arguments["C"].tolist() == [[0, 1, 2, 3]] * 2
    assert call.arguments["beta"] == 0.5
    assert SHARED["Gemm"](node(a.T, b.T, due=np.zeros((2, 4), F32))).arguments["beta"] == 0


@pytest.mark.parametrize("c", [np.arange(4, dtype=F32), np.arange(4, dtype=F32)[None]])
def test_a_product_with_a_row_added_as_it_is_is_a_dense_layer(c: Any) -> None:
    a, b, due = np.ones((2, 3), F32), np.arange(12, dtype=F32).reshape(3, 4), np.zeros((2, 4), F32)
    for call in (SHARED["Gemm"](node(a, b, c, due=due)), SHARED["Gemm"](node(a, b.T, c, due=due, transB=1))):
        assert call.operation == "dense"
        assert call.arguments["weight"].tolist() == b.T.tolist()
        assert call.arguments["bias"].tolist() == [0, 1, 2, 3]
    assert SHARED["Gemm"](node(a, b, c, due=due, alpha=0.5)).operation == "gemm_nn"
    assert SHARED["Gemm"](node(a.T, b, c, due=due, transA=1)).operation == "gemm_tn"


def test_what_is_added_is_a_row_a_column_or_of_one_shape() -> None:
    a = np.ones((2, 3), F32)
    operations = {(3,): "add_row", (2, 1): "add_column", (2, 3): "add", (1, 1): "add"}
    for shape, operation in operations.items():
        assert SHARED["Add"](node(a, np.ones(shape, F32), due=a)).operation == operation


def test_targets_that_are_ignored_become_negative() -> None:
    scores, labels = np.zeros((2, 5, 3), F32), np.array([[0, 4, 2], [4, 1, 3]])
    call = SHARED["SoftmaxCrossEntropyLoss"](node(scores, labels, due=F32(1), ignore_index=4))
    assert call.arguments["targets"].tolist() == [0, -1, 2, -1, 1, 3]
    assert call.arguments["logits"].shape == (6, 5)


@pytest.mark.parametrize(
    ("operator", "made", "reason"),
    [
        ("Add", lambda: node(np.ones(2), np.ones(2), due=np.ones(2)), "float64"),
        ("Add", lambda: node([1], [2], due=[3]), "whole numbers"),
        ("Swish", lambda: node(F32(1), due=F32(1), alpha=2.0), "alpha"),
        ("ArgMax", lambda: node(ROWS, select_last_index=1), "the last of equals"),
        ("Gather", lambda: node(ROWS, [-1]), "from the end"),
        ("Attention", lambda: node(ROWS, ROWS, ROWS), "not causal"),
        ("Adam", lambda: node(F32(1)), "eps"),
    ],
)
def test_what_does_not_apply_says_why(operator: str, made: Callable[[], Node], reason: str) -> None:
    with pytest.raises(NotApplicableError, match=reason):
        SHARED[operator](made())


def test_the_table_counts_and_names_failures() -> None:
    cases = [
        NodeCase("test_a", "Add", "add"),
        NodeCase("test_b", "Add", "add", failure="the library: output: wrong"),
        NodeCase("test_c", "TopK", reason="another"),
    ]
    said = [*lines(cases)]
    assert said[1].split() == ["Add", "add", "1", "1"]
    assert said[2].strip() == "FAIL test_b: the library: output: wrong"
    assert said[-2:] == ["not applicable: 1 of TopK: another", "1 passed, 1 failed, 1 not applicable"]


@pytest.mark.parametrize(("mode", "nesterov"), [(b"standard", 0), (b"nesterov", 1)])
def test_a_first_gradient_is_never_dampened(mode: bytes, nesterov: int) -> None:
    given = [np.float32(0.5), np.int64(0), *(np.full(3, x, F32) for x in (1, 2, 3))]
    settings = {"mode": mode, "alpha": 0.75, "beta": 0.25, "norm_coefficient": 0.125}
    due = [np.zeros(3, F32), np.zeros(3, F32)]
    call = SHARED["Momentum"](Node(settings, given, due))
    expected = {"lr": 0.5, "momentum": 0.75, "weight_decay": 0.125, "nesterov": nesterov}
    assert {name: call.arguments[name] for name in expected} == expected
    with pytest.raises(NotApplicableError, match="dampened"):
        SHARED["Momentum"](Node(settings, [given[0], np.int64(1), *given[2:]], due))
    with pytest.raises(NotApplicableError, match="several parameters"):
        SHARED["Momentum"](Node(settings, [*given, *given[2:]], due))


# ---- recurrent layers --------------------------------------------------------------------------------------------
def recurrent(gates: int, states: int = 1, **attributes: object) -> Node:
    """Two steps of three samples, four numbers in and two of a state; weights whose rows say where they stood."""
    rows = np.arange(gates * 2, dtype=F32)[None, :, None]
    given = [np.zeros((2, 3, 4), F32), rows + np.zeros((1, 1, 4), F32), rows + np.zeros((1, 1, 2), F32)]
    bias = np.concatenate([rows[..., 0], 100 + rows[..., 0]], axis=1)
    due = [np.full((1, 3, 2), place, F32) for place in range(states)]
    return Node(attributes, [*given, bias], due)


@pytest.mark.parametrize(
    ("operator", "gates", "order"), [("RNN", 1, [0]), ("LSTM", 4, [0, 2, 3, 1]), ("GRU", 3, [1, 0, 2])]
)
def test_gates_stand_as_the_header_has_them(operator: str, gates: int, order: list[int]) -> None:
    call = SHARED[operator](recurrent(gates, linear_before_reset=1))
    rows = [2 * gate + place for gate in order for place in (0, 1)]
    assert call.arguments["w_x"][:, 0].tolist() == call.arguments["w_h"][:, 0].tolist() == rows
    assert call.arguments["input"].shape == (3, 2, 4)
    biases = [call.arguments[name] for name in ("b_x", "b_h")] if operator == "GRU" else [call.arguments["bias"]]
    shares = [rows, [100 + row for row in rows]] if operator == "GRU" else [[100 + 2 * row for row in rows]]
    assert [bias.tolist() for bias in biases] == shares


def test_of_the_last_step_the_last_step_is_compared() -> None:
    call = SHARED["LSTM"](recurrent(4, states=2))
    assert [(name, due[0, 0].item()) for name, due in call.due.items()] == [("output", 0.0), ("cells", 1.0)]
    assert call.part(np.arange(24).reshape(3, 4, 2)).tolist() == [[6, 7], [14, 15], [22, 23]]


def test_in_reverse_the_steps_are_turned() -> None:
    x = np.arange(6, dtype=F32).reshape(3, 1, 2)
    given = [x, np.ones((1, 1, 2), F32), np.ones((1, 1, 1), F32)]
    call = SHARED["RNN"](Node({"direction": b"reverse"}, given, [np.arange(3, dtype=F32).reshape(3, 1, 1, 1)]))
    assert call.arguments["input"].tolist() == [[[4, 5], [2, 3], [0, 1]]]
    assert call.due["output"].ravel().tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("operator", "gates", "attributes", "reason"),
    [
        ("RNN", 1, {"direction": b"bidirectional"}, "both directions"),
        ("RNN", 1, {"activations": [b"Sigmoid"]}, "another function"),
        ("LSTM", 4, {"clip": 3.0}, "clipped"),
        ("LSTM", 4, {"activations": [b"Tanh"] * 3}, "other functions"),
        ("GRU", 3, {}, "the reset gate before the product"),
    ],
)
def test_recurrent_nodes_that_do_not_apply_say_why(
    operator: str, gates: int, attributes: dict[str, object], reason: str
) -> None:
    with pytest.raises(NotApplicableError, match=reason):
        SHARED[operator](recurrent(gates, **attributes))
