"""One round of watching: what failed the last time first, then the rest; given up where the file changes meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence

from rich.console import Console
from rich.markup import escape

from conformance.commands.run.judgement import Judgement
from conformance.commands.run.runner import Setting, judge_all, judge_id
from conformance.commands.run.step import StepJudgement
from conformance.ids import is_of_step, step_of
from conformance.judging.results import Result
from conformance.report.lines import printed
from conformance.report.progress import Follower
from conformance.report.record import Run, counted
from conformance.steps import judge_step

ALONE = 512  # cases that are judged in this process, where what they need stays in memory
Changed = Callable[[], bool]


def judged(
    judgement: Judgement | StepJudgement, console: Console, failed: Sequence[str], changed: Changed
) -> Run | None:
    """Judge once, and return the run; None where the candidate's file changes meanwhile.

    failed: ids of what failed the last time.
    """
    follower = Follower(console)
    if isinstance(judgement, StepJudgement):
        run = judgement.run(follower)
        return None if changed() else run
    started = time.monotonic()
    there, absent = judgement.presence.there, judgement.presence.absent
    every = follower.follow(_unless(changed, _batches(judgement, console, failed)), there.expected)
    found = [result for result in every if there.wants(result.id) and result.operation not in absent]
    if changed():
        return None
    order = {id: place for place, id in enumerate(there.cases)}
    found.sort(key=lambda result: (order.get(result.id, len(order)), result.id))
    return judgement.record(found, False, time.monotonic() - started)


def _unless(changed: Changed, batches: Iterator[list[Result]]) -> Iterator[list[Result]]:
    """Yield batches until the file changes."""
    for batch in batches:
        if changed():
            return
        yield batch


def _batches(judgement: Judgement, console: Console, failed: Sequence[str]) -> Iterator[list[Result]]:
    """What failed; then the rest, in processes of their own where it is much."""
    there, before = judgement.presence.there, {*failed}
    of_steps = {step_of(id) for id in before if is_of_step(id)}
    again, rest = _divided(there.cases, before)
    steps, others = _divided(there.steps, of_steps)
    if again or steps:
        still = 0
        for batch in _again(judgement.setting, again, steps):
            still += sum(not result.is_fine for result in batch)
            yield batch
        said = f"{still} still fail" if still > 1 else "1 still fails" if still else "none fails any more"
        printed(console, escape(f"of {counted(len(before), 'failure')} {said}"))
    if others or rest:
        processes = 1 if len(rest) <= ALONE and not others else judgement.options.n
        yield from judge_all(rest, others, judgement.setting, processes)


def _divided(names: Sequence[str], wanted: Collection[str]) -> tuple[list[str], list[str]]:
    """The names that are wanted, and the others."""
    return [name for name in names if name in wanted], [name for name in names if name not in wanted]


def _again(setting: Setting, cases: Sequence[str], steps: Sequence[str]) -> Iterator[list[Result]]:
    """Judge cases and steps one by one, in this process: it has what they need in memory."""
    with setting.worker() as worker:
        bench = setting.bench(worker)
        for id in cases:
            yield [judge_id(id, bench)]
        for step in steps:
            yield judge_step(step, bench, setting.run_length)
