"""What an import has, and what it has not."""

from __future__ import annotations

from collections.abc import Iterator

from .importing import BUILDS
from .package import onnx

# Of operators that are imported, what is refused: by name, as the errors say it.
REFUSED: dict[str, tuple[str, ...]] = {
    "Add": ("a constant that differs along another axis than the last", "values of several shapes"),
    "Sub": ("a value taken from a constant", "values of several shapes"),
    "Mul": ("a constant of several numbers", "values of several shapes"),
    "Div": ("a value", "a constant of several numbers"),
    "Swish": ("alpha other than 1",),
    "Softmax": ("another axis than the last",),
    "Dropout": ("the mask as a result",),
    "Gemm": ("transA", "a second factor that is computed", "an addend with a row per sample"),
    "MatMul": ("a second factor that is no matrix",),
    "Conv": ("other than planes", "auto_pad SAME", "more padding on one side", "a weight that is computed"),
    "MaxPool": ("other than planes", "ceil_mode", "dilations", "auto_pad SAME", "more padding on one side", "places"),
    "AveragePool": ("other than planes", "ceil_mode", "dilations", "auto_pad SAME", "more padding on one side"),
    "GlobalAveragePool": ("other than planes",),
    "BatchNormalization": ("training_mode",),
    "LayerNormalization": ("more axes than the last", "statistics as results"),
    "SoftmaxCrossEntropyLoss": (
        "reduction sum or none",
        "weights",
        "ignore_index 0 or more",
        "more axes than two",
    ),
    **dict.fromkeys(
        ("RNN", "LSTM", "GRU"), ("reverse, bidirectional", "clip", "sequence_lens", "constant states but 0")
    ),
    "Cast": ("whole numbers as others", "others as whole", "to a short type"),
    "Flatten": ("another axis than 1",),
    "Reshape": ("a shape that is computed, or has another batch",),
    "Transpose": ("what no recurrent operator asks for",),
    "Slice": ("another axis than time", "steps other than 1"),
    "Concat": ("another axis than time",),
    "Split": ("another axis than time",),
    "Gather": ("several steps", "another axis than a table's first, or time"),
}
REFUSED["LSTM"] += ("peepholes", "input_forget", "Y_c", "other activations")
REFUSED["GRU"] += ("linear_before_reset 0", "other activations")
REFUSED["RNN"] += ("activations but Tanh and Relu",)


def imported() -> Iterator[str]:
    """Yield a line for each operator that is imported: what of it is refused."""
    for operator in sorted(BUILDS):
        said = "; ".join(REFUSED.get(operator, ()))
        yield f"{operator} (refused: {said})" if said else operator


def not_imported() -> list[str]:
    """Return the operators that ONNX has and the graph has not, deprecated ones left out.

    Where all that a node reads is constant, any of them is computed before.  Raises OnnxMissingError.
    """
    schemas = onnx().defs.get_all_schemas()
    there = {each.name for each in schemas if each.domain == "" and not each.deprecated}
    return sorted(there - {*BUILDS, "Constant", "Shape"})
