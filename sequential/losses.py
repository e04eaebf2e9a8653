"""Losses by Keras' names: what a label must be, and the record that a loss becomes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .layers.layer import RecordDict, Shape, record

Array = NDArray[Any]


@dataclass(frozen=True)
class Loss:
    """A mean over all numbers or rows of a batch; labels have the prediction's shape, or one axis of length 1 less."""

    def label_shape(self, shape: Shape) -> Shape:
        """The shape of one sample's label; shape: of its prediction."""
        return shape

    def labels(self, where: str, y: Any, shape: Shape, dtype: Any) -> Array:
        """Return y as the record reads it; shape: of one sample's prediction.  Raises ValueError for another."""
        array = numbers(where, y)
        if array.shape[1:] != shape and (*array.shape[1:], 1) == shape:
            array = array[..., None]
        if array.shape[1:] != shape:
            expected = ", ".join(map(str, ("samples", *shape)))
            raise ValueError(f"{where}: y: {self.name} expects the shape ({expected}), got {array.shape}")
        return np.ascontiguousarray(array, dtype)

    @property
    def name(self) -> str:
        """What it is called in errors and files."""
        return next(name for name, (kind, _) in LOSSES.items() if kind is type(self))

    def record(self, prediction: str, head: RecordDict, label: str, output: str) -> RecordDict:
        """The record.  head: the last of the model's own, which writes the prediction."""
        raise NotImplementedError

    def configuration(self) -> dict[str, Any]:
        """What `loss_of` makes the loss of again."""
        return {"loss": self.name, **asdict(self)}


def numbers(where: str, y: Any) -> Array:
    """Labels as an array.  Raises ValueError for what holds no numbers."""
    array = np.asarray(y)
    if array.dtype.kind not in "fiub" or array.ndim == 0:
        raise ValueError(f"{where}: y: expected an array of numbers, got one of {array.dtype} and shape {array.shape}")
    return array


@dataclass(frozen=True)
class MeanSquaredError(Loss):
    """The mean of (prediction - label)^2."""

    def record(self, prediction: str, head: RecordDict, label: str, output: str) -> RecordDict:
        return record("mse", [prediction, label], output)


@dataclass(frozen=True)
class BinaryCrossentropy(Loss):
    """Of probabilities, whose logarithms are at least -100 (Keras bounds probabilities by 1e-7), or of logits."""

    from_logits: bool = False

    def record(self, prediction: str, head: RecordDict, label: str, output: str) -> RecordDict:
        return record("bce_logits" if self.from_logits else "bce", [prediction, label], output)


@dataclass(frozen=True)
class CategoricalCrossentropy(Loss):
    """Of labels with a number for each class; predictions are probabilities, or logits.

    Behind a softmax that ends the model the loss is that of the softmax's own input: no logarithm of 0 is taken.
    Other probabilities are not scaled to a sum of 1, as Keras scales them.
    """

    from_logits: bool = False

    def record(self, prediction: str, head: RecordDict, label: str, output: str) -> RecordDict:
        logits, temperature = _logits(prediction, head, self.from_logits)
        if logits is None:
            return record("categorical_cross_entropy", [prediction, label], output)
        return record("softmax_cross_entropy", [logits, label], output, labels="dense", temperature=temperature)


@dataclass(frozen=True)
class SparseCategoricalCrossentropy(Loss):
    """The same of labels that are class numbers; it needs a softmax at the model's end, or logits."""

    from_logits: bool = False

    def label_shape(self, shape: Shape) -> Shape:
        return shape[:-1]

    def labels(self, where: str, y: Any, shape: Shape, dtype: Any) -> Array:
        array = numbers(where, y)
        if array.shape[1:] == (*shape[:-1], 1):
            array = array[..., 0]
        if array.shape[1:] != shape[:-1]:
            expected = ", ".join(map(str, ("samples", *shape[:-1])))
            raise ValueError(f"{where}: y: expected class numbers of the shape ({expected}), got {array.shape}")
        with np.errstate(invalid="ignore"):
            whole = array.astype(np.int32)
        wrong = (whole != array) | (whole < 0) | (whole >= shape[-1])
        if wrong.any():
            got = array[wrong].flat[0]
            raise ValueError(f"{where}: y: expected class numbers from 0 to {shape[-1] - 1}, got {got}")
        return whole

    def record(self, prediction: str, head: RecordDict, label: str, output: str) -> RecordDict:
        logits, temperature = _logits(prediction, head, self.from_logits)
        if logits is None:
            expected = "a model that ends in a softmax, or from_logits=True"
            raise ValueError(f"compile: loss: {self.name} expects {expected}; the last record is {head['kind']}")
        return record("softmax_cross_entropy", [logits, label], output, labels="index", temperature=temperature)


def _logits(prediction: str, head: RecordDict, from_logits: bool) -> tuple[str | None, float]:
    """The value that a softmax is taken of, and at which temperature; None where there is none."""
    if from_logits:
        return prediction, 1.0
    if head["kind"] == "softmax":
        return head["inputs"][0], head.get("temperature", 1.0)
    return None, 1.0


# By name: the class, and what Keras calls it besides.
LOSSES: dict[str, tuple[type[Loss], tuple[str, ...]]] = {
    "mean_squared_error": (MeanSquaredError, ("mse",)),
    "binary_crossentropy": (BinaryCrossentropy, ("bce",)),
    "categorical_crossentropy": (CategoricalCrossentropy, ()),
    "sparse_categorical_crossentropy": (SparseCategoricalCrossentropy, ()),
}


def loss_of(given: Any) -> Loss:
    """Return the loss of a name, of a configuration, or a loss itself.  Raises ValueError for anything else."""
    if isinstance(given, Loss):
        return given
    settings = dict(given) if isinstance(given, dict) else {"loss": given}
    asked = settings.pop("loss", None)
    for name, (kind, others) in LOSSES.items():
        if isinstance(asked, str) and asked in (name, *others):
            try:
                return kind(**settings)
            except TypeError as error:
                raise ValueError(f"compile: loss: {error}") from None
    raise ValueError(f"compile: loss: expected one of {', '.join(LOSSES)} or a Loss, got {asked!r}")
