"""Calls in a row, of a worker's library: one at a time on memory that stays, one again and again, two at once."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import findings
from .buffers import TWICE
from .call import Call
from .outcome import Outcome, Status
from .process import Ended
from .rounds import PROGRESS, Held, Pace
from .together import Rounds
from .worker import INVALID, Worker

WINDOWS = 16  # parts of a thousand calls, of which the last half tell whether memory grows
_NOTHING = "", ""  # said of a call beside its code
_OF_TIME = 0.5  # of what a request may take: calls end by themselves before the judge ends them
_TURNS = 8  # requests for calls in a row, at most: a machine with other work takes so much longer


@dataclass
class Repeated:
    """What came of a call that was made again and again.

    made      how many calls there were; the last is the one that `outcome` is of
    differs   whether that gave other bits than the first
    window    calls between two readings of memory
    memory    what the process held: after the first call, and each window
    changed   what of the process is no longer as it was before the library was opened, in words
    late      whether outputs changed once the first call had returned
    is_over   whether there are no calls that are wanting: on a busy machine the clock may have ended them
    """

    outcome: Outcome
    made: int = 0
    differs: bool = False
    window: int = 0
    memory: list[Held] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    late: bool = False
    is_over: bool = True


@dataclass
class AtOnce:
    """What came of calls that were made at once: the outcome of each, how many times it was made, and if one of them
    was not as it is by itself (`place`; -1: none), in which of its rounds (0: by itself) and whether it gave other
    bits.  Where the process ended there is one outcome."""

    outcomes: list[Outcome]
    made: list[int] = field(default_factory=list)
    place: int = -1
    round: int = 0
    differs: bool = False


def once(
    worker: Worker,
    operation: str,
    arguments: Mapping[str, Any],
    run: int = 1,
    override: Mapping[str, Any] | None = None,
    displaced: str | None = None,
) -> Outcome:
    """Call an operation one time, in the buffers of one run, where those of another call of the same sizes lay.

    displaced: the array that alone begins at no multiple of 16 bytes, in run 3; "": none does.
    A call to be refused that cannot be made of a module is as good as refused.
    """
    if not worker.can_make(operation, override or {}):
        return Outcome("done", INVALID)  # no such call can be made, and so none was carried out
    [call] = _laid_out(worker, operation, [arguments], override)
    if displaced is not None:
        call.displace(displaced)
    try:
        reply = call.make(worker.process(), worker.limit_s, [run])
    except Ended as ended:
        return _ended(worker, ended, "")
    return _outcome(worker, call, reply, run)


def without_memory(worker: Worker, operation: str, arguments: Mapping[str, Any]) -> Outcome:
    """Call an operation twice while malloc gives the library nothing; of a device's library as ever."""
    [call] = _laid_out(worker, operation, [arguments])
    try:
        reply = call.make(worker.process(), worker.limit_s, TWICE, kind="run_without_memory")
    except Ended as ended:
        return _ended(worker, ended, "")
    if without := worker.without_result(call, reply):
        return without
    memory, (codes, said) = worker.arena.memory, reply[1]
    found = [finding for buffer in call.buffers for finding in findings.of_runs(memory, buffer, TWICE)]
    if max(codes) < 0:
        refused = (findings.of_refusal(memory, buffer, codes[0]) for buffer in call.buffers if buffer.is_output)
        found += [finding for each in refused for finding in each]
    return Outcome("done", codes[0], call.outputs(), found, worker.process().printed(), raised=said[0])


