"""The node cases of the package `onnx` that are of operations: what they say of the reference, and of a library.

A case's own outputs are judged as a candidate's are, by the limits of the reference; so are those of the library.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations
from conformance.judging.outputs import judge_outputs
from conformance.limits.expectation import Expected, expect
from conformance.variants.honest import Implementation, of_library
from graph.onnx_import.package import onnx
from graph.onnx_import.refused import NotApplicableError

from .shared import SHARED, Call, Node

REFERENCE = "the reference"


@dataclass(frozen=True)
class NodeCase:
    """What came of a node case.  operation: "" where none applies, and `reason` says why.  failure: "" if it passed."""

    name: str
    operator: str
    operation: str = ""
    reason: str = ""
    failure: str = ""


def judge_node_cases(library: Path | None = None) -> list[NodeCase]:
    """Judge all node cases of shared operators, in the order of their names.  Raises OnnxMissingError."""
    candidate = of_library(library) if library else None
    return sorted((_judged(*case, candidate) for case in _cases()), key=lambda case: (case.operator, case.name))


def _cases() -> Iterator[tuple[str, Any, Any]]:
    """Each case's name, model and arrays; only models of one node, of an operator that is shared."""
    onnx()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of numbers that its cases are made to overflow
        cases = importlib.import_module("onnx.backend.test.loader").load_model_tests(kind="node")
    for case in cases:
        nodes = case.model.graph.node
        if len(nodes) == 1 and nodes[0].op_type in SHARED:
            yield case.name, case.model, case.data_sets[0]


def _judged(name: str, model: Any, arrays: Any, candidate: Implementation | None) -> NodeCase:
    [node] = model.graph.node
    try:
        call = SHARED[node.op_type](_read(model, arrays))
    except NotApplicableError as error:
        return NodeCase(name, node.op_type, reason=str(error))
    arguments = operations.typed(operations.OPERATIONS[call.operation], call.arguments)
    expected = _those_due(call, expect(call.operation, arguments))
    failure = _failure(REFERENCE, call, arguments, expected, _typed(call))
    if not failure and candidate:
        got = _those_due(call, candidate.call(call.operation, arguments))
        failure = _failure("the library", call, arguments, expected, got)
    return NodeCase(name, node.op_type, call.operation, failure=failure)


def _those_due(call: Call, outputs: Mapping[str, Any]) -> dict[str, Any]:
    """What the test speaks of, of whole outputs."""
    return {name: call.part(value) for name, value in outputs.items() if name in call.due}


def _read(model: Any, arrays: Any) -> Node:
    """The one node of a model; an input that is left out has no name."""
    [node] = model.graph.node
    held = dict(zip((value.name for value in model.graph.input), arrays[0], strict=True))
    attributes = {each.name: onnx().helper.get_attribute_value(each) for each in node.attribute}
    given = [np.asarray(held[name]) if name else None for name in node.input]
    due = dict(zip((value.name for value in model.graph.output), arrays[1], strict=True))
    return Node(attributes, given, [np.asarray(due[name]) for name in node.output if name])


def _typed(call: Call) -> dict[str, NDArray[Any]]:
    """What the case expects, whole numbers in the header's type."""
    by_name = operations.OPERATIONS[call.operation].by_name
    return {name: np.asarray(array, by_name[name].type.dtype) for name, array in call.due.items()}


def _failure(
    who: str, call: Call, arguments: Mapping[str, Any], expected: Expected, got: Mapping[str, NDArray[Any]]
) -> str:
    """What is wrong with outputs, and with whose; nothing if they are right."""
    for verdict in judge_outputs(call.operation, arguments, expected, got):
        if not verdict.passed:
            return f"{who}: {verdict.output}: {verdict.reason}"
    return ""
