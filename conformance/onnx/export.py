"""Writes goldens as ONNX node tests: a folder for each, with model, inputs, outputs and limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations
from conformance.catalogue.goldens import FOLDER, file_of, golden_ids, tensors
from conformance.ids import operation_of
from graph.onnx_import.package import onnx
from graph.onnx_import.refused import NotApplicableError

from .graph import Graph
from .operators import OPERATORS

_DATA = "test_data_set_0"  # where a node test's arrays lie
_NO_OPERATOR = "ONNX has no operator of it"
LIMITS = "limits.safetensors"


def folder_of(id: str) -> str:
    """The name of a case's folder: rmsnorm/plain/2x33x1e-06 is test_rmsnorm-plain-2x33x1e-06."""
    return "test_" + file_of(id).removesuffix(".safetensors").replace("/", "-")


def export(folder: Path, chosen: Sequence[str]) -> tuple[int, Counter[tuple[str, str]]]:
    """Write every golden of these operations; return how many, and why others were left: operation and reason.

    folder: a new one, or one that is empty.  Raises FileExistsError for another, OnnxMissingError, GoldenError.
    """
    onnx()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder}: expected a new folder or an empty one, got one that holds something")
    written, left = 0, Counter[tuple[str, str]]()
    for id in golden_ids():
        operation = operation_of(id)
        if operation not in chosen:
            continue
        try:
            _write(folder / folder_of(id), operation, tensors.read(FOLDER / file_of(id)))
            written += 1
        except NotApplicableError as error:
            left[operation, str(error)] += 1
    return written, left


def _write(folder: Path, operation: str, held: tensors.Tensors) -> None:
    if operation not in OPERATORS:
        raise NotApplicableError(_NO_OPERATOR)
    function = operations.OPERATIONS[operation]
    graph = Graph(tensors.stored_arguments(function, held))
    OPERATORS[operation](graph)
    due = _results(operation, held)
    model = graph.model(due)
    (folder / _DATA).mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    _write_arrays(folder / _DATA, "input", graph.inputs)
    _write_arrays(folder / _DATA, "output", {f"output.{name}": due[name] for name in graph.results})
    names = [name for name in held if name.partition(".")[0] not in {"input", "argument"}]
    tensors.write(folder / LIMITS, {name: held[name] for name in names})


def _results(operation: str, held: tensors.Tensors) -> dict[str, NDArray[Any]]:
    """What is expected, each number rounded to the type that is declared."""
    with np.errstate(over="ignore"):
        return {
            p.name: held[f"expected.{p.name}"].astype(p.type.dtype)
            for p in operations.written_arrays(operations.OPERATIONS[operation])
        }


def _write_arrays(folder: Path, kind: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    for place, (name, array) in enumerate(arrays.items()):
        proto = onnx().numpy_helper.from_array(np.ascontiguousarray(array), name)
        (folder / f"{kind}_{place}.pb").write_bytes(proto.SerializeToString())
