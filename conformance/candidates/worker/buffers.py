"""The arrays of one call, laid out up to three times.

In run 1 every buffer ends at a guard zone, in run 2 it begins behind one, at the same address modulo 64: vector code
then takes the same path, and a deterministic operation gives the same bits.  What is left of a slot beside the buffer
holds a canary, run 1 and run 2 different ones, so that what was read from there shows as a difference.

So an array that is no whole number of 16 bytes never begins at a multiple of 16, and any other always does.  In run 3
it is the other way round: vector code takes its other paths, and may give other bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bindings import Function, Parameter, Signature, shape_of
from conformance.candidates.poison import POISON
from conformance.operations import widened

from .arena import CANARY, GAP, Arena, Slot
from .contents import Contents, held, parts, spans

TWICE, RUNS = (1, 2), (1, 2, 3)
_MARGIN = 4096  # bytes of a slot beside the buffer that hold the canary
_LINE = 64
VECTOR = 16  # bytes: what a thread of a device moves at most, and only from a multiple of as many


@dataclass
class Buffer:
    """One array: what it holds before each run (nothing there: poison), and where it lies."""

    parameter: Parameter
    index: int | None  # in a list of arrays
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    contents: dict[int, Contents]
    slots: dict[int, Slot]
    size: int
    is_read: bool = True
    is_displaced: bool = False  # whether it begins at no multiple of 16 bytes in run 3

    @property
    def name(self) -> str:
        return self.parameter.name if self.index is None else f"{self.parameter.name}[{self.index}]"

    @property
    def is_table(self) -> bool:
        """Whether it holds the addresses of a list's arrays."""
        return self.parameter.is_list and self.index is None

    @property
    def is_host(self) -> bool:
        """Whether it lies in host memory wherever the library computes."""
        return self.is_table or self.parameter.host

    @property
    def is_output(self) -> bool:
        return self.parameter.direction in {"out", "updated"} and not self.is_table

    @property
    def is_input(self) -> bool:
        return self.parameter.direction == "in" or self.is_table

    def is_null(self, run: int) -> bool:
        """Whether a null pointer is passed: what need not be there is there once, and once not."""
        return run == 2 and self.parameter.is_optional and not self.is_read

    def start(self, run: int) -> int:
        slot = self.slots[run]
        if run == 3:
            return slot.start + _LINE + self.is_displaced * self.dtype.itemsize
        return slot.stop - self.size if run == 1 else slot.start + -self.size % _LINE

    def stop(self, run: int) -> int:
        return self.start(run) + self.size

    def margins(self, run: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the parts of the slot before and behind the buffer that hold the canary."""
        slot, start, stop = self.slots[run], self.start(run), self.stop(run)
        return (max(slot.start, start - _MARGIN), start), (stop, min(slot.stop, stop + _MARGIN))

    def gaps(self, run: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the guard zones before and behind the slot, as far as they are nearer to it than to the next one."""
        slot = self.slots[run]
        return (slot.start - GAP // 2, slot.start), (slot.stop, slot.stop + GAP // 2)

    def fill(self, memory: Any, runs: Sequence[int]) -> None:
        """Put what the buffer holds before some runs, and canaries beside it, into the arena."""
        for alike in self.alike(runs):
            for at, content in self.before(alike[0]):
                for start in self.places(at, alike):
                    memory[start : start + len(content)] = content
        for run in runs:
            for start, stop in self.margins(run):
                memory[start:stop] = CANARY[run] * (stop - start)

    def alike(self, runs: Sequence[int]) -> list[list[int]]:
        """Return the runs, those together before which the buffer holds the same: what is large is then made once."""
        found: dict[int, list[int]] = {}
        for run in runs:
            found.setdefault(id(self.contents[run]) if self.contents else run, []).append(run)
        return [*found.values()]

    def places(self, at: int, alike: Sequence[int]) -> list[int]:
        """Return where in the arena, in each of several runs, stands what lies at a place in the first of them."""
        return [self.start(run) + at - self.start(alike[0]) for run in alike]

    def before(self, run: int) -> Iterator[tuple[int, bytes]]:
        """Yield what the buffer holds before the run, part by part: where in the arena, and what."""
        at = self.start(run)
        if not self.contents:
            yield from ((start, POISON[run] * (stop - start)) for start, stop in spans(at, self.stop(run)))
            return
        for part in parts(self.contents[run], self.dtype):
            yield at, part
            at += len(part)

    def array(self, memory: Any, run: int) -> Any:
        """Return what the buffer held when the run had ended."""
        held = np.frombuffer(memory, np.uint8, self.size, self.start(run)).copy()
        array = held.view(self.dtype).reshape(self.shape)
        return array if self.is_table else widened(array)


def _make(
    arena: Arena,
    parameter: Parameter,
    array: Any,
    shape: tuple[int, ...],
    index: int | None = None,
    is_read: bool = True,
) -> Buffer:
    """A buffer that holds the array; poison where there is none, or where it is not to be read."""
    dtype = np.dtype(np.uintp) if parameter.is_list and index is None else parameter.type.dtype
    contents = {} if array is None or not is_read else dict.fromkeys(RUNS, _contents(parameter, array, dtype))
    size = math.prod(shape) * dtype.itemsize
    slots = {run: arena.take(size + 2 * _LINE) for run in RUNS}
    return Buffer(parameter, index, dtype, shape, contents, slots, size, is_read, size % VECTOR == 0)


def _contents(parameter: Parameter, array: Any, dtype: np.dtype[Any]) -> Contents:
    """What an argument holds, of a 16-bit format in that format: the judge holds such numbers in float32."""
    is_widened = parameter.type.is_half and array.dtype == np.float32
    if not isinstance(array, np.ndarray) and (is_widened or array.dtype == dtype):
        return array.astype(dtype)  # type: ignore[no-any-return]
    if is_widened:
        array = array.astype(dtype)
    if array.dtype != dtype or not array.flags.c_contiguous:
        got = f"{array.dtype} with strides {array.strides}"
        raise ValueError(f"{parameter.name}: expected a dense {dtype} array, got {got}")
    return held(array)


def lay_out(arena: Arena, signature: Signature, arguments: Mapping[str, Any], sizes: Mapping[str, Any]) -> list[Buffer]:
    """Return the buffers of a call in the header's order; those of a list stand before its table of addresses."""
    buffers = []
    for parameter in signature.function.parameters:
        given = arguments.get(parameter.name)
        if parameter.name in signature.lengths:
            lengths = np.array([a.size for a in arguments[signature.lengths[parameter.name]]], np.int64)
            buffers.append(_make(arena, parameter, lengths, lengths.shape))
        elif parameter.is_list:
            buffers += [_make(arena, parameter, array, array.shape, index) for index, array in enumerate(given or ())]
            buffers.append(_make(arena, parameter, None, (len(given or ()),)))
        elif parameter.is_array:
            shape = shape_of(parameter, sizes) if given is None else given.shape
            buffers.append(_make(arena, parameter, given, shape, is_read=parameter.is_read(sizes)))
    return buffers


def raw_arguments(
    function: Function,
    buffers: list[Buffer],
    sizes: Mapping[str, Any],
    override: Mapping[str, Any],
    address: Callable[[Buffer, int], int],
    run: int,
) -> list[Any]:
    """Return what is passed to C in one run, and set the tables of addresses.

    address: of a buffer in a run, as the library sees it.

    An overridden name is passed as it is, None as a null pointer; "params[3]" overrides an entry of a table or of
    another host array.
    """
    raw = {**sizes, "stream": 0}
    tables: dict[str, list[int]] = {}
    for buffer in buffers:
        lies = address(buffer, run)
        if buffer.parameter.host and not buffer.is_table:
            buffer.contents[run] = _with_entries(buffer, override, run)
        if buffer.index is not None:
            tables.setdefault(buffer.parameter.name, []).append(override.get(buffer.name, lies) or 0)
            continue
        raw[buffer.name] = 0 if buffer.is_null(run) else lies
        if buffer.is_table:
            buffer.contents[run] = np.array(tables[buffer.name], np.uintp).tobytes()
    return [override.get(p.name, raw[p.name]) or 0 for p in function.parameters]


def _with_entries(buffer: Buffer, override: Mapping[str, Any], run: int) -> bytes:
    """What a host array holds in a run, its overridden entries in place."""
    held = np.frombuffer(b"".join(part for _, part in buffer.before(run)), buffer.dtype).copy()
    for place in range(held.size):
        held[place] = override.get(f"{buffer.name}[{place}]", held[place])
    return held.tobytes()
