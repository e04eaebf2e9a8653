"""The kinds of records there are, by name; and one record alone, forward and backward."""

from __future__ import annotations

from graph.records import Record
from reference.arrays import Array
from reference.namespace import Ops

from .activations import ELU, GELU, Dropout, LeakyReLU, ReLU, Sigmoid, SiLU, Softmax, Tanh, stream_of
from .context import Context, philox_of
from .elementwise import Add, AddBias, AddColumn, Mul, Scale
from .kind import Arrays, Gradients, Kind, Names, Result
from .losses import BCE, MSE, BCELogits, CategoricalCrossEntropy, SoftmaxCrossEntropy
from .norms import BatchNorm, LayerNorm
from .planes import AvgPool2D, Conv2D, MaxPool2D
from .products import ACTIVATIONS, Dense, MatMul
from .recurrent import GRU, LSTM, RNN
from .sequence import ConcatSteps, Flatten, Reshape, SliceSteps
from .tables import Embedding

_ALL: tuple[Kind, ...] = (
    Dense(),
    MatMul(),
    AddBias(),
    AddColumn(),
    Add(),
    Mul(),
    Scale(),
    ReLU(),
    LeakyReLU(),
    ELU(),
    Sigmoid(),
    Tanh(),
    GELU(),
    SiLU(),
    Softmax(),
    Dropout(),
    Conv2D(),
    MaxPool2D(),
    AvgPool2D(),
    Flatten(),
    Reshape(),
    SliceSteps(),
    ConcatSteps(),
    RNN(),
    LSTM(),
    GRU(),
    LayerNorm(),
    BatchNorm(),
    Embedding(),
    MSE(),
    BCE(),
    BCELogits(),
    CategoricalCrossEntropy(),
    SoftmaxCrossEntropy(),
)
KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}

__all__ = [
    "ACTIVATIONS",
    "KINDS",
    "Context",
    "Kind",
    "Names",
    "backward_of_record",
    "forward_of_record",
    "philox_of",
    "stream_of",
]


def forward_of_record(ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
    """The output of one record, and what its backward needs beside it."""
    return KINDS[record.kind].forward(ops, record, inputs, parameters, context)


def backward_of_record(
    ops: Ops,
    record: Record,
    inputs: Arrays,
    parameters: Arrays,
    d_output: Array | None,
    context: Context,
    output: Array | None = None,
) -> Gradients:
    """The gradients of one record's inputs and of its parameters, from these arrays alone.

    d_output: the gradient of its output, None for a loss. What its backward reads of the forward pass is computed anew,
    but for the output where one is given.
    """
    kind = KINDS[record.kind]
    found, saved = kind.forward(ops, record, inputs, parameters, context)
    return kind.backward(ops, record, inputs, parameters, found if output is None else output, saved, d_output, context)
