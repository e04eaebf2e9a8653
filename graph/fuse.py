"""Adjacent records as one, where one operation does the work of both: the same result within the noise.

Of sigmoid and softmax with their losses the fused ones never take the logarithm of a probability that rounding has made
0, for which the others say -100: there they differ, and the fused one is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

from .errors import refuse
from .kinds import ACTIVATIONS, stream_of
from .kinds.products import ALPHA
from .order import order
from .reading import Graph, make, read_record
from .records import Record

# A rule takes a record and the one that alone reads its output, and returns what both are as one, or None.
Rule = Callable[[Record, Record], dict[str, Any] | None]


def fuse(graph: Graph, keep: Collection[str] = ()) -> Graph:
    """Return a graph that computes the same with fewer records; values named in `keep` are computed as before.

    The values between fused records are not computed any more; every value that no record reads still is. Dropout
    draws what it drew. Raises GraphError for a name of `keep` that is no value, and for a graph that has no order.
    """
    values = {*graph.inputs, *(record.output for record in graph.records)}
    if unknown := [name for name in keep if name not in values]:
        raise refuse("fuse: keep", "names of values", unknown[0])
    readers = Counter(name for record in graph.records for name in record.inputs)
    records = dict(enumerate(_settled(graph)))
    writer = {record.output: number for number, record in records.items()}
    for rules in (_LOSSES, _LAYERS):
        for number in order(graph):
            while number in records and (made := _joined(number, records, writer, readers, keep, rules)) is not None:
                records[number] = made
    return make([*records.values()], graph.inputs)


def _joined(
    number: int,
    records: dict[int, Record],
    writer: dict[str, int],
    readers: Counter[str],
    keep: Collection[str],
    rules: tuple[Rule, ...],
) -> Record | None:
    """A record and what writes its first input as one; the other is taken away. None where they stay two."""
    then = records[number]
    name = then.inputs[0]
    source = writer.get(name)
    if source not in records or readers[name] != 1 or name in keep:
        return None
    for rule in rules:
        if (made := rule(records[source], then)) is not None:
            del records[source]
            return read_record(number, made)
    return None


def _settled(graph: Graph) -> list[Record]:
    """The records, each dropout with the stream it draws by, whatever its place will be."""
    found = []
    for number, record in enumerate(graph.records):
        if record.kind == "dropout":
            changed = {**record.attributes, "stream": stream_of(number, record)}
            record = Record(record.kind, record.inputs, record.parameters, record.output, changed)
        found.append(record)
    return found


def _fused(kind: str, first: Record, then: Record, parameters: tuple[str, ...], **attributes: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "inputs": [*first.inputs, *then.inputs[1:]],
        "parameters": [*parameters],
        "output": then.output,
        "attributes": attributes,
    }


def _product_and_bias(first: Record, then: Record) -> dict[str, Any] | None:
    """A product with a weight, and a bias added, or an activation of it, are a dense layer."""
    if first.kind != "matmul" or not first.parameters or not first.attributes["transposed"]:
        return None
    units = first.attributes["units"]
    if then.kind == "add_bias" and then.parameters:
        return _fused("dense", first, then, (*first.parameters, *then.parameters), units=units)
    activation = _activation(then)
    return None if activation is None else _fused("dense", first, then, first.parameters, units=units, **activation)


def _dense_and_bias(first: Record, then: Record) -> dict[str, Any] | None:
    """A dense layer without bias and activation, and a bias added to it."""
    if not _is_linear(first) or len(first.parameters) != 1 or then.kind != "add_bias" or not then.parameters:
        return None
    return _fused("dense", first, then, (*first.parameters, *then.parameters), units=first.attributes["units"])


def _dense_and_activation(first: Record, then: Record) -> dict[str, Any] | None:
    """A dense layer without an activation, and one behind it."""
    activation = _activation(then)
    if not _is_linear(first) or activation is None:
        return None
    return _fused("dense", first, then, first.parameters, units=first.attributes["units"], **activation)


def _is_linear(record: Record) -> bool:
    return record.kind == "dense" and record.attributes["activation"] == "linear"


def _activation(record: Record) -> dict[str, Any] | None:
    """A record that is an activation which dense has, as dense's attributes."""
    name = "gelu_tanh" if record.kind == "gelu" and record.attributes["form"] == "tanh" else record.kind
    if name not in ACTIVATIONS:
        return None
    return {"activation": name, "alpha": record.attributes.get("alpha", ALPHA.get(name, 1.0))}


def _softmax_and_loss(first: Record, then: Record) -> dict[str, Any] | None:
    """Softmax, and cross entropy of its probabilities: both from logits, at softmax's temperature."""
    if first.kind != "softmax" or then.kind != "categorical_cross_entropy":
        return None
    numbers = {"temperature": first.attributes["temperature"], "weight": then.attributes["weight"]}
    return _fused("softmax_cross_entropy", first, then, (), **numbers)


def _sigmoid_and_loss(first: Record, then: Record) -> dict[str, Any] | None:
    """The sigmoid, and binary cross entropy of its probability: both from logits."""
    if first.kind != "sigmoid" or then.kind != "bce":
        return None
    return _fused("bce_logits", first, then, (), weight=then.attributes["weight"])


_LOSSES: tuple[Rule, ...] = (_softmax_and_loss, _sigmoid_and_loss)
_LAYERS: tuple[Rule, ...] = (_product_and_bias, _dense_and_bias, _dense_and_activation)
