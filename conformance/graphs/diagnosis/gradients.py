"""What a wrong gradient looks like: parts of records that are missing, a factor left out, memory nobody has written."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.graphs.handed import Handed
from conformance.graphs.local import Local, with_attributes
from conformance.graphs.step import Part, settled
from conformance.judging.verdict import Verdict
from graph import GraphError

from .looks import ABSENT, fits, memory, plainly, times
from .results import others
from .silence import Silence, sum_of

ASSIGNED = "assigned, not added"
_MOST = 6  # records that read one value: of more only single ones are tried


def of_gradient(local: Local, came: Handed, name: str, verdict: Verdict, silence: Silence) -> str:
    """Say in a line what is wrong with a gradient; silence: which records add nothing to which."""
    parts = local.parts[name]
    numbers = sorted({part.number for part in parts})
    readers = " and ".join(map(local.task.called, numbers))
    if silent := silence.of(name):
        return silent
    if name not in came.arrays:
        return f"{ABSENT} for {name}, to which {readers} belongs"
    got, due = came.arrays[name], local.results[name]
    if got.shape != due.shape or got.dtype != np.float32:
        return f"{name}: {verdict.reason}"
    missing = _missing(parts, got)
    if missing:
        return f"{name}: {_assigned(local, parts, missing)}"
    if said := memory(came, name, due):
        bare = name.partition(".")[2]
        whose = f"one of {readers}" if len(numbers) > 1 else readers
        return f"{whose} overwrites the gradient of {bare} with memory that nobody has written: {said}"
    for number in numbers:
        if said := _scaled(local, number, name, got) or _otherwise(local, number, name, got):
            return said
    return f"{name}, to which {readers} belongs: {plainly(local, came, name, verdict)}"


def _missing(parts: Sequence[Part], got: NDArray[Any]) -> list[Part]:
    """The parts without which a gradient is what came; none where it is no sum of the others."""
    counts = range(1, len(parts)) if len(parts) <= _MOST else (1, len(parts) - 1)
    for count in counts:
        for few in itertools.combinations(range(len(parts)), count):
            left = [part for place, part in enumerate(parts) if place not in few]
            if fits(sum_of(left), got):
                return [parts[place] for place in few]
    return []


def _assigned(local: Local, parts: Sequence[Part], missing: Sequence[Part]) -> str:
    held = [local.task.called(part.number) for part in parts if not any(part is one for one in missing)]
    without = " and ".join(dict.fromkeys(local.task.called(part.number) for part in missing))
    if len(held) == 1:
        return f"{ASSIGNED}: it holds what comes by {held[0]} alone, without {without}"
    return f"it lacks what comes by {without}"


def _scaled(local: Local, number: int, name: str, got: NDArray[Any]) -> str:
    """Say by which factor what a record adds is off, where that is a number of the record or of its shapes."""
    rest = [part for part in local.parts[name] if part.number != number]
    own = sum_of([part for part in local.parts[name] if part.number == number])
    for factor, words in _factors(local, number):
        changed = times(own, factor)
        if fits(settled(sum_of(rest) + changed) if rest else changed, got):
            return f"{words}: {factor:g} times the right one"
    return ""


def _factors(local: Local, number: int) -> Iterator[tuple[float, str]]:
    """Yield factors by which a record's gradient may be off, and what is to be said of each."""
    record, shapes = local.task.records[number], local.task.checked.shapes
    called, attributes = local.task.called(number), record.attributes
    temperature = attributes.get("temperature", 1.0)
    if temperature != 1:
        yield temperature, f"the temperature is lost, in the gradient of {called}"
        yield 1 / temperature, f"the temperature counts twice, in the gradient of {called}"
        yield temperature**2, f"the temperature multiplies where it divides, in the gradient of {called}"
    if not local.task.kind(number).is_loss:
        if attributes.get("scale", 1.0) not in (0.0, 1.0):
            yield 1 / attributes["scale"], f"the scale is lost, in the gradient of {called}"
        return
    if attributes["weight"] not in (0.0, 1.0):
        yield 1 / attributes["weight"], f"the weight is lost, in the gradient of {called}"
        yield attributes["weight"], f"the weight counts twice, in the gradient of {called}"
    shape = shapes[record.inputs[0]]
    by_rows = record.kind.endswith("cross_entropy")  # whose mean is over rows
    count = math.prod(shape[:-1]) if by_rows else math.prod(shape)
    lengths = {"samples": shape[0], "rows": math.prod(shape[:-1]), "numbers": math.prod(shape)}
    over = "rows" if by_rows else "numbers"
    for words, length in lengths.items():
        if length != count:
            scales = f"is scaled by 1 / {length} (its {words}), the loss by 1 / {count} (its {over})"
            yield count / length, f"the gradient of {called} {scales}"
    yield float(count), f"the gradient of {called} is that of the sum, the loss the mean of {count}"
    yield 2.0, f"the gradient of {called} has a factor 2 too many"
    yield 0.5, f"the gradient of {called} lacks a factor 2"
    yield -1.0, f"the gradient of {called} has the wrong sign"


def _otherwise(local: Local, number: int, name: str, got: NDArray[Any]) -> str:
    """Say which attribute a record's backward was carried out without."""
    record = local.task.records[number]
    rest = [part for part in local.parts[name] if part.number != number]
    for attribute, other in others(record, local.task.kind(number).attributes):
        changed = with_attributes(record, **{attribute: other})
        for anew in (False, True):
            try:
                forward = local.forward_with(number, changed) if anew else local.saved[number]
                own = local.backward_with(number, changed, forward).get(name, [])
                found = settled(functools.reduce(operator.add, [*(part.array for part in rest), *own])) if own else None
            except (GraphError, ValueError, IndexError, TypeError):  # a record that there cannot be
                continue
            if found is not None and fits(found, got) and not fits(local.results[name], got):
                value = record.attributes[attribute]
                what = f"the {attribute} is lost" if attribute == "temperature" else f"{attribute} = {value} is ignored"
                return f"{what}, in the gradient of {local.task.called(number)}: it is that of {attribute} = {other}"
    return ""
