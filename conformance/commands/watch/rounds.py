"""One round of watching: what failed the last time first, then the rest; given up where the file changes meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.markup import escape

from conformance.commands.run.judgement import Judgement
from conformance.commands.run.runner import judge_all, judge_id
from conformance.commands.run.step import StepJudgement
from conformance.ids import is_of_step, step_of
from conformance.judging.results import Result
from conformance.report.lines import printed
from conformance.report.progress import Follower
from conformance.report.record import Run, counted
from conformance.steps import judge_step

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
    """What failed, on one worker; then the rest, on as many as are worth their start."""
    there, setting = judgement.presence.there, judgement.setting
    again = [id for id in there.cases if id in {*failed}]
    steps = [step for step in there.steps if step in {step_of(id) for id in failed if is_of_step(id)}]
    if again or steps:
        still = 0
        with setting.worker() as worker:
            bench = setting.bench(worker)
            for id in again:
                result = judge_id(id, bench)
                still += not result.is_fine
                yield [result]
            for step in steps:
                results = judge_step(step, bench, setting.run_length)
                still += sum(not result.is_fine for result in results)
                yield results
        said = f"{still} still fail" if still else "none fails any more"
        printed(console, escape(f"of {counted(len(failed), 'failure')} {said}"))
    rest = [id for id in there.cases if id not in {*again}]
    other = [step for step in there.steps if step not in steps]
    if rest or other:
        yield from judge_all(rest, other, setting, judgement.options.n)
