"""Goldens become ONNX node tests, which a runtime can be judged by."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from conformance.catalogue.goldens import FOLDER, file_of, tensors
from conformance.commands.cli import main
from conformance.exit_codes import HARNESS
from conformance.onnx.export import LIMITS, export, folder_of
from conformance.onnx.operators import OPERATORS
from conformance.operations import OPERATIONS

ROOT = Path(__file__).parents[3]
ID = "rmsnorm/plain/2x33x1e-06"
HAS_ONNX = "nox -s oracle installs it"


def test_operators_are_of_operations_of_the_header() -> None:
    assert OPERATORS.keys() <= OPERATIONS.keys()
    assert len(OPERATORS) >= 25


def test_without_the_package_the_command_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert main(["onnx", str(tmp_path / "tests")]) == HARNESS
    assert "pip install 'kernel-assayer[onnx]'" in capsys.readouterr().err
    assert not (tmp_path / "tests").exists()


def test_a_folder_and_node_cases_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["tests", "--node-cases"], ["tests", "--library", "x.so"]):
        with pytest.raises(SystemExit):
            main(["onnx", *words])
        assert "expected DIR, or --node-cases" in capsys.readouterr().err


def test_a_test_holds_the_golden_s_arrays_and_its_limits(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason=HAS_ONNX)
    assert export(tmp_path, ["rmsnorm"])[0] == len([*(FOLDER / "rmsnorm").rglob("*.safetensors")])
    folder, held = tmp_path / folder_of(ID), tensors.read(FOLDER / file_of(ID))
    model = onnx.load(folder / "model.onnx")
    assert [node.op_type for node in model.graph.node] == ["RMSNormalization"]
    for kind, values in (("input", model.graph.input), ("output", model.graph.output)):
        for place, value in enumerate(values):
            proto = onnx.TensorProto.FromString((folder / "test_data_set_0" / f"{kind}_{place}.pb").read_bytes())
            name = value.name.replace("output.", "expected.")
            assert proto.name == value.name
            assert np.array_equal(onnx.numpy_helper.to_array(proto), held[name].astype(np.float32))
    limits = tensors.read(folder / LIMITS)
    assert {*limits} == {name for name in held if name.startswith(("expected.", "sigma.", "worst.", "shared."))}
    assert all(np.array_equal(limits[name], held[name]) for name in limits)


def test_nothing_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnx", reason=HAS_ONNX)
    (tmp_path / "kept").write_text("mine", encoding="utf-8")
    assert main(["onnx", str(tmp_path), "-o", "add"]) == HARNESS
    assert "expected a new folder or an empty one" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_what_onnx_has_no_operator_for_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnx", reason=HAS_ONNX)
    assert main(["onnx", str(tmp_path), "-o", "scatter_add,expert_sort"]) == 0
    said = capsys.readouterr().out
    assert "not written: 1 of scatter_add: a negative index: ONNX counts it from the end" in said
    assert "of expert_sort: ONNX has no operator of it" in said
    assert main(["onnx", str(tmp_path / "none"), "-o", "expert_sort"]) == HARNESS


def test_a_runtime_is_judged_by_what_it_makes_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxruntime", reason=HAS_ONNX)
    path = ROOT / "examples/onnx/run_node_tests.py"
    spec = importlib.util.spec_from_file_location("run_node_tests", path)
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    convolutions = "conv2d,conv2d_backward_input,conv2d_backward_bias"
    chosen = f"{convolutions},softmax,rmsnorm_residual,gemm_beta,rope_qk,flash_attention,embedding,softmax_topk"
    assert main(["onnx", str(tmp_path / "tests"), "-o", f"{chosen},rnn_forward"]) == 0
    script.main(tmp_path / "tests", tmp_path / "results")
    written = ["-o", chosen, "-k", "not nan"]  # which is the largest beside a NaN ONNX leaves open
    assert main(["run", "-n", "1", "--outputs", str(tmp_path / "results"), *written]) == 0, capsys.readouterr().out
    layers = ["-o", "rnn_forward", "-k", "not special"]  # a ReLU of NaN ONNX leaves open
    assert main(["run", "-n", "1", "--outputs", str(tmp_path / "results"), *layers]) == 0, capsys.readouterr().out
