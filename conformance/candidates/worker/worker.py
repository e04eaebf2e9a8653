"""A worker: one library in a process of its own, started again whenever it ends."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from bindings import Facts, LibraryError, Signature, read_header
from conformance.candidates.finding import Finding, Misdeed
from conformance.candidates.module.source import Module, can_be_made

from . import diagnose, findings
from .arena import Arena
from .call import Call
from .outcome import Outcome, Status
from .process import Ended, Process

_RUN = (
    "no run",
    "run 1, buffers ending at guard zones",
    "run 2, buffers beginning behind guard zones",
    "run 3, buffers otherwise aligned",
)
_STRAY = ("SIGSEGV", "SIGBUS")
INVALID = -2  # ASSAYER_INVALID
THREADS = 4  # of a candidate's own, where they are to meet: more than many a machine has processors left
_EXPLAINED = 3  # crashes of one operation that are looked into: each costs a few starts of the process


class Worker:
    """Calls the operations of a candidate, with `threads` threads and at most `limit_s` seconds a request.

    candidate: the path of a library, or a module of Python.
    environment: variables that the library's process has beside the judge's own.  prefix: a command that starts it, as
    `setarch -R` does.  begun: its first process, started already, and the arena that they share.
    explains: whether a crash is repeated, to find the argument that it was at.  Used with `with`.
    Raises LibraryError when the library cannot be opened or is not built from this header, NoDevice where it needs one.
    """

    def __init__(
        self,
        candidate: str | os.PathLike[str] | Module,
        threads: int = 1,
        limit_s: float = 10.0,
        environment: Mapping[str, str] = MappingProxyType({}),
        prefix: Sequence[str] = (),
        begun: tuple[Arena, Process] | None = None,
        explains: bool = True,
    ) -> None:
        self.module = candidate if isinstance(candidate, Module) else None
        self.path = candidate.path if isinstance(candidate, Module) else Path(candidate).absolute()
        self.source: Path | Module = self.module or self.path
        self.threads, self.limit_s = threads, limit_s
        self.environment, self.prefix, self.explains = environment, prefix, explains
        self._signatures: dict[str, Signature] = {}
        self._explained: Counter[str] = Counter()
        self._called: set[str] = set()  # operations, since the process was started
        self._process: Process | None
        self.arena, self._process = begun or (Arena(), None)
        self._threaded: Worker | None = None

    def __enter__(self) -> Self:
        try:
            self.facts()
        except LibraryError:
            self.close()
            raise
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def close(self) -> None:
        if self._threaded:
            self._threaded.close()
        self._threaded = None
        self.stop()
        self.arena.close()

    @property
    def has_own_threads(self) -> bool:
        """Whether it computes on a device, whose threads are as many as a call asks for."""
        facts = self.facts()
        return facts.is_device_build and not facts.emulated

    def threaded(self) -> Worker:
        """Return a worker of the same candidate that computes in THREADS threads; it is closed with this one."""
        if self._threaded is None:
            self._threaded = Worker(
                self.source, THREADS, self.limit_s, self.environment, self.prefix, explains=self.explains
            )
        return self._threaded

    def process(self) -> Process:
        """Return the process, started if there is none."""
        if self._process is None:
            words = self.module.words if self.module else str(self.path)
            self._process = Process(words, self.arena, self.threads, self.environment, self.prefix)
        return self._process

    def facts(self) -> Facts:
        """Return what the library says of itself."""
        return self.process().facts

    def stop(self) -> None:
        """End the process; the next request starts another."""
        if self._process:
            self._process.close()
        self._process = None
        self._called.clear()

    def signature(self, operation: str) -> Signature:
        """Return how the operation is called."""
        if operation not in self._signatures:
            self._signatures[operation] = Signature(read_header().operations[operation])
        return self._signatures[operation]

    def run(self, operation: str, arguments: Mapping[str, Any], override: Mapping[str, Any] | None = None) -> Outcome:
        """Call an operation on guarded copies of the arguments, up to three times (buffers.py).

        Raises ValueError on arguments that do not fit.

        `arguments`: arrays, lists of arrays and the numbers of the Python signature, by the header's names; an updated
        array that is left out is poisoned.  `override`: what is passed to C instead, unchecked: None is a null
        pointer, a number any size or scalar; the buffers stay those that the arguments ask for.
        """
        if not self.can_make(operation, override or {}):
            return Outcome("missing", detail="no such call can be made of a Python function")
        self.begin(operation)
        call = Call(self.arena, self.signature(operation), arguments, override or {})
        try:
            reply = call.make(self.process(), self.limit_s, call.runs)
        except Ended as ended:
            return self._ended(ended, call)
        return self.without_result(call, reply) or self._done(call, *reply[1])

    def without_result(self, call: Call, reply: tuple[Any, ...]) -> Outcome | None:
        """Return what came of a call that no result came of; None of another."""
        if reply[0] == "missing":
            return Outcome("missing", detail=f"the library does not export {call.signature.function.symbol}")
        return self._raised(*reply) if reply[0] != "done" else None

    def _raised(self, status: Status, detail: str) -> Outcome:
        if status == "mishap":
            self.stop()  # another process may find what this one lacks
        return Outcome(status, detail=detail)

    def can_make(self, operation: str, override: Mapping[str, Any]) -> bool:
        """Whether a call with these arguments in place of good ones can be made of the candidate."""
        return self.module is None or can_be_made(read_header().operations[operation], override)

    def begin(self, operation: str) -> None:
        """Make all of the arena free for the next call, which is of this operation."""
        self._called.add(operation)
        if self.arena.begin() and self._process:
            self._process.forget(self.limit_s)

    def renew(self, operation: str) -> None:
        """Stop the process if it has called the operation: the next call of it is the first of a process."""
        if operation in self._called:
            self.stop()

    def _done(self, call: Call, codes: list[int], said: tuple[str, str]) -> Outcome:
        memory = self.arena.memory
        found: list[Finding] = []
        for buffer in call.buffers:
            found += findings.of_runs(memory, buffer, call.runs)
            if buffer.is_output and codes[:2] == [0, 0]:
                found += findings.of_both(memory, buffer, self.facts().on_device)
            if buffer.is_output and max(codes) < 0:
                found += findings.of_refusal(memory, buffer, codes[0])
        if codes[0] != codes[1]:
            text = f"the first run returned {codes[0]}, the second {codes[1]}"
            found.append(Finding(Misdeed.OTHER_CODE, text))
        elif codes[-1] != codes[0]:
            text = f"returned {codes[0]}, and {codes[-1]} where buffers are otherwise aligned"
            found.append(Finding(Misdeed.OTHER_CODE, text))
        printed = self.process().printed()
        if max(codes) > 0:
            self.stop()  # a device that failed once answers every later call with the same error
        elsewhere = call.outputs(3) if codes == [0, 0, 0] else {}
        first = call.outputs()
        unlike = (Misdeed.VARIES, Misdeed.OTHER_STREAM, Misdeed.UNWRITTEN)
        differs = any(finding.kind in unlike for finding in found)
        again = call.outputs(2) if differs else first
        told = list(dict.fromkeys(found))
        raised, trace = said if codes[0] < 0 else ("", "")
        detail = "\n".join(filter(None, [trace, printed]))
        return Outcome("done", codes[0], first, told, detail, again=again, elsewhere=elsewhere, raised=raised)

    def _ended(self, ended: Ended, call: Call) -> Outcome:
        """Say in which run the process ended; where it crashed, look for the argument it was at."""
        run = self.arena.memory[0]
        detail = [f"{ended.reason} in {_RUN[run]}", self.process().printed()]
        outputs = call.outputs() if run > 1 else {}
        self.stop()
        found: list[Finding] = []
        operation = call.signature.function.operation
        if self.explains and run and ended.reason in _STRAY and self._explained[operation] < _EXPLAINED:
            self._explained[operation] += 1
            found = list(diagnose.crash(self, call, run))
        return Outcome(ended.status, None, outputs, found, "\n".join(filter(None, detail)))

    def call(self, function: Callable[..., Any], *arguments: Any, limit_s: float | None = None) -> Outcome:
        """Call a Python function in the worker, given the open bindings.Library first.

        It travels by its name, so it is a function of a module; arguments and result are pickled.  Where it raises, the
        status is "raised" and the detail its traceback.  Raises ValueError for a function that has no such name.
        """
        try:
            reply = self.process().ask("call", limit_s or self.limit_s, _name(function), arguments)
        except Ended as ended:
            detail = "\n".join(filter(None, [ended.reason, self.process().printed()]))
            self.stop()
            return Outcome(ended.status, detail=detail)
        if reply[0] != "done":
            return self._raised(*reply)
        return Outcome("done", value=reply[1], detail=self.process().printed())


def _name(function: Callable[..., Any]) -> str:
    """Return the name by which another process imports a function: "package.module:function"."""
    if "." in function.__qualname__ or "<" in function.__qualname__:
        raise ValueError(f"expected a function of a module, got {function.__module__}.{function.__qualname__}")
    return f"{function.__module__}:{function.__qualname__}"
