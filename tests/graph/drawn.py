"""Graphs drawn at random: fan-out, shared parameters, several losses, every kind and shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import graph
from graph.kinds import ACTIVATIONS, KINDS
from reference import random

Shape = tuple[int, ...]
Draw = Callable[[st.SearchStrategy[Any]], Any]
LARGEST = 200  # numbers in a value


class Drawn(NamedTuple):
    """A graph that fits, and arrays for it."""

    checked: graph.Checked
    arrays: dict[str, Any]


@dataclass
class Builder:
    """A graph that grows by one record after the other."""

    draw: Draw
    records: list[dict[str, Any]] = field(default_factory=list)
    shapes: dict[str, Shape] = field(default_factory=dict)  # of values and inputs
    inputs: dict[str, Shape] = field(default_factory=dict)
    classes: dict[str, int] = field(default_factory=dict)
    parameters: dict[str, tuple[Shape, str]] = field(default_factory=dict)  # shape and role
    positive: set[str] = field(default_factory=set)

    def number(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    def choose(self, *among: Any) -> Any:
        return self.draw(st.sampled_from(among))

    def input(self, shape: Shape, name: str = "x", classes: int = 0, positive: bool = False) -> str:
        name = f"{name}{len(self.inputs)}"
        self.inputs[name] = shape
        if classes:
            self.classes[name] = classes
        else:
            self.shapes[name] = shape
        if positive:
            self.positive.add(name)
        return name

    def value(self, *ranks: int) -> str:
        """One of the values of these ranks, or a new input where there is none; early ones are as likely as late."""
        fitting = [name for name, shape in self.shapes.items() if len(shape) in ranks and name not in self.positive]
        if not fitting:
            return self.input(self.shape(ranks[0]))
        return str(self.choose(*fitting))

    def shape(self, rank: int) -> Shape:
        if rank == 4:
            return self.number(1, 2), self.choose(2, 4), self.number(3, 5), self.number(3, 4)
        return tuple(self.number(2, 4) for _ in range(rank))

    def alike(self, name: str) -> str:
        """A value of another's shape: itself, another, or a new input."""
        shape = self.shapes[name]
        return str(self.choose(*(n for n, s in self.shapes.items() if s == shape)))

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a record whose parameters are new or shared with others of their shape; returns its output."""
        given = {"kind": kind, "inputs": [*inputs], "output": f"v{len(self.records)}", **attributes}
        if kind in ("matmul", "add_bias", "add_column") and len(inputs) == 1:
            given["parameters"] = ["?"]
        elif kind in KINDS:
            named = graph.Record(kind, inputs, (), "", _complete(kind, attributes))
            names = KINDS[kind].parameter_names(named)
            given["parameters"] = ["?"] * (len(names.needed) + self.draw(st.booleans()) * len(names.optional))
        read = graph.read([given]).records[0]
        known = [self.inputs.get(name) or self.shapes[name] for name in inputs]
        due = KINDS[kind].parameter_shapes("test", read, known)
        roles = KINDS[kind].parameter_names(read).of(len(read.parameters))
        given["parameters"] = [self.parameter(s, r) for s, r in zip(due, roles, strict=True)]
        made = graph.read([given]).records[0]
        weights = [self.parameters[name][0] for name in made.parameters]
        shape = KINDS[kind].infer("test", made, known, weights)
        self.records.append(given)
        self.shapes[given["output"]] = shape
        return str(given["output"])

    def parameter(self, shape: Any, role: str) -> str:
        kept = role if role.startswith("running") else ""
        alike = [name for name, (s, r) in self.parameters.items() if s == shape and r == kept]
        if alike and not kept and self.draw(st.booleans()):
            return str(self.choose(*alike))
        name = f"p{len(self.parameters)}{'var' if role == 'running_var' else ''}"
        self.parameters[name] = (tuple(shape), kept)
        return name


def _complete(kind: str, attributes: dict[str, Any]) -> dict[str, Any]:
    return {**{a.name: a.default for a in KINDS[kind].attributes}, **attributes}


def _alpha(b: Builder) -> float:
    return float(b.choose(0.01, 0.3, 1.0))


def _pool(b: Builder, kind: str) -> str:
    x = b.value(4)
    kernel = [b.number(1, min(3, side)) for side in b.shapes[x][2:]]
    padding = [b.number(0, size // 2) for size in kernel]
    own = {"count_include_pad": b.draw(st.booleans())} if kind == "avg_pool2d" else {}
    return b.add(kind, x, kernel=kernel, stride=b.choose(1, 2, (2, 1)), padding=padding, **own)


def _conv(b: Builder) -> str:
    x = b.value(4)
    groups = b.choose(*(g for g in (1, 2) if b.shapes[x][1] % g == 0))
    filters = groups * b.number(1, 2)
    numbers = {"kernel": (b.number(1, 2), b.number(1, 3)), "stride": b.choose(1, 2, (1, 2))}
    return b.add(
        "conv2d",
        x,
        filters=filters,
        groups=groups,
        padding=b.choose(1, (1, 2)),
        dilation=b.choose(1, (2, 1)),
        **numbers,
    )


def _recurrent(b: Builder, kind: str) -> str:
    x, layers, hidden = b.value(3), b.number(1, 2), b.number(2, 4)
    each = 2 if kind == "lstm" else 1
    states = b.draw(st.booleans()) * each * layers
    inputs = [b.input((b.shapes[x][0], hidden), "h") for _ in range(states)]
    own = {"activation": b.choose("tanh", "relu")} if kind == "rnn" else {}
    flags = {"bias": b.draw(st.booleans()), "return_sequences": b.draw(st.booleans())}
    return b.add(kind, x, *inputs, hidden=hidden, layers=layers, **own, **flags)


def _embedding(b: Builder) -> str:
    vocabulary = b.number(2, 5)
    known = [name for name, classes in b.classes.items() if name.startswith("i") and classes == vocabulary]
    indices = b.choose(*known) if known else b.input(b.shape(b.number(1, 2)), "i", vocabulary)
    return b.add("embedding", indices, vocab_size=vocabulary, width=b.number(2, 4))


def _concat(b: Builder) -> str:
    x = b.value(3)
    batch, _, width = b.shapes[x]
    return b.add(
        "concat_steps", x, b.choose(*(n for n, s in b.shapes.items() if len(s) == 3 and (s[0], s[2]) == (batch, width)))
    )


def _slice(b: Builder) -> str:
    x = b.value(3)
    first = b.number(0, b.shapes[x][1] - 1)
    return b.add("slice_steps", x, first=first, count=b.number(1, b.shapes[x][1] - first))


def _reshape(b: Builder) -> str:
    x = b.value(2, 3, 4)
    lengths = list(b.shapes[x])
    return b.add("reshape", x, shape=b.choose([-1, lengths[-1]], [0, 1, -1], [0, -1, 1, 1], [0, 0, -1]))


# Of one number, or of two, the gradient through a norm is 0 by its formula: one order of the same formula meets that,
# with no rounding to derive a limit from, and another leaves a few roundings.  So norms are drawn of three or more.
def _layernorm(b: Builder) -> str:
    x = b.value(2, 3)
    return b.add("layernorm", x, eps=b.choose(1e-5, 0.1)) if b.shapes[x][-1] > 2 else b.add("tanh", x)


def _batchnorm(b: Builder) -> str:
    x = b.value(2, 3, 4)
    shape = b.shapes[x]
    if np.prod(shape) // shape[1] < 3:
        return b.add("tanh", x)
    return b.add("batchnorm", x, momentum=b.choose(0.1, 0.5), eps=b.choose(1e-5, 0.1))


def _two(b: Builder, kind: str) -> str:
    a = b.value(2, 3, 4)
    return b.add(kind, a, b.alike(a))


def _matmul(b: Builder) -> str:
    a, transposed = b.value(2, 3), b.draw(st.booleans())
    place = 1 if transposed else 0
    fitting = [n for n, s in b.shapes.items() if len(s) == 2 and s[place] == b.shapes[a][-1]]
    if fitting and b.draw(st.booleans()):
        return b.add("matmul", a, b.choose(*fitting), transposed=transposed)
    return b.add("matmul", a, units=b.number(2, 4), transposed=transposed)


def _dense(b: Builder) -> str:
    return b.add("dense", b.value(2, 3), units=b.number(2, 4), activation=b.choose(*ACTIVATIONS), alpha=_alpha(b))


LAYERS: dict[str, Callable[[Builder], str]] = {
    "dense": _dense,
    "matmul": _matmul,
    "add_bias": lambda b: b.add("add_bias", b.value(2, 3, 4)),
    "add_column": lambda b: b.add("add_column", b.value(2, 3)),
    "add": lambda b: _two(b, "add"),
    "mul": lambda b: _two(b, "mul"),
    "scale": lambda b: b.add("scale", b.value(2, 3, 4), scale=b.choose(-0.5, 0.3, 1.5)),
    **{name: (lambda b, name=name: b.add(name, b.value(2, 3, 4))) for name in ("relu", "sigmoid", "tanh", "silu")},
    **{name: (lambda b, name=name: b.add(name, b.value(2, 3, 4), alpha=_alpha(b))) for name in ("leaky_relu", "elu")},
    "gelu": lambda b: b.add("gelu", b.value(2, 3, 4), form=b.choose("erf", "tanh")),
    "softmax": lambda b: b.add("softmax", b.value(2, 3), temperature=b.choose(1.0, 0.5, 2.5)),
    "dropout": lambda b: b.add("dropout", b.value(2, 3, 4), rate=b.choose(0.1, 0.5)),
    "conv2d": _conv,
    **{name: (lambda b, name=name: _pool(b, name)) for name in ("max_pool2d", "avg_pool2d")},
    "flatten": lambda b: b.add("flatten", b.value(3, 4)),
    "reshape": _reshape,
    "slice_steps": _slice,
    "concat_steps": _concat,
    **{name: (lambda b, name=name: _recurrent(b, name)) for name in ("rnn", "lstm", "gru")},
    "layernorm": _layernorm,
    "batchnorm": _batchnorm,
    "embedding": _embedding,
}
LOSSES = ("mse", "bce", "bce_logits", "categorical_cross_entropy", "softmax_cross_entropy")


def _loss(b: Builder, kind: str, of: str) -> None:
    weight = b.choose(1.0, 0.25, 2.0)
    if kind in ("mse", "bce_logits"):
        x = of
    elif kind == "bce":
        x = b.add("sigmoid", of)
    else:
        x = of if len(b.shapes[of]) > 1 else b.add("reshape", of, shape=[1, -1])
        x = b.add("softmax", x) if kind.startswith("categorical") and len(b.shapes[x]) > 1 else x
    shape = b.shapes[x]
    if kind == "softmax_cross_entropy" and b.draw(st.booleans()):
        label = b.input(shape[:-1], "c", shape[-1])
        b.add(kind, x, label, weight=weight, temperature=b.choose(1.0, 2.5), labels="index")
        return
    own = {"temperature": b.choose(1.0, 0.5)} if kind == "softmax_cross_entropy" else {}
    b.add(kind, x, b.input(shape, "t", positive=True), weight=weight, **own)


@st.composite
def graphs(draw: Draw, most: int = 10) -> Drawn:
    """A graph of up to `most` records before its losses, of which it has one to three."""
    b = Builder(draw)
    b.input(b.shape(b.number(2, 4)))
    for kind in draw(st.lists(st.sampled_from(sorted(LAYERS)), min_size=1, max_size=most)):
        before = dict(b.shapes)
        name = LAYERS[kind](b)
        if np.prod(b.shapes[name]) > LARGEST:  # too large: another time
            b.records.pop()
            b.shapes = {n: s for n, s in b.shapes.items() if n in before or n in b.inputs}
    written = [record["output"] for record in b.records]
    if not written:
        written = [b.add("tanh", b.value(2, 3, 4))]
    last = {written[-1], *(b.choose(*written) for _ in range(b.number(0, 2)))}
    for of in sorted(last):
        _loss(b, b.choose(*LOSSES), of)
    read = graph.read([draw(st.permutations(b.records))][0])
    parameters = {name: b.parameters[name][0] for name in read.parameters}
    inputs = {name: b.inputs[name] for name in read.inputs}
    checked = graph.check(read, inputs | parameters)
    return Drawn(checked, numbers(checked, b, draw(st.integers(0, 2**31))))


def numbers(checked: graph.Checked, b: Builder, seed: int) -> dict[str, Any]:
    """Arrays in float64 that float32 holds exactly; labels are rows of shares that sum to about 1."""
    found = {}
    for name in (*checked.graph.inputs, *checked.graph.parameters):
        shape, stream = checked.shapes[name], random.stream("drawn", seed, name)
        if name in b.classes:
            found[name] = random.integers(stream, 0, b.classes[name], shape).astype(np.int32)
        elif name in b.positive or name.endswith("var"):
            found[name] = (0.1 + 0.8 * random.uniform(stream, shape)).astype(np.float32).astype(np.float64)
        else:
            found[name] = (0.7 * random.normal(stream, shape)).astype(np.float32).astype(np.float64)
    return found
