"""One step of an engine, every result held against what it has to be: locked, then free."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.candidates.finding import Finding, Misdeed
from conformance.judging.evidence_selection import EvidenceSelector
from conformance.judging.outputs import as_stored, is_known
from conformance.judging.results import Result, Status
from conformance.judging.verdict import judge, refused

from .choices import Watched
from .diagnosis import diagnose
from .handed import Handed
from .local import Local, noisy
from .step import Step
from .task import Task

OPERATION = "graph"  # what stands for an operation's name
ABSENT = "nothing was handed in"
LOCKED, FREE = "locked", "free"


@dataclass(frozen=True)
class Judged:
    """A task's results: locked in the order of a step, then free; absent: what was not handed in and had to be."""

    task: Task
    locked: tuple[Result, ...]
    free: tuple[Result, ...]
    absent: tuple[str, ...]

    @property
    def results(self) -> tuple[Result, ...]:
        return (*self.locked, *self.free)

    @property
    def wrong(self) -> list[Result]:
        """The locked results that failed, the first wrong one first."""
        return [result for result in self.locked if result.has_failed]


def tensor_of(result: Result) -> str:
    """Return the name of the result that a Result is of: value.h2."""
    return result.id.rpartition(" ")[2]


def judge_step(task: Task, came: Handed, partial: bool = False, selector: EvidenceSelector | None = None) -> Judged:
    """Judge what an engine handed in.

    partial: whether what was not handed in, or not written, is left out; else it has failed.  selector: chooses whose
    pictures are kept.
    """
    came = came.without(
        {name for name in came.arrays if came.is_unwritten(name) and (partial or name in task.optional)}
    )
    local = Local(task, came)
    local.run()
    names = [name for name in task.known if name in came.arrays or (name in task.wanted and not partial)]
    absent = tuple(name for name in task.wanted if name not in came.arrays)
    locked = [_judged(task, LOCKED, place, name, local, came, selector) for place, name in enumerate(names)]
    locked = list(_explained(local, came, locked))
    expected = free_of(task)
    free = [_free(task, place, name, expected, came) for place, name in enumerate(names) if name in came.arrays]
    return Judged(task, tuple(locked), tuple(free), absent)


def _id(task: Task, way: str, place: int, name: str) -> str:
    return f"graph/{task.name}/{way}/{place:03d} {name}"


def _judged(
    task: Task, way: str, place: int, name: str, local: Local, came: Handed, selector: EvidenceSelector | None
) -> Result:
    """One result on the engine's own inputs."""
    id, wanted = _id(task, way, place, name), as_stored({name: local.results[name]})[name]
    if name in came.arrays and came.arrays[name].shape == wanted.shape:
        if not is_known(wanted):
            return Result(id, OPERATION, Status.NOT_RUN, "what it is computed from is so large that nothing is known")
        if near := _choices(local, name):
            words = f"{near} choices of {' and '.join(local.task.called(n) for n in _behind(local, name))}"
            return Result(id, OPERATION, Status.MISTRUSTED, f"{words} lie within the noise: choose another seed")
    result = _held(id, name, wanted, came)
    return selector.attach(result, lambda: {name: wanted}, came.arrays) if selector and _has(came, name) else result


def _has(came: Handed, name: str) -> bool:
    return name in came.arrays and came.arrays[name].shape == came.known[name]


def _held(id: str, name: str, wanted: Any, came: Handed) -> Result:
    """A result held against what is due."""
    if name not in came.arrays:
        verdict = refused(name, ABSENT, wanted.size)
        return Result(id, OPERATION, Status.FAIL, f"{ABSENT} for {name}", (verdict,))
    verdict = judge(name, wanted, came.arrays[name])
    left = came.unwritten(name)
    if left and not verdict.passed:
        count = "" if left == verdict.elements else f"{left} of {verdict.elements} numbers "
        verdict = replace(verdict, reason=f"{count}not written")
    findings: tuple[Finding, ...] = ()
    if came.varies(name):
        findings = (Finding(Misdeed.VARIES, f"{name}: the second run differs from the first"),)
    reason = f"{name}: {verdict.reason}" if not verdict.passed else next((one.text for one in findings), "")
    return Result(id, OPERATION, Status.FAIL if reason else Status.PASS, reason, (verdict,), findings)


def _behind(local: Local, name: str) -> Sequence[int]:
    """The records whose choices a result depends on."""
    numbers = dict.fromkeys(part.number for part in local.parts.get(name, ()))
    return [number for number in numbers if local.near[number]]


def _choices(local: Local, name: str) -> int:
    return sum(local.near[number] for number in _behind(local, name))


def _explained(local: Local, came: Handed, results: Sequence[Result]) -> Iterator[Result]:
    """The results, those that failed with what the failure looks like."""
    wrong = {tensor_of(result): result.verdicts[0] for result in results if result.status is Status.FAIL}
    looks = diagnose(local, came, wrong)
    for result in results:
        found = looks.get(tensor_of(result))
        yield replace(result, diagnosis=found) if found and result.status is Status.FAIL else result


@dataclass(frozen=True)
class Expected:
    """What a whole step has to come to; near: choices on the way that lie within the noise."""

    results: Mapping[str, Any]
    near: int


def free_of(task: Task) -> Expected:
    """Return what the step comes to from its start, with the noise of everything before each result."""
    return _free_of(_Same(task))


class _Same:
    """A task that is known by being the very same."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def __hash__(self) -> int:
        return id(self.task)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.task is self.task


@functools.lru_cache(maxsize=8)
def _free_of(same: _Same) -> Expected:
    ops = Watched(noisy)
    results = Step(ops, same.task, noisy).run()
    return Expected(results, ops.near)


def _free(task: Task, place: int, name: str, expected: Expected, came: Handed) -> Result:
    """One result of the whole run."""
    id = _id(task, FREE, place, name)
    if expected.near:
        reason = f"{expected.near} choices lie within the noise: honest runs part there; choose another seed"
        return Result(id, OPERATION, Status.MISTRUSTED, reason)
    return _held(id, name, as_stored({name: expected.results[name]})[name], came)
