"""What a worker's process answers: it makes the calls that it is told to, on memory that the judge fills."""

from __future__ import annotations

import contextlib
import functools
import importlib
import pickle
import signal
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bindings.shared_object.foreign import pointer
from conformance.candidates.module.raised import Raised

from .fresh_memory import filled
from .memory import HostMemory, Range
from .messages import receive_any, send
from .mishap import mishap
from .recorder import Recorder
from .replies import pack, pack_value
from .rounds import Pace, Repeatable, Repetition
from .shortage import Shortage, device_refusal, short_of
from .surroundings import Surroundings
from .together import Rounds, Together

Shapes = Mapping[str, Sequence[int]]  # of a call's arrays by their flat names; empty for a library, which needs none
Entry = Callable[..., int]
# Raw arguments, the parts of the arena that matter, those that are put back before a call, those that are compared, and
# the shapes of arrays.
Task = tuple[list[Any], list[tuple[int, int, int]], list[Range], list[Range], Shapes]


class Child:
    """Answers requests until the connection ends; `found`: what the process was like before the library was opened."""

    value = b""  # of the last Python function
    repetition: Repetition  # that was begun last
    surrounded: Callable[[Callable[[], int]], Callable[[], int]]  # of a call that takes nothing: with what around it
    said = "", ""  # what refused the last call, where that is more than a code: a line, and the rest

    def __init__(self, connection: int, opened: Any, memory: HostMemory, found: Surroundings) -> None:
        self.connection, self.opened, self.memory, self.found = connection, opened, memory, found
        self.surrounded = _as_it_is

    @functools.cached_property
    def library(self) -> Any:
        """The library as Python functions."""
        from bindings import Library  # here: NumPy takes as long to load as all else that a worker needs

        return Library(self.opened.path)

    @functools.cached_property
    def recorder(self) -> Recorder:
        """What the library notes of its calls, if it does."""
        return Recorder(self.opened.object)

    def _entry(self, symbol: str, types: Sequence[str], shapes: Shapes) -> Entry | None:
        """An operation's entry, which takes addresses; None where there is none."""
        found: Entry | None = self.opened.object.entry(symbol, types)
        return found

    def _settle(self) -> None:
        """Let go of what would be let go of some time, before memory is looked at."""

    def place(self, slots: list[tuple[int, int]]) -> tuple[Any, ...]:
        """Open new slots of the arena for good, and return their addresses."""
        return ("done", self.memory.place(slots))

    def forget(self) -> tuple[Any, ...]:
        """Close all slots: the arena begins anew."""
        self.memory.forget()
        return ("done",)

    def run(
        self,
        symbol: str,
        types: tuple[str, ...],
        runs: Sequence[tuple[int, list[Any], list[tuple[int, int, int]]]],
        gaps: list[tuple[int, int]],
        shapes: Shapes,
    ) -> tuple[Any, ...]:
        """Make the call once for each number, list of raw arguments and parts of the arena; `gaps` open meanwhile."""
        entry = self._entry(symbol, types, shapes)
        if entry is None:
            return ("missing",)
        self.memory.open(gaps)
        codes = []
        for number, values, carried in runs:
            self.memory.progress[0] = number
            stream = self.memory.stream(number)
            call = self.surrounded(functools.partial(entry, *_raw(types, _on(stream, values))))
            with filled(number):
                codes.append(self.memory.around(call, carried, stream))
        self.memory.progress[0] = 0
        self.memory.close(gaps)
        return ("done", (codes, self.said))

    def run_without_memory(self, *arguments: Any) -> tuple[Any, ...]:
        """Do the same while malloc gives the library nothing, or its emulated device has none."""
        if refuse := device_refusal(self.opened.object):
            self.surrounded = functools.partial(short_of, refuse)
            reply = self.run(*arguments)
            self.surrounded = _as_it_is
            return reply
        with Shortage(self.opened.path):
            return self.run(*arguments)

    def repeat(
        self, symbol: str, types: tuple[str, ...], task: Task, pace: Pace, exact: bool, refused: bool, seconds: float
    ) -> tuple[Any, ...]:
        """Make one call again and again for so long (rounds.py); say also what of the process is otherwise."""
        *call, shapes = task
        entry = self._entry(symbol, types, shapes)
        if entry is None:
            return ("missing",)
        values, carried, written, results = call
        bound = functools.partial(entry, *_raw(types, values))
        made = Repeatable(self.memory, bound, carried, written, results, settle=self._settle)
        self.repetition = Repetition(made, pace, exact, refused)
        return self.go_on(seconds)

    def go_on(self, seconds: float) -> tuple[Any, ...]:
        """Go on with that call for so much longer."""
        self.repetition.go_on(seconds)
        return ("done", (self.repetition.told(), list(self.found.changed())))

    def together(
        self, symbol: str, types: tuple[str, ...], tasks: list[Task], rounds: Rounds, exact: bool
    ) -> tuple[Any, ...]:
        """Make calls at once (together.py), each on a stream of its own where the library has streams."""
        entries = [entry for task in tasks if (entry := self._entry(symbol, types, task[-1]))]
        if not entries:
            return ("missing",)
        services = self.opened.services
        with contextlib.ExitStack() as streams:
            calls = []
            for entry, (values, carried, written, results, _) in zip(entries, tasks, strict=True):
                stream = services.stream_create() if services.has("stream_create") else None
                if stream is not None:
                    streams.callback(services.stream_destroy, stream)
                made = functools.partial(entry, *_raw(types, _on(stream, values)))
                calls.append(Repeatable(self.memory, made, carried, written, results, stream))
            return ("done", Together(calls, rounds, exact).run())

    def reached(self) -> tuple[Any, ...]:
        """Say what the calls since the last time have reached, where the library was compiled for that."""
        return ("done", self.recorder.news())

    def call(self, target: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Call a Python function, "package.module:function", with the open library first."""
        module, _, name = target.partition(":")
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
        self.value = pack_value(function(self.library, *arguments))
        return ("done",)

    def serve(self) -> None:
        while True:
            try:
                number, request = receive_any(self.connection)
            except EOFError:
                return
            kind, seconds, arguments = pickle.loads(request)  # which the judge has sent
            # Should the judge be killed meanwhile, a hanging library ends all the same.
            signal.setitimer(signal.ITIMER_REAL, seconds + 1)
            try:
                answer: Callable[..., tuple[Any, ...]] = getattr(self, kind)  # place, forget, run, repeat ...
                reply = answer(*arguments)
            except Raised as error:  # by a module, which is told by its own lines
                reply = ("raised", str(error))
            except Exception as error:
                short = mishap(error, len(self.memory.progress))
                told = traceback.format_exc()
                reply = ("mishap", f"{short}\n{told}") if short else ("raised", told)
            signal.setitimer(signal.ITIMER_REAL, 0)
            send(self.connection, pack(*reply), number)
            if kind == "call" and reply[0] == "done":
                send(self.connection, self.value, number)


def _as_it_is(made: Callable[[], int]) -> Callable[[], int]:
    return made


def _on(stream: int | None, values: Sequence[Any]) -> Sequence[Any]:
    """Arguments of a call on a stream, None for the default one: it is every operation's last argument."""
    return values if stream is None else [*values[:-1], stream]


def _raw(types: Sequence[str], values: Sequence[Any]) -> list[Any]:
    """Arguments as an entry takes them: addresses as pointers."""
    return [pointer(value) if kind == "void*" else value for kind, value in zip(types, values, strict=True)]
