"""What is imported computes what onnxruntime computes of the model, within what honest float32 errs by."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graph
from bindings import Library
from conformance.limits.namespaces import OnNumbers
from conformance.limits.noise import exact, using
from graph.onnx_import import BUILDS, Imported, import_onnx
from reference.namespace import Ops
from tests.graph.limits import FLOAT32, shares

from .models import MODELS, Model

pytest.importorskip("onnx", reason="nox -s oracle installs it")
onnxruntime = pytest.importorskip("onnxruntime", reason="nox -s oracle installs it")
Arrays = dict[str, Any]


def evaluated(imported: Imported, arrays: Arrays, ops: Ops, kind: Any = np.asarray) -> Arrays:
    """The model's outputs; kind: of number."""
    shapes = imported.shapes | {name: array.shape for name, array in imported.parameters.items()}
    checked = graph.check(imported.graph, shapes)
    given = {name: kind(array) if array.dtype.kind == "f" else array for name, array in arrays.items()}
    given |= {name: kind(array) for name, array in imported.parameters.items()}
    forward = graph.Run(checked, ops).forward(given, training=False)
    return {name: forward.values[value] for name, value in imported.outputs.items()}


@pytest.mark.parametrize("name", MODELS)
def test_an_imported_model_computes_what_onnxruntime_does(name: str, stub_path: Path) -> None:
    model = Model(name)
    proto = model.proto(*MODELS[name](model))
    imported = import_onnx(proto.SerializeToString())
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    theirs = dict(zip((o.name for o in session.get_outputs()), session.run(None, model.inputs), strict=True))
    arrays = {n: a.astype(np.int32) if a.dtype.kind == "i" else a for n, a in model.inputs.items()}
    with using(FLOAT32):
        expected = evaluated(imported, arrays, OnNumbers(exact), exact)
    ours = evaluated(imported, arrays, Library(stub_path))
    assert ours.keys() == theirs.keys()
    theirs = {n: np.reshape(a, expected[n].shape) if expected[n].size == 1 else a for n, a in theirs.items()}
    for who, got in (("onnxruntime", theirs), ("the C library", ours)):
        assert max(shares(expected, got, both_err=False).values()) <= 1, who


def test_every_operator_that_is_imported_is_tried() -> None:
    used = set()
    for name, make in MODELS.items():
        make(model := Model(name))
        used |= {node.op_type for node in model.nodes}
    assert {*BUILDS} - used == {"Swish"}  # which onnxruntime has not


def test_without_the_batch_s_length_a_graph_runs_on_any(tmp_path: Path) -> None:
    model = Model("lstm")
    proto = model.proto(*MODELS["lstm"](model))
    for value in proto.graph.input:
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    with pytest.raises(graph.GraphError, match=r"h: expected a shape for import_onnx.*got \(batch, 6\)"):
        import_onnx(tmp_path / "model.onnx")
    imported = import_onnx(tmp_path / "model.onnx", {"x": (3, 5, 4), "h": (3, 6), "c": (3, 6)})
    shapes = {"x": (8, 5, 4), "h": (8, 6), "c": (8, 6)} | {n: a.shape for n, a in imported.parameters.items()}
    checked = graph.check(imported.graph, shapes)
    assert checked.shapes[imported.outputs["transpose_5"]] == (8, 5, 6)


def exported(name: str) -> tuple[Any, Any]:
    """A module of PyTorch and its samples."""
    nn = pytest.importorskip("torch", reason="nox -s oracle installs it").nn
    torch = pytest.importorskip("torch")

    class Last(nn.Module):  # type: ignore[misc, name-defined]
        """The last step of a recurrent layer, classified."""

        def __init__(self, layer: Any) -> None:
            super().__init__()
            self.layer, self.head = layer, nn.Linear(6, 3)

        def forward(self, x: Any) -> Any:
            return self.head(self.layer(x)[0][:, -1])

    torch.manual_seed(0)
    planes = [nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout()]
    made = {
        "planes": (lambda: nn.Sequential(*planes, nn.Linear(36, 5), nn.GELU(), nn.LayerNorm(5)), (3, 2, 6, 6)),
        "LSTM": (lambda: Last(nn.LSTM(4, 6, num_layers=2, batch_first=True)), (3, 5, 4)),
        "GRU": (lambda: Last(nn.GRU(4, 6, batch_first=True)), (3, 5, 4)),
        "RNN": (lambda: Last(nn.RNN(4, 6, nonlinearity="relu", batch_first=True)), (3, 5, 4)),
    }
    make, shape = made[name]
    return make().eval(), torch.randn(shape)


@pytest.mark.filterwarnings("ignore")  # PyTorch's exporter warns of itself
@pytest.mark.parametrize("name", ["planes", "LSTM", "GRU", "RNN"])
def test_what_pytorch_exports_computes_what_pytorch_does(name: str, stub_path: Path) -> None:
    module, x = exported(name)
    torch, file = pytest.importorskip("torch"), io.BytesIO()
    torch.onnx.export(module, (x,), file, dynamo=False, opset_version=20, input_names=["x"], output_names=["y"])
    imported = import_onnx(file.getvalue())
    with using(FLOAT32):
        expected = evaluated(imported, {"x": x.numpy()}, OnNumbers(exact), exact)
    with torch.no_grad():
        theirs = {"y": module(x).numpy()}
    ours = evaluated(imported, {"x": x.numpy()}, Library(stub_path))
    for who, got in (("PyTorch", theirs), ("the C library", ours)):
        assert max(shares(expected, got, both_err=False).values()) <= 1, who
