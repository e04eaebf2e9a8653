"""The calls of a pass, noted as they are made: what each reads and writes, and where."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bindings import DeviceArray, Signature, read_header
from reference.arrays import Array
from reference.namespace import Ops, Wrapped


@dataclass(frozen=True)
class Slot:
    """Memory that a call fills: number and bytes; born: the call's number."""

    number: int
    nbytes: int
    born: int


@dataclass(frozen=True)
class Call:
    """One call: its arguments by name, and by name the arrays that it returned (a list's are those it was given)."""

    operation: str
    arguments: Mapping[str, Any]
    returned: Mapping[str, Any]


@functools.cache
def signature(operation: str) -> Signature:
    """How an operation is called, by the header."""
    return Signature(read_header().operations[operation])


@dataclass
class Trace:
    """Calls in order, and the slots that they fill. Every array is held, so that no address is used twice."""

    calls: list[Call] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    last: list[int] = field(default_factory=list)  # by slot: the last call that reads or writes it
    _by_address: dict[int, int] = field(default_factory=dict)

    def add(self, call: Call) -> None:
        """Note a call: what it returns that nobody gave it lies in slots of its own."""
        number = len(self.calls)
        self.calls.append(call)
        for array in arrays_of(call.arguments):
            self._use(array, number)
        for array in arrays_of(call.returned):
            if self.slot(array) is None and not any(array is given for given in arrays_of(call.arguments)):
                self._by_address[address(array)] = len(self.slots)
                self.slots.append(Slot(len(self.slots), array.nbytes, number))
                self.last.append(number)
            else:
                self._use(array, number)

    def _use(self, array: Array, number: int) -> None:
        slot = self.slot(array)
        if slot is not None:
            self.last[slot] = number

    def slot(self, array: Array) -> int | None:
        """The slot that an array, or a view that starts where it does, lies in; None where no call made it."""
        return self._by_address.get(address(array))

    def keep(self, array: Array) -> None:
        """Let an array outlive the last call: it is a result."""
        self._use(array, len(self.calls))

    def needed(self, wanted: Sequence[Array]) -> Trace:
        """The calls without which what is wanted would be another: what nobody reads of the others is not computed.

        The gradient of the first layer's input is such a thing.
        """
        slots = {self.slot(array) for array in wanted}
        found = []
        for call in reversed(self.calls):
            written = {self.slot(array) for array in arrays_of(call.returned)}
            if None in written or written & slots:  # None: what the call was given is written over
                found.append(call)
                slots |= {self.slot(array) for array in arrays_of(call.arguments)} - {None}
        rest = Trace()
        for call in reversed(found):
            rest.add(call)
        for array in wanted:
            rest.keep(array)
        return rest


def address(array: Array) -> int:
    """Where an array begins."""
    return array.address if isinstance(array, DeviceArray) else int(array.__array_interface__["data"][0])


def arrays_of(values: Mapping[str, Any]) -> Iterator[Array]:
    """Yield the arrays among values, those in lists too."""
    for value in values.values():
        for one in value if isinstance(value, list | tuple) else (value,):
            if hasattr(one, "nbytes") and hasattr(one, "reshape"):
                yield one


class Traced(Wrapped):
    """A namespace of operations whose calls are noted."""

    def __init__(self, ops: Ops) -> None:
        super().__init__(ops)
        self.trace = Trace()

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        found = super()._call(operation, *args, **named)
        known = signature(operation)
        names = [parameter.name for parameter in known.returned]
        returned = dict(zip(names, (found,) if len(names) == 1 else found, strict=True))
        self.trace.add(Call(operation, known.named(args, named), returned))
        return found