def repeated(
    worker: Worker,
    operation: str,
    arguments: Mapping[str, Any],
    count: int,
    exact: bool = True,
    refused: Mapping[str, Any] | None = None,
) -> Repeated:
    """Make a call so many times; exact: until it gives other bits than the first.

    refused: of a call that is to be refused what is passed in place of good arguments: it goes on though it fails.
    """
    [call] = _laid_out(worker, operation, [arguments], refused)
    seconds = worker.limit_s * _OF_TIME
    pace = Pace(count, min(count, WINDOWS), seconds)
    try:
        reply = _ask(worker, "repeat", [call], _task(worker, call), pace, exact, refused is not None, seconds)
        for _ in range(_TURNS - 1):
            if reply[0] != "done" or reply[1][0][-1]:
                break
            reply = worker.process().ask("go_on", worker.limit_s, seconds)
    except Ended as ended:
        [made] = struct.unpack_from("q", worker.arena.memory, PROGRESS)
        return Repeated(_ended(worker, ended, f" in call {made}"), made)
    if reply[0] != "done":
        return Repeated(_outcome(worker, call, reply))
    (made, code, differs, memory, window, late, is_over), changed = reply[1]
    outcome = _outcome(worker, call, ("done", ([code], _NOTHING)))
    return Repeated(outcome, made, differs, window, memory, changed, late, is_over)


def together(
    worker: Worker, operation: str, calls: Sequence[Mapping[str, Any]], rounds: Rounds, exact: bool = True
) -> AtOnce:
    """Make calls at once, each again and again on a thread, arrays and a stream of its own."""
    made = _laid_out(worker, operation, calls)
    tasks = [_task(worker, call) for call in made]
    try:
        reply = _ask(worker, "together", made, tasks, rounds, exact)
    except Ended as ended:
        return AtOnce([_ended(worker, ended, "")])
    if reply[0] != "done":
        return AtOnce([_outcome(worker, made[0], reply)])
    counts, wrong = reply[1]
    place, round, code, differs = wrong or (-1, 0, 0, False)
    codes = [code if place == mine else 0 for mine in range(len(made))]
    outcomes = [_outcome(worker, call, ("done", ([code], _NOTHING))) for call, code in zip(made, codes, strict=True)]
    return AtOnce(outcomes, counts, place, round, differs)


def _laid_out(
    worker: Worker,
    operation: str,
    calls: Sequence[Mapping[str, Any]],
    override: Mapping[str, Any] | None = None,
) -> list[Call]:
    worker.begin(operation)
    return [Call(worker.arena, worker.signature(operation), arguments, override or {}) for arguments in calls]


def _ask(worker: Worker, kind: str, calls: Sequence[Call], *arguments: Any) -> tuple[Any, ...]:
    function = calls[0].signature.function
    struct.pack_into("q", worker.arena.memory, PROGRESS, 1)
    return worker.process().ask(kind, worker.limit_s, function.symbol, function.types, *arguments)


def _task(worker: Worker, call: Call) -> tuple[Any, ...]:
    """What the worker's process is told of a call, whose buffers are filled."""
    process = worker.process()
    process.place(worker.arena.slots, worker.limit_s)
    [(_, made, parts)] = call.fill(process, (1,))
    written = [(buffer.start(1), buffer.stop(1)) for buffer in call.buffers if not buffer.is_input]
    results = [(buffer.start(1), buffer.stop(1)) for buffer in call.buffers if buffer.is_output]
    return made, parts, written, results, call.shapes


def _outcome(worker: Worker, call: Call, reply: tuple[Any, ...], run: int = 1) -> Outcome:
    """What came of one run, or of the last of many."""
    if without := worker.without_result(call, reply):
        return without
    memory, ([code], said) = worker.arena.memory, reply[1]
    raised, trace = said if code < 0 else _NOTHING
    found = [finding for buffer in call.buffers for finding in findings.of_runs(memory, buffer, (run,))]
    printed = worker.process().printed()
    if code > 0:
        worker.stop()  # a device that failed once answers every later call with the same error
    detail = "\n".join(filter(None, [trace, printed]))
    return Outcome("done", code, call.outputs(run), found, detail, raised=raised)


def _ended(worker: Worker, ended: Ended, where: str) -> Outcome:
    detail = "\n".join(filter(None, [f"{ended.reason}{where}", worker.process().printed()]))
    worker.stop()
    status: Status = ended.status
    return Outcome(status, detail=detail)
