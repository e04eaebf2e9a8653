"""Runs exported node tests by ONNX Runtime, and writes what comes out as files that `assayer run --outputs` judges.

`python -m conformance onnx node_tests && python examples/onnx/run_node_tests.py node_tests results`
"""

from __future__ import annotations

import sys
from pathlib import Path

import onnx
import onnxruntime
from onnx import numpy_helper
from safetensors.numpy import save_file


def inputs_of(folder: Path) -> dict:
    """The arrays that a test gives, by the names of the model's inputs."""
    protos = (
        onnx.TensorProto.FromString(path.read_bytes()) for path in (folder / "test_data_set_0").glob("input_*.pb")
    )
    return {proto.name: numpy_helper.to_array(proto) for proto in protos}


def results_of(folder: Path) -> dict:
    """What the runtime makes of them, by the names of the model's outputs."""
    session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs_of(folder)), strict=True))


def main(tests: Path, results: Path) -> None:
    """One file for each test: test_rmsnorm-plain-2x33x1e-06 is rmsnorm/plain/2x33x1e-06.safetensors."""
    for folder in sorted(tests.glob("test_*")):
        operation, data, name = folder.name.removeprefix("test_").split("-", 2)
        try:
            made = results_of(folder)
        except Exception as error:  # such as an operator that the runtime has not in this type
            print(f"not run: {folder.name}: {str(error).splitlines()[0]}")
            continue
        path = results / operation / data / f"{name}.safetensors"
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file(made, path)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
