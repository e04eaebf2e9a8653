"""Nodes that move numbers or name them anew: shapes, slices and concatenation over time, embedding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .builder import Builder
from .node import Node
from .refused import expect
from .views import View

_FLOATS, _WHOLE = (1, 11), (6, 7)  # of onnx.TensorProto: FLOAT and DOUBLE, INT32 and INT64


def identity(builder: Builder, node: Node) -> None:
    builder.alias(node.outputs[0], builder.view(node.inputs[0]))


def cast(builder: Builder, node: Node) -> None:
    """Between whole numbers, or between numbers of floating point: a library has the type that it has."""
    view = builder.view(node.inputs[0])
    kept = _WHOLE if view.value in builder.integers else _FLOATS
    expect(node.attributes["to"] in kept, "whole numbers as others, others as whole numbers, or to a short type")
    builder.alias(node.outputs[0], view)


def flatten(builder: Builder, node: Node) -> None:
    rank = len(builder.shape(node.inputs[0]))
    expect(node.attributes.get("axis", 1) in (1, 1 - rank), "another axis than 1")
    builder.add("flatten", [builder.value(node.inputs[0])], node.outputs[0])


def reshape(builder: Builder, node: Node) -> None:
    """To a constant shape with the same batch; 0 is the old length, -1 what is left."""
    given = builder.constant(node.inputs[1])
    expect(given is not None, "to a shape that is computed")
    assert given is not None
    old = builder.shape(node.inputs[0])
    expect(not node.attributes.get("allowzero", 0), "an axis of no length")
    lengths = [old[i] if n == 0 else int(n) for i, n in enumerate(given)]
    made = tuple(np.empty(old, np.bool_).reshape(lengths).shape)
    value = builder.value(node.inputs[0])
    builder.alias(node.outputs[0], View(builder.reshaped(value, made, node.outputs[0]), tuple(range(len(made)))))


def _axes(builder: Builder, node: Node) -> list[int]:
    """An operator's axes, none where they are left out."""
    return _numbers(builder, node, 1)


def squeeze(builder: Builder, node: Node) -> None:
    view = builder.view(node.inputs[0])
    builder.alias(node.outputs[0], view.squeezed(_axes(builder, node), builder.shapes[view.value]))


def unsqueeze(builder: Builder, node: Node) -> None:
    builder.alias(node.outputs[0], builder.view(node.inputs[0]).unsqueezed(_axes(builder, node)))


def transpose(builder: Builder, node: Node) -> None:
    """Axes in another order; what reads them has to ask for that order, or turn them back."""
    view = builder.view(node.inputs[0])
    order = node.attributes.get("perm", range(len(view.axes))[::-1])
    builder.alias(node.outputs[0], view.transposed(order))


def slice_(builder: Builder, node: Node) -> None:
    """Steps first, ..., first + count - 1 of one axis, which is that of time."""
    starts, ends, axes, strides = (_numbers(builder, node, place) for place in range(1, 5))
    view = builder.view(node.inputs[0])
    lengths = builder.shape(node.inputs[0])
    cut = {}
    for place, axis in enumerate(axes or range(len(starts))):
        kept = range(lengths[axis])[starts[place] : ends[place] : strides[place] if strides else 1]
        expect(kept.step == 1 and len(kept), "steps left out or in reverse, or nothing left")
        if len(kept) < lengths[axis]:
            cut[view.axes[axis]] = kept
    if not cut:
        builder.alias(node.outputs[0], view)
        return
    expect([*cut] == [1], "of another axis than the steps', or of several")
    _cut(builder, view, cut[1], node.outputs[0], view.axes)


def _numbers(builder: Builder, node: Node, place: int) -> list[int]:
    if not node.given(place):
        return []
    held = builder.constant(node.given(place))
    expect(held is not None, "axes or places that are computed")
    return [int(n) for n in np.reshape(held, -1)] if held is not None else []


def _cut(builder: Builder, view: View, kept: range, output: str, axes: Sequence[int | None]) -> None:
    expect(len(builder.shapes[view.value]) == 3, "of what is no sequence (batch, steps, width)")
    builder.add("slice_steps", [view.value], output, first=kept.start, count=len(kept))
    builder.alias(output, View(output, tuple(axes)))


def concat(builder: Builder, node: Node) -> None:
    """Sequences, one behind the other in time."""
    views = [builder.view(name) for name in node.inputs]
    axes = {view.axes for view in views}
    expect(len(axes) == 1, "of tensors with axes in several orders")
    [order] = axes
    rank = len(builder.shapes[views[0].value])
    expect(order[node.attributes["axis"]] == 1 and rank == 3, "of another axis than the steps'")
    made = views[0].value
    for place, view in enumerate(views[1:], 2):
        output = node.outputs[0] if place == len(views) else f"{node.outputs[0]}.{place}"
        builder.add("concat_steps", [made, view.value], output)
        made = output
    builder.alias(node.outputs[0], View(made, order))


def split(builder: Builder, node: Node) -> None:
    """A sequence cut into parts."""
    view = builder.view(node.inputs[0])
    axis = node.attributes.get("axis", 0)
    expect(view.axes[axis] == 1, "of another axis than the steps'")
    length = builder.shape(node.inputs[0])[axis]
    size = -(-length // len(node.outputs))
    counts = _numbers(builder, node, 1) or [min(size, length - size * i) for i in range(len(node.outputs))]
    first = 0
    for output, count in zip(node.outputs, counts, strict=True):
        if output:
            _cut(builder, view, range(first, first + count), output, view.axes)
        first += count


def gather(builder: Builder, node: Node) -> None:
    """Rows of a table by indices, or one step of a sequence."""
    table, axis = builder.constant(node.inputs[0]), node.attributes.get("axis", 0)
    if table is not None:
        expect(axis == 0 and table.ndim == 2, "of what is no table of rows")
        name = builder.parameter(node.inputs[0], table)
        builder.add("embedding", [builder.value(node.inputs[1])], node.outputs[0], [name])
        return
    view, places = builder.view(node.inputs[0]), builder.constant(node.inputs[1])
    expect(places is not None and places.ndim == 0, "of several places")
    expect(view.axes[axis] == 1 and len(builder.shapes[view.value]) == 3, "of another axis than the steps'")
    assert places is not None
    step = int(places) % builder.shape(node.inputs[0])[axis]
    axes = [a for i, a in enumerate(view.axes) if i != axis % len(view.axes)]
    _cut(builder, view, range(step, step + 1), f"{node.outputs[0]}.step", axes)
    builder.alias(node.outputs[0], builder.views.pop(f"{node.outputs[0]}.step"))


BUILDS: dict[str, Callable[[Builder, Node], None]] = {
    "Identity": identity,
    "Cast": cast,
    "Flatten": flatten,
    "Reshape": reshape,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "Transpose": transpose,
    "Slice": slice_,
    "Concat": concat,
    "Split": split,
    "Gather": gather,
}
