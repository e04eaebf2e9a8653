"""Layers on planes, NCHW: convolution and pooling."""

from __future__ import annotations

from typing import Any, ClassVar

from graph.attributes import Attribute
from graph.errors import refuse
from graph.records import Record
from reference.arrays import Array
from reference.namespace import Ops

from .context import Context
from .kind import Arrays, Gradients, Kind, Names, Open, Result, Saved, Shape, Shapes, of_rank

_AXES = "batch, channels, height, width"


class Conv2D(Kind):
    """Cross-correlation. input: (batch, channels, height, width), weight: (filters, channels / groups, *kernel)."""

    name = "conv2d"
    attributes: ClassVar = (
        Attribute("filters", "int", None, least=1),
        Attribute("kernel", "pair", least=1),
        Attribute("stride", "pair", (1, 1), least=1),
        Attribute("padding", "pair", (0, 0), least=0),
        Attribute("dilation", "pair", (1, 1), least=1),
        Attribute("groups", "int", 1, least=1),
    )

    def parameter_names(self, record: Record) -> Names:
        return Names(("weight",), ("bias",))

    def parameter_shapes(self, where: str, record: Record, inputs: Shapes) -> tuple[Open, ...]:
        channels = of_rank(where, "input", inputs[0], _AXES)[1]
        filters, groups = record.attributes["filters"], record.attributes["groups"]
        if channels % groups:
            raise refuse(f"{where}: attribute groups", f"a divisor of {channels} channels", groups)
        return ((filters, channels // groups, *record.attributes["kernel"]), (filters,))[: len(record.parameters)]

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        filters, groups = parameters[0][0], record.attributes["groups"]
        if filters % groups:
            raise refuse(f"{where}: parameter {record.parameters[0]}", f"filters in {groups} groups", parameters[0])
        if len(parameters) > 1 and parameters[1] != (filters,):
            raise refuse(f"{where}: parameter {record.parameters[1]}", f"shape ({filters},)", parameters[1])
        sides = []
        for axis, name in enumerate(("height", "width")):
            kernel, stride, pad, dilation = (
                record.attributes[key][axis] for key in ("kernel", "stride", "padding", "dilation")
            )
            room = inputs[0][2 + axis] + 2 * pad - dilation * (kernel - 1) - 1
            if room < 0:
                span, padded = dilation * (kernel - 1) + 1, inputs[0][2 + axis] + 2 * pad
                raise refuse(f"{where}: input", f"a padded {name} of {span} at least, as the kernel spans", padded)
            sides.append(room // stride + 1)
        return (inputs[0][0], filters, *sides)

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        bias = parameters[1] if len(parameters) > 1 else None
        numbers = _convolution(record)
        return ops.conv2d(inputs[0], parameters[0], bias, **numbers, has_bias=int(bias is not None)), ()

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        (x,), weight, numbers = inputs, parameters[0], _convolution(record)
        _, channels, height, width = x.shape
        kernel_h, kernel_w = weight.shape[2:]
        d_x = ops.conv2d_backward_input(weight, d_output, in_channels=channels, height=height, width=width, **numbers)
        d_weight = ops.conv2d_backward_weight(
            x, d_output, None, kernel_h=kernel_h, kernel_w=kernel_w, **numbers, beta=0.0
        )
        if len(parameters) == 1:
            return (d_x,), (d_weight,)
        return (d_x,), (d_weight, ops.conv2d_backward_bias(d_output, None, beta=0.0))


def _convolution(record: Record) -> dict[str, int]:
    """The numbers of the header's convolution."""
    return _pairs(record, stride="stride", padding="pad", dilation="dilation") | {"groups": record.attributes["groups"]}


def _pairs(record: Record, **names: str) -> dict[str, int]:
    """Attributes that are pairs, as the header's numbers: stride as stride_h and stride_w."""
    return {
        f"{name}_{side}": record.attributes[attribute][axis]
        for attribute, name in names.items()
        for axis, side in enumerate("hw")
    }


class Pooling(Kind):
    """A number of each window of a plane; windows that are not filled at the lower or right end are left out."""

    attributes: ClassVar[tuple[Attribute, ...]] = (
        Attribute("kernel", "pair", least=1),
        Attribute("stride", "pair", None, least=1),
        Attribute("padding", "pair", (0, 0), least=0),
    )

    def complete(self, where: str, attributes: dict[str, Any]) -> dict[str, Any]:
        """A stride that is not given is the kernel; padding is at most half of it."""
        kernel, padding = attributes["kernel"], attributes["padding"]
        if any(2 * pad > size for pad, size in zip(padding, kernel, strict=True)):
            raise refuse(f"{where}: attribute padding", f"at most half of the kernel, {kernel}", padding)
        return attributes | {"stride": attributes["stride"] or kernel}

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        shape, sides = of_rank(where, "input", inputs[0], _AXES), []
        for axis, name in enumerate(("height", "width")):
            kernel, stride, pad = (record.attributes[key][axis] for key in ("kernel", "stride", "padding"))
            padded = shape[2 + axis] + 2 * pad
            if padded < kernel:
                raise refuse(f"{where}: input", f"a padded {name} of {kernel} at least, as the kernel's", padded)
            sides.append((padded - kernel) // stride + 1)
        return (*shape[:2], *sides)

    def numbers(self, record: Record) -> dict[str, int]:
        return _pairs(record, kernel="kernel", stride="stride", padding="pad")


class MaxPool2D(Pooling):
    """The largest number of each window; padding is never chosen, and of equal ones the first."""

    name = "max_pool2d"

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        output, places = ops.max_pool2d(inputs[0], **self.numbers(record))
        return output, (places,)

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        height, width = inputs[0].shape[2:]
        numbers = self.numbers(record)
        return (ops.max_pool2d_backward(d_output, saved[0], height=height, width=width, **numbers),), ()


class AvgPool2D(Pooling):
    """The mean of each window, over all of it or over what is no padding."""

    name = "avg_pool2d"
    attributes: ClassVar = (*Pooling.attributes, Attribute("count_include_pad", "bool", True))

    def numbers(self, record: Record) -> dict[str, int]:
        return super().numbers(record) | {"count_include_pad": int(record.attributes["count_include_pad"])}

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        return ops.avg_pool2d(inputs[0], **self.numbers(record)), ()

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        height, width = inputs[0].shape[2:]
        return (ops.avg_pool2d_backward(d_output, height=height, width=width, **self.numbers(record)),), ()
