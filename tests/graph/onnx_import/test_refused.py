"""What an import cannot have is named, with its node; and the list of what it has."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from graph import GraphError
from graph.onnx_import import BUILDS, OnnxMissingError, import_onnx, imported, not_imported
from graph.onnx_import.listing import REFUSED

from .models import HIDDEN, Model


def test_without_the_package_an_import_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "onnx":
            raise ImportError("no module named onnx")
        return real(name, *args, **named)

    monkeypatch.setattr("importlib.import_module", lambda name: without(name))
    with pytest.raises(OnnxMissingError, match=r"pip install 'kernel-assayer\[onnx\]'"):
        import_onnx("model.onnx")


def test_the_list_has_every_operator_once() -> None:
    said = list(imported())
    assert [line.partition(" (refused: ")[0] for line in said] == sorted(BUILDS)
    assert REFUSED.keys() <= BUILDS.keys()


def test_the_list_of_others_has_what_onnx_has_besides() -> None:
    pytest.importorskip("onnx", reason="nox -s oracle installs it")
    others = not_imported()
    assert {"Einsum", "ScatterND", "Loop"} <= {*others}
    assert not {*others} & {*BUILDS}


def gemm(m: Model) -> str:
    return m.node("Gemm", m.given("x", 4, 3), m.held("w", 4, 3), transA=1)


def einsum(m: Model) -> str:
    return m.node("Einsum", m.given("x", 4, 3), equation="ij->ji")


def column(m: Model) -> str:
    return m.node("Add", m.given("x", 4, 3), m.held("column", 4, 1))


def same(m: Model) -> str:
    return m.node("Conv", m.given("x", 1, 1, 4, 4), m.held("w", 1, 1, 3, 3), auto_pad="SAME_UPPER")


def uneven(m: Model) -> str:
    return m.node("MaxPool", m.given("x", 1, 1, 4, 4), kernel_shape=[2, 2], pads=[0, 0, 1, 1])


def trained(m: Model) -> str:
    return m.node("BatchNormalization", m.given("x", 2, 3), *(m.held(n, 3) for n in "abcd"), training_mode=1)


def backwards(m: Model) -> str:
    weights = m.held("w", 2, HIDDEN, 3), m.held("r", 2, HIDDEN, HIDDEN)
    return m.node("RNN", m.given("x", 5, 2, 3), *weights, hidden_size=HIDDEN, direction="bidirectional")


def steps_first(m: Model) -> str:
    weights = m.held("w", 1, HIDDEN, 3), m.held("r", 1, HIDDEN, HIDDEN)
    return m.node("RNN", m.given("x", 5, 2, 3), *weights, hidden_size=HIDDEN)


def reset_before(m: Model) -> str:
    x = m.node("Transpose", m.given("x", 2, 5, 3), perm=[1, 0, 2])
    weights = m.held("w", 1, 3 * HIDDEN, 3), m.held("r", 1, 3 * HIDDEN, HIDDEN)
    return m.node("GRU", x, *weights, hidden_size=HIDDEN)


def turned(m: Model) -> str:
    return m.node("Relu", m.node("Flatten", m.node("Transpose", m.given("x", 2, 3, 4), perm=[0, 2, 1])))


def other_batch(m: Model) -> str:
    return m.node("Reshape", m.given("x", 4, 6), m.held("shape", array=np.int64([8, 3])))


def as_whole(m: Model) -> str:
    return m.node("Cast", m.given("x", 4, 6), to=7)


def broken(m: Model) -> str:
    return m.node("Add", m.given("x", 2, 3), m.held("five", 5))


def unfoldable(m: Model) -> str:
    return m.node("MatMul", m.held("a", 2, 3), m.held("b", 2, 3))


def every_second(m: Model) -> str:
    bounds = [m.held(n, array=np.int64([v])) for n, v in (("from", 0), ("to", 5), ("axis", 1), ("by", 2))]
    return m.node("Slice", m.given("x", 2, 5, 3), *bounds)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (gemm, r"node 0 \(Gemm -> gemm_0\): the first factor transposed"),
        (einsum, r"node 0 \(Einsum -> einsum_0\): the graph has no kind for this operator"),
        (column, "a constant that differs along another axis than the last"),
        (same, "padding that follows from the sizes"),
        (uneven, "more padding on one side"),
        (trained, "its running variance is not that of a sample"),
        (backwards, "backwards, or both ways"),
        (steps_first, r"node 0 \(RNN -> rnn_0\): axes in another order"),
        (reset_before, r"node 1 \(GRU -> gru_1\): the reset gate before the product"),
        (turned, r"node 1 \(Flatten -> flatten_1\): axes in another order"),
        (other_batch, "a shape with another batch"),
        (as_whole, "whole numbers as others, others as whole numbers"),
        (broken, r"node 0 \(Add -> add_0\): .*broadcast"),
        (unfoldable, r"node 0 \(MatMul -> matmul_0\): it cannot be computed of its constants"),
        (every_second, "steps left out or in reverse"),
    ],
)
def test_what_the_graph_has_not_is_named(make: Callable[[Model], str], said: str) -> None:
    pytest.importorskip("onnx", reason="nox -s oracle installs it")
    model = Model("refused")
    with pytest.raises(GraphError, match=said):
        import_onnx(model.proto(make(model)))


def test_what_is_no_model_is_refused(tmp_path: Any) -> None:
    pytest.importorskip("onnx", reason="nox -s oracle installs it")
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(GraphError, match="expected an ONNX model"):
        import_onnx(tmp_path / "model.onnx")
    with pytest.raises(GraphError, match=r"expected a path, bytes or an onnx.ModelProto with an output, got int"):
        import_onnx(3)
    model = Model("old")
    old = model.proto(model.node("Relu", model.given("x", 2, 3)))
    old.opset_import[0].version = 12
    with pytest.raises(GraphError, match="expected a model of opset 13 or newer, got 12"):
        import_onnx(old)
    model = Model("shapes")
    proto = model.proto(model.node("Relu", model.given("x", 2, 3)))
    with pytest.raises(GraphError, match=r"expected names of inputs \(x\), got y"):
        import_onnx(proto, {"y": (2, 3)})
    with pytest.raises(GraphError, match=r"x: expected a shape like the model's \(2, 3\), got \(4, 3\)"):
        import_onnx(proto, {"x": (4, 3)})
