"""ONNX's own node cases, of the operators that are shared, hold of the reference and of the C build."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from conformance.onnx import node_cases
from conformance.onnx.graph import NotApplicableError
from conformance.onnx.node_cases import NodeCase, judge_node_cases
from conformance.onnx.shared import SHARED, Call, Node
from conformance.onnx.table import lines

F32 = np.float32
ROWS = np.arange(24, dtype=F32).reshape(2, 3, 4)


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
