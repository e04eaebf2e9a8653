"""Convolution and pooling of planes: samples are (channels, height, width); Keras' are (height, width, channels)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .activations import NAMES, activated, before
from .layer import Layer, RecordDict, Shape, Weight, named, record

Pair = tuple[int, int]
_AXES = ("channels", "height", "width")


def _pair(checked: int | Pair | None) -> Pair:
    """A setting that __post_init__ has made a pair."""
    assert isinstance(checked, tuple)
    return checked


class Planes(Layer):
    """What convolution and pooling share: pairs of settings, and how much is padded."""

    def _check_pair(self, name: str, least: int = 1) -> None:
        given = getattr(self, name)
        pair = (given, given) if isinstance(given, int) else given
        right = isinstance(pair, (list, tuple)) and len(pair) == 2
        if not right or any(isinstance(n, bool) or not isinstance(n, int) or n < least for n in pair):
            raise self._error(name, f"a whole number of at least {least}, or a pair of them", given)
        self._set(**{name: tuple(pair)})

    def _check_padding(self) -> None:
        if (given := getattr(self, "padding")) not in ("valid", "same"):  # noqa: B009  (of classes below)
            if isinstance(given, str):
                raise self._error("padding", "'valid', 'same', a whole number or a pair of them", given)
            self._check_pair("padding", 0)

    def _padded(self, padding: Any, shape: Shape, kernel: Pair, stride: Pair, dilation: Pair = (1, 1)) -> Pair:
        """Rows and columns of padding on either side.  Raises ValueError where `same` needs more on one side."""
        self._check_axes(shape, *_AXES)
        if padding == "valid":
            return 0, 0
        if padding != "same":
            return padding[0], padding[1]
        found = []
        for size, k, s, d in zip(shape[1:], kernel, stride, dilation, strict=True):
            total = max(0, (-(-size // s) - 1) * s + d * (k - 1) + 1 - size)
            if total % 2:
                raise ValueError(
                    f"{type(self).__name__}: padding: 'same' would need {total} on both sides together of {size} with "
                    f"a kernel of {k} and a stride of {s}, one side more than the other: give a number"
                )
            found.append(total // 2)
        return found[0], found[1]


@dataclass(frozen=True)
class Conv2D(Planes):
    """activation of the cross-correlation with `filters` kernels, plus bias.

    weight: (filters, channels / groups, height, width), as PyTorch has it; Keras' kernel is (height, width, channels /
    groups, filters).  padding: 'valid', 'same', or rows and columns on either side, which Keras does not take.
    """

    filters: int
    kernel_size: int | Pair
    strides: int | Pair = (1, 1)
    padding: str | int | Pair = "valid"
    dilation_rate: int | Pair = (1, 1)
    groups: int = 1
    activation: str | None = None
    use_bias: bool = True

    def __post_init__(self) -> None:
        self._check_whole("filters")
        self._check_whole("groups")
        for name in ("kernel_size", "strides", "dilation_rate"):
            self._check_pair(name)
        self._check_padding()
        self._check_one_of("activation", NAMES)
        self._check_flag("use_bias")
        if self.filters % self.groups:
            raise self._error("groups", f"a divisor of {self.filters} filters", self.groups)

    def weights(self, shape: Shape) -> dict[str, Weight]:
        self._check_axes(shape, *_AXES)
        if shape[0] % self.groups:
            raise self._error("groups", f"a divisor of {shape[0]} channels", self.groups)
        kernel = (self.filters, shape[0] // self.groups, *_pair(self.kernel_size))
        made = {"weight": Weight(kernel, "glorot_uniform")}
        return made | ({"bias": Weight((self.filters,), "zeros")} if self.use_bias else {})

    def records(self, name: str, source: str, shape: Shape) -> list[RecordDict]:
        kernel, stride, dilation = map(_pair, (self.kernel_size, self.strides, self.dilation_rate))
        padding = self._padded(self.padding, shape, kernel, stride, dilation)
        pre = before(self.activation, name)
        steps = {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation, "groups": self.groups}
        made = record("conv2d", [source], pre, named(name, self.weights(shape)), **steps)
        return [made, *activated(self.activation, pre, name)]


@dataclass(frozen=True)
class Pool2D(Planes):
    """A window that slides over each plane, by default without overlap."""

    pool_size: int | Pair = (2, 2)
    strides: int | Pair | None = None
    padding: str | int | Pair = "valid"

    def __post_init__(self) -> None:
        self._check_pair("pool_size")
        if self.strides is None:
            self._set(strides=self.pool_size)
        self._check_pair("strides")
        self._check_padding()

    def _window(self, shape: Shape) -> dict[str, Any]:
        padding = self._padded(self.padding, shape, _pair(self.pool_size), _pair(self.strides))
        return {"kernel": self.pool_size, "stride": self.strides, "padding": padding}


@dataclass(frozen=True)
class MaxPool2D(Pool2D):
    """The largest number of each window, the first of equal ones; padding is never chosen."""

    def records(self, name: str, source: str, shape: Shape) -> list[RecordDict]:
        return [record("max_pool2d", [source], name, **self._window(shape))]


@dataclass(frozen=True)
class AvgPool2D(Pool2D):
    """The mean of what of each window lies in the plane: padding does not count, as in Keras (PyTorch counts it)."""

    def records(self, name: str, source: str, shape: Shape) -> list[RecordDict]:
        return [record("avg_pool2d", [source], name, **self._window(shape), count_include_pad=False)]
