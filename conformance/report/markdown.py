"""The comment for a pull request: verdict, what is wrong by cause, a table by family, the steps in two lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance import operations
from conformance.judging.results import Result, Status

from .explanation import repeated
from .findings import findings
from .record import Run, counted, not_supported, verdict
from .runs import name_of, runs, sentence
from .summary import StepSummary, step_summaries, tally
from .writing import write_whole

SHOWN = 10  # mistakes; the page and the JSON lines hold all of them


def write_summary(path: Path, runs: Sequence[Run]) -> None:
    """Write the comment, on one candidate after the other.  Raises ReportError."""
    write_whole(path, "\n".join(line for run in runs for line in (*summary(run), "")))


def summary(run: Run) -> Iterator[str]:
    """Yield the comment's lines."""
    yield f"### {_text(verdict(run))}\n"
    yield from (f"- {_text(problem)}" for problem in run.problems)
    yield from _mistakes(run)
    yield f"\n{tally(run.results, run.seconds)}, seed {run.seed}, declared precision {_text(run.contract)}\n"
    yield from [f"{_text(run.note)}\n"] * bool(run.note)
    yield from (f"- {_text(note)}" for note in run.notes)
    yield from [""] * bool(run.notes)
    yield from _families([result for result in run.results if not result.is_of_step])
    yield from _steps(step_summaries(run.results))
    for part, found in runs(run.results).items():
        yield f"- {name_of(part)}: {_text(sentence(found))}"


def _mistakes(run: Run) -> Iterator[str]:
    """An item for each mistake: its reason, how far it reaches, its plainest failure and the command."""
    found = findings([run])
    for place, finding in enumerate(found[:SHOWN], 1):
        cause, plainest = finding.cause, finding.cause.plainest
        why = f" {_text(finding.why)}" if finding.why else ""
        yield f"{place}. **{_code(finding.where)}: {_text(cause.sentence)}**{why} ({_text(finding.extent)})"
        yield f"    {plainest.status} {_code(plainest.id)}: {_text(plainest.reason)}"
        yield f"    `{repeated(plainest, run)}`"
    if rest := [_text(finding.where) for finding in found[SHOWN:]]:
        yield f"\n... and {counted(len(rest), 'more mistake')}, of {', '.join(rest)}"


def _families(results: Sequence[Result]) -> Iterator[str]:
    by_family: dict[str, list[Result]] = {}
    for result in results:
        by_family.setdefault(operations.family(result.operation), []).append(result)
    if not by_family:
        return
    yield "| family | passed | most of a limit used | by |\n|---|---:|---:|---|"
    for family, few in by_family.items():
        worst = max(few, key=lambda result: result.share)
        used = f"{worst.share:.3g} | {_code(worst.id)}" if worst.verdicts else "|"
        judged = [result for result in few if result.status is not Status.NOT_SUPPORTED]
        beyond = f", {said}" if (said := not_supported(few)) else ""
        yield f"| {family} | {sum(result.is_fine for result in judged)}/{len(judged)}{beyond} | {used} |"


def _steps(found: Sequence[StepSummary]) -> Iterator[str]:
    """One line for the locked steps, one for the free ones."""
    if found:
        yield "\n**Training steps**\n"
    for heading in ("locked", "free"):
        some = [step for step in found if step.name.endswith(heading)]
        if some:
            calls, passed = sum(step.calls for step in some), sum(step.passed for step in some)
            missed = sum(step.not_run for step in some)
            not_run = f", {missed} not run" if missed else ""
            beyond = sum(step.unsupported for step in some)
            not_run += f", {beyond} not supported, as declared" if beyond else ""
            yield f"- {heading}: {passed} of {calls} results right{not_run}{_remark(some)}"


def _remark(some: Sequence[StepSummary]) -> str:
    if wrong := next((step.first_wrong for step in some if step.first_wrong), None):
        return f"; first wrong: {_code(wrong.id)}, {_text(wrong.headline)}"
    worst = max((step.worst for step in some if step.worst), key=lambda result: result.share, default=None)
    return f"; most of a limit used: {worst.share:.3g} by {_code(worst.id)}" if worst else ""


def _code(text: str) -> str:
    return f"`{text.replace('`', '').replace('|', '/')}`"


def _text(text: str) -> str:
    """Words as they are: Markdown would read marks into names."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|" else c for c in " ".join(text.split()))
