"""One call of an operation, ready to be made in the worker's process, as often as need be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bindings import Signature

from .arena import CANARY, Arena
from .buffers import RUNS, TWICE, Buffer, lay_out, raw_arguments
from .process import GARBLED, Ended, Process

Filled = tuple[int, list[Any], list[tuple[int, int, int]]]  # a run, its raw arguments, its parts of the arena
_SMALL = 1 << 18  # bytes of arrays up to which a call is made a third time


class Call:
    """The buffers of one operation's arguments in the arena."""

    def __init__(
        self, arena: Arena, signature: Signature, arguments: Mapping[str, Any], override: Mapping[str, Any]
    ) -> None:
        self.arena, self.signature, self.override = arena, signature, override
        due = {p.name for p in signature.given if not p.read_if} | {p.name for p in signature.scalars}
        if wrong := due - arguments.keys() or arguments.keys() - set(signature.names):
            names = f"{signature.function.operation}{signature.python()}"
            raise ValueError(f"{names}: argument {min(wrong)} is missing or not one of them")
        self.sizes = signature.sizes(arguments)
        self.buffers = lay_out(arena, signature, arguments, self.sizes)
        self.runs = RUNS if sum(buffer.size for buffer in self.buffers) <= _SMALL else TWICE  # as many as it is worth

    def displace(self, name: str) -> None:
        """Let all arrays begin at multiples of 16 bytes in run 3, but for one parameter's; "" is none's."""
        for buffer in self.buffers:
            buffer.is_displaced = buffer.parameter.name == name

    def make(
        self,
        process: Process,
        seconds: float,
        runs: Sequence[int],
        opened: Sequence[tuple[int, int]] = (),
        kind: str = "run",
    ) -> tuple[Any, ...]:
        """Fill the buffers and call once per run.  Raises Ended.

        opened: guard zones that hold canaries instead.  kind: what the process is asked to do (answers.py).
        """
        memory, function = self.arena.memory, self.signature.function
        memory[0] = 0  # the worker puts the number of the run here
        process.place(self.arena.slots, seconds)
        made = self.fill(process, runs)
        for run in runs:
            for start, stop in opened:
                memory[start:stop] = CANARY[run] * (stop - start)
        reply = process.ask(kind, seconds, function.symbol, function.types, made, list(opened), self.shapes)
        if reply[0] == "done" and len(reply[1][0]) != len(runs):
            raise Ended("crashed", GARBLED)
        return reply

    def fill(self, process: Process, runs: Sequence[int]) -> list[Filled]:
        """Fill the buffers of some runs; return each, its raw arguments, and what of the arena matters to a device."""
        function, address = self.signature.function, process.address
        raw = [raw_arguments(function, self.buffers, self.sizes, self.override, address, run) for run in runs]
        for buffer in self.buffers:
            buffer.fill(self.arena.memory, runs)
        carried = ([_carried(buffer, run) for buffer in self.buffers if not buffer.is_host] for run in runs)
        return [*zip(runs, raw, carried, strict=True)]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every array by its flat name, as a module has to be told."""
        return {buffer.name: buffer.shape for buffer in self.buffers if not buffer.is_table}

    def outputs(self, run: int = 1) -> dict[str, Any]:
        """Return what a run left, by the header's names."""
        found: dict[str, Any] = {}
        for buffer in self.buffers:
            if buffer.is_output:
                array = buffer.array(self.arena.memory, run)
                if buffer.index is None:
                    found[buffer.name] = array
                else:
                    found.setdefault(buffer.parameter.name, []).append(array)
        return found

    def gaps(self, run: int) -> list[tuple[Buffer, str, tuple[int, int]]]:
        """Return every guard zone of a run: the buffer, the side, and from where to where."""
        behind = [(buffer, "past the end", buffer.gaps(run)[1]) for buffer in self.buffers]
        return behind + [(buffer, "before the beginning", buffer.gaps(run)[0]) for buffer in self.buffers]


def _carried(buffer: Buffer, run: int) -> tuple[int, int, int]:
    """The slot of a buffer that may lie in device memory, and from where to where it matters: with its canaries."""
    before, behind = buffer.margins(run)
    return buffer.slots[run].start, before[0], behind[1]
