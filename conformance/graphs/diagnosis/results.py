"""What a record's wrong output looks like: an attribute ignored, a parameter not read, one sample written alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.graphs.handed import Handed
from conformance.graphs.local import Local, noisy, with_attributes
from conformance.judging.verdict import Verdict
from conformance.limits.noise import Noisy
from graph import GraphError, Record
from graph.attributes import REQUIRED, Attribute
from graph.kinds.products import ACTIVATIONS

from .looks import ABSENT, fits, plainly

_WHAT_SEQUENCES_GIVE = {True: "it gives the last state", False: "it gives the states of all steps"}


def of_result(local: Local, came: Handed, name: str, verdict: Verdict) -> str:
    """Say in a line what is wrong with a value, a loss or running statistics."""
    number = writer(local, name)
    record = local.task.called(number)
    if name.startswith("state."):
        return f"{name}, of {record}: {plainly(local, came, name, verdict)}"
    if passed := passed_over(local, came, name):
        return f"{record} was passed over: {passed}"
    got = came.arrays[name]
    if ignored := _ignored(local, number, got, local.results[name].size - came.unwritten(name)):
        return f"{record} {ignored}"
    if got.shape == local.results[name].shape and (alone := _one_sample(local.results[name], got)):
        return f"{record} writes {alone}"
    return f"{record}: {plainly(local, came, name, verdict)}"


def writer(local: Local, name: str) -> int:
    """The number of the record that writes a value, a loss or statistics."""
    bare = name.partition(".")[2]
    records = local.task.records
    return next(n for n, record in enumerate(records) if bare == record.output or bare in _state(local, n))


def _state(local: Local, number: int) -> tuple[str, ...]:
    return local.task.kind(number).state_parameters(local.task.records[number])


def passed_over(local: Local, came: Handed, name: str) -> str:
    """Say by what it is seen that nothing was computed for a result; nothing where something was."""
    if name not in came.arrays:
        return f"{ABSENT} for {name}"
    got = came.arrays[name]
    if came.unwritten(name) == got.size:
        return f"{name} was not written"
    return "" if got.any() else f"{name} is zero everywhere"


def _ignored(local: Local, number: int, got: NDArray[Any], written: int) -> str:
    """Say which attribute, or parameter, a record was carried out without."""
    record = local.task.records[number]
    for attribute, other in others(record, local.task.kind(number).attributes):
        try:
            given = local.forward_with(number, with_attributes(record, **{attribute: other}))[0]
        except (GraphError, ValueError, IndexError):  # a record that there cannot be
            continue
        if not isinstance(given, Noisy) or fits(local.results[_name(local, number)], _as(given, got, written)):
            continue
        if fits(given, _as(given, got, written)):
            value = record.attributes[attribute]
            what = (
                _WHAT_SEQUENCES_GIVE[bool(value)]
                if attribute == "return_sequences"
                else f"as if it were {_said(other)}"
            )
            return f"ignores {attribute} = {_said(value)}: {what}"
    return _unread(local, number, got)


def _name(local: Local, number: int) -> str:
    output = local.task.records[number].output
    return f"{'loss' if output in local.task.losses else 'value'}.{output}"


def _as(due: Noisy, got: NDArray[Any], written: int) -> NDArray[Any]:
    """An array in the shape of another one that is due, where the rest of it was not written or is zero."""
    flat = got.reshape(-1)
    is_rest_empty = written <= due.size or not flat[due.size :].any()
    return flat[: due.size].reshape(due.shape) if flat.size > due.size and is_rest_empty else got


def others(record: Record, attributes: tuple[Attribute, ...]) -> Iterator[tuple[str, Any]]:
    """Yield what attributes may have been taken for: what they default to, and what leaves them out."""
    for one in attributes:
        value = record.attributes.get(one.name)
        held: list[Any] = [] if one.default is REQUIRED or one.default is None else [one.default]
        if one.type == "bool":
            held.append(not value)
        if one.type == "float":
            held += [1.0, 0.0]
        if one.name == "activation":
            held += [word for word in ACTIVATIONS if word in one.choices]
        elif one.choices:
            held += one.choices
        if one.type == "pair":
            held += [(1, 1), (0, 0)]
        tried = [other for place, other in enumerate(held) if other != value and other not in held[:place]]
        yield from ((one.name, other) for other in tried)


def _said(value: Any) -> str:
    return json.dumps(value) if not isinstance(value, float) else f"{value:g}"


def _unread(local: Local, number: int, got: NDArray[Any]) -> str:
    """Say which parameter a record has not read: it gives what it does at zeros."""
    record, (inputs, held) = local.task.records[number], local.read_by(number)
    for place, name in enumerate(record.parameters):
        zeros = noisy(np.zeros(held[place].shape))
        instead = [zeros if at == place else array for at, array in enumerate(held)]
        if fits(local.forward_with(number, record, (inputs, instead))[0], got):
            return f"does not read its parameter {name}: it gives what it does at zeros"
    return ""


def _one_sample(due: Noisy, got: NDArray[Any]) -> str:
    """Say that one sample alone is right, where there are several; which is the first axis."""
    if due.ndim < 2 or len(due) < 2:
        return ""
    right = [place for place in range(len(due)) if fits(due[place : place + 1], got[place : place + 1])]
    if len(right) != 1:
        return ""
    rest = np.delete(got, right[0], axis=0)
    holds = "zeros" if not rest.any() else "other numbers"
    return f"one sample only: sample {right[0]} is right, the other {len(due) - 1} hold {holds}"
