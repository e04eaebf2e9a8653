"""A model of ONNX as a graph: its nodes become records, its constants parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.errors import GraphError, refuse
from graph.reading import Graph, make

from . import elementwise, layers, recurrent, shaping
from .builder import Builder
from .folding import fold
from .node import Node, nodes
from .package import onnx
from .refused import NotApplicableError
from .views import Shape

BUILDS: Mapping[str, Callable[[Builder, Node], None]] = {
    **elementwise.BUILDS,
    **layers.BUILDS,
    **recurrent.BUILDS,
    **shaping.BUILDS,
}
OLDEST = 13  # of opsets: before it softmax, slices and others meant something else
_FLOATS = ("float32", "float64")


@dataclass(frozen=True)
class Imported:
    """A model in the graph's terms.

    shapes: of the inputs that are read; parameters: arrays by name; outputs: by the model's name of each the value that
    it is.  Where the model takes int64 indices, the graph takes int32.
    """

    graph: Graph
    shapes: dict[str, Shape]
    parameters: dict[str, NDArray[Any]]
    outputs: dict[str, str]


def import_onnx(source: Any, shapes: Mapping[str, Shape] | None = None) -> Imported:
    """Return the graph of a model.

    source: a path, the bytes of a file, or an onnx.ModelProto; shapes: of inputs, which the model need not tell.
    Raises OnnxMissingError without the package onnx, and GraphError that names the first node that the graph has no
    kind for, or an input whose shape nobody tells.
    """
    model = _model(source)
    held = {each.name: onnx().numpy_helper.to_array(each) for each in model.graph.initializer}
    _check_types(held)
    given, integers = _inputs(model, held, shapes or {})
    if (opset := _opset(model)) < OLDEST:
        raise refuse("import_onnx", f"a model of opset {OLDEST} or newer", opset)
    builder = Builder(held, given, integers)
    for node in nodes(model):
        _import(builder, node, opset)
    outputs = {value.name: _output(builder, value.name) for value in model.graph.output}
    made = make(builder.records)
    return Imported(made, {name: given[name] for name in made.inputs}, builder.parameters, outputs)


def _model(source: Any) -> Any:
    package = onnx()
    try:
        model = package.load(source) if isinstance(source, str | Path) else source
        model = package.load_from_string(model) if isinstance(model, bytes) else model
    except Exception as error:  # protobuf's own, which is no part of what onnx exports
        if isinstance(error, OSError):
            raise
        raise GraphError(f"expected an ONNX model, got what is none: {error}") from error
    if not isinstance(model, package.ModelProto) or not model.graph.output:
        raise refuse("import_onnx", "a path, bytes or an onnx.ModelProto with an output", type(source).__name__)
    return model


def _opset(model: Any) -> int:
    return int(next((each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), 1))


def _check_types(held: Mapping[str, NDArray[Any]]) -> None:
    for name, array in held.items():
        if array.dtype.kind not in "iub" and array.dtype.name not in _FLOATS:
            raise refuse(name, f"numbers of {' or '.join(_FLOATS)}, or whole ones", array.dtype.name)


def _inputs(
    model: Any, held: Mapping[str, Any], shapes: Mapping[str, Shape]
) -> tuple[dict[str, Shape], frozenset[str]]:
    """The inputs' shapes, and which of them hold whole numbers."""
    found, integers = dict[str, Shape](), set[str]()
    for value in model.graph.input:
        if value.name in held:  # before version 4 constants were inputs too
            continue
        tensor = value.type.tensor_type
        told = tuple(d.dim_value or d.dim_param or "?" for d in tensor.shape.dim)
        found[value.name] = _shape(value.name, told, shapes)
        kind = np.dtype(onnx().helper.tensor_dtype_to_np_dtype(tensor.elem_type))
        if kind.kind not in "iu" and kind.name not in _FLOATS:
            raise refuse(value.name, f"numbers of {' or '.join(_FLOATS)}, or whole ones", kind.name)
        integers |= {value.name} if kind.kind in "iu" else set()
    for name in shapes:
        if name not in found:
            raise refuse("import_onnx: shapes", f"names of inputs ({', '.join(found)})", name)
    return found, frozenset(integers)


def _shape(name: str, told: tuple[Any, ...], shapes: Mapping[str, Shape]) -> Shape:
    if name not in shapes:
        if any(isinstance(n, str) for n in told):
            lengths = ", ".join(map(str, told))
            raise refuse(name, "a shape for import_onnx, for the model leaves it open", f"({lengths})")
        return told
    given = tuple(int(n) for n in shapes[name])
    if len(given) != len(told) or any(n not in (m, 0) and isinstance(m, int) for n, m in zip(given, told, strict=True)):
        raise refuse(name, f"a shape like the model's ({', '.join(map(str, told))})", given)
    return given


def _import(builder: Builder, node: Node, opset: int) -> None:
    """Raises GraphError that names the node."""
    try:
        if fold(builder, node, opset):
            return
        if node.operator not in BUILDS:
            raise NotApplicableError("the graph has no kind for this operator")
        BUILDS[node.operator](builder, node)
    except (ValueError, LookupError) as error:  # GraphError too, and what comes of a node that breaks ONNX's own rules
        raise GraphError(f"{node}: {error}") from error


def _output(builder: Builder, name: str) -> str:
    try:
        return builder.value(name)
    except NotApplicableError as error:
        raise GraphError(f"output {name}: {error}") from error
