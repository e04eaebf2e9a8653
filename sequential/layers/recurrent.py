"""Recurrent layers on samples of (steps, width); the first step starts from 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .layer import Layer, RecordDict, Shape, Weight, named, record


@dataclass(frozen=True)
class Recurrent(Layer):
    """What the three share.  w_x: (gates * units, width), w_h: (gates * units, units), where Keras' are transposed.

    return_sequences: the output of every step, (steps, units); else that of the last, (units,).
    """

    units: int
    return_sequences: bool = False
    use_bias: bool = True
    KIND: ClassVar[str]
    GATES: ClassVar[int]
    BIASES: ClassVar[dict[str, str]] = {"bias": "zeros"}

    def __post_init__(self) -> None:
        self._check_whole("units")
        self._check_flag("return_sequences")
        self._check_flag("use_bias")

    def weights(self, shape: Shape) -> dict[str, Weight]:
        self._check_axes(shape, "steps", "width")
        rows = self.GATES * self.units
        made = {"w_x": Weight((rows, shape[1]), "glorot_uniform"), "w_h": Weight((rows, self.units), "orthogonal")}
        return made | ({name: Weight((rows,), kind) for name, kind in self.BIASES.items()} if self.use_bias else {})

    def records(self, name: str, source: str, shape: Shape) -> list[RecordDict]:
        settings = {"hidden": self.units, "return_sequences": self.return_sequences, "bias": self.use_bias}
        return [record(self.KIND, [source], name, named(name, self.weights(shape)), **settings, **self._more())]

    def _more(self) -> dict[str, str]:
        return {}


@dataclass(frozen=True)
class SimpleRNN(Recurrent):
    """h = activation(w_x . x + w_h . h + bias) at every step; activation: tanh or relu."""

    activation: str = "tanh"
    KIND: ClassVar[str] = "rnn"
    GATES: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_one_of("activation", ["tanh", "relu"])

    def _more(self) -> dict[str, str]:
        return {"activation": self.activation}


RNN = SimpleRNN


@dataclass(frozen=True)
class LSTM(Recurrent):
    """Long short-term memory, gates in the order i, f, g, o, which is Keras' as well.

    unit_forget_bias: the forget gate's bias begins at 1, the others at 0.
    """

    unit_forget_bias: bool = True
    KIND: ClassVar[str] = "lstm"
    GATES: ClassVar[int] = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_flag("unit_forget_bias")

    def weights(self, shape: Shape) -> dict[str, Weight]:
        made = super().weights(shape)
        if self.use_bias and self.unit_forget_bias:
            made["bias"] = made["bias"]._replace(initializer="forget_bias")
        return made


@dataclass(frozen=True)
class GRU(Recurrent):
    """Gated recurrent unit with two biases, the reset gate behind the product: Keras' reset_after=True.

    Gates stand in PyTorch's order r, z, n; Keras has z, r, h.
    """

    KIND: ClassVar[str] = "gru"
    GATES: ClassVar[int] = 3
    BIASES: ClassVar[dict[str, str]] = {"b_x": "zeros", "b_h": "zeros"}
