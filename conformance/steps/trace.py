"""A namespace of operations that notes every call, in execution order, and names it by what it works on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conformance import operations
from conformance.catalogue.families import facts_of
from conformance.catalogue.prepared.codec import Codec
from conformance.limits.noise import Noisy
from reference.namespace import Namespace

Arguments = dict[str, Any]
_UPDATED = {"params": "", "ms": "first moment of ", "vs": "second moment of ", "copies": "copy of "}
_LAYER = re.compile(r"layers\.\d+")


@dataclass(frozen=True)
class Call:
    """One call of a step: its place, what it works on, its arguments and results by header name."""

    index: int
    operation: str
    label: str
    arguments: Arguments = field(repr=False)
    results: Mapping[str, Any] = field(repr=False)
    tensors: dict[str, str] = field(default_factory=dict)  # what outputs are: of a layer, a parameter, its gradient
    layer: str = ""  # the layer it works for, if one

    @property
    def name(self) -> str:
        return f"{self.index:03d} {self.label}"


CALLS = Codec(Call)


class Traced(Namespace):
    """Wraps a way to carry out operations; attributes are operations, as on the reference or a library.

    carry_out(operation, arguments) gets the arguments by header name and returns the outputs by header name.  Arrays
    are recognised by where they lie, so that `layers.0.w_q` keeps its name through views, and results are named after
    the call that made them.  With copies=True results are noted as they are now, not as a later call may leave them.
    """

    def __init__(
        self, carry_out: Callable[[str, Arguments], Mapping[str, Any]], names: Mapping[str, Any], copies: bool = False
    ) -> None:
        self.calls: list[Call] = []
        self._carry_out, self._copies = carry_out, copies
        self._names: dict[int, str] = {}
        self._made: dict[int, tuple[Call, str]] = {}  # the call and output that an array came from last
        self._parameters = set(names)
        self._alive: list[Any] = []  # so that no place is used twice
        self.recognise(names)

    def recognise(self, names: Mapping[str, Any]) -> None:
        """Call these arrays by name from now on: after an update the parameters lie elsewhere."""
        self._alive.append(names)
        self._names |= {_place(array): name for name, array in names.items()}

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        function = operations.OPERATIONS.get(operation)
        if function is None:
            raise AttributeError(f"the header declares no operation {operation}")
        arguments = operations.signature(function).named(args, named)
        label = self._label(operation, arguments)
        given = dict(arguments)
        results = self._carry_out(operation, arguments)
        kept = {n: _copied(v) for n, v in results.items()} if self._copies else dict(results)
        layer = self._layer(given)
        tensors = {output: f"{output} of {layer}" for output in operations.flat(results)} if layer else {}
        self.calls.append(Call(len(self.calls), operation, label, arguments, kept, tensors, layer))
        self._alive.append((given, results))
        for output, value in operations.flat(results).items():
            self._names.setdefault(_place(value), label)
            self._made[_place(value)] = self.calls[-1], output
        if facts_of(operation).updates:
            self._recognise_update(given)
        values = tuple(results.values())
        return values[0] if len(values) == 1 else values

    def _recognise_update(self, given: Arguments) -> None:
        """An update tells which results were gradients, and of what."""
        for place, (parameter, gradient) in enumerate(zip(given["params"], given["grads"], strict=True)):
            name = self._names.get(_place(parameter), f"parameter {place}")
            for output, role in _UPDATED.items():
                self.calls[-1].tensors[f"{output}[{place}]"] = role + name
            if _place(gradient) in self._made:
                call, output = self._made[_place(gradient)]
                call.tensors[output] = f"gradient of {name}"

    def _label(self, operation: str, arguments: Arguments) -> str:
        """The operation with the parameters it reads, or else what its first argument came from."""
        arrays = [a for a in operations.flat(arguments).values() if isinstance(a, (np.ndarray, Noisy))]
        known = [self._names[_place(a)] for a in arrays if _place(a) in self._names]
        parameters = [name for name in dict.fromkeys(known) if name in self._parameters]
        if parameters:
            return f"{operation}({parameters[0]}{', ...' if len(parameters) > 1 else ''})"
        if known:
            return f"{operation} of {known[0].partition(' of ')[0]}"
        return operation

    def _layer(self, given: Arguments) -> str:
        """The layer whose parameters a call reads, or else the one that its arguments come from; losses are of all."""
        places = [_place(a) for a in given.values() if isinstance(a, (np.ndarray, Noisy)) and a.size > 1]
        parameters = [self._names[p] for p in places if self._names.get(p) in self._parameters]
        if parameters:
            named = _LAYER.match(parameters[0])
            return named[0] if named else ""
        return next((self._made[p][0].layer for p in places if p in self._made and self._made[p][0].layer), "")


def _place(array: Any) -> int:
    values = array.v if isinstance(array, Noisy) else array
    place: int = values.__array_interface__["data"][0]
    return place


def _copied(value: Any) -> Any:
    return [v.copy() for v in value] if isinstance(value, list) else value.copy()
