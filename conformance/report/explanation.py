"""One failure in words: what went wrong, where, by how much, and how to see it again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from conformance.ids import REFUSED
from conformance.judging.results import Result, worst
from conformance.program import run_command
from conformance.steps import WHOLE

from .passed_over import passed_over
from .record import Run
from .step_tensors import first_wrong, is_handed_step, tensors

PRINTED = 6  # lines of what a library printed


def explained(result: Result, run: Run, but: str = "") -> Iterator[str]:
    """Yield the lines that tell what went wrong and how to see it again; but: what was said of it before."""
    said = (result.reason, result.diagnosis.text if result.diagnosis else "")
    yield from (line for line in said if line and line != but)
    yield from tensors(result)
    verdict = first_wrong(result) if is_handed_step(result) else worst(result.verdicts)
    if verdict and not verdict.passed and verdict.index and result.part not in WHOLE:  # whose reason says it all
        at = ", ".join(map(str, verdict.index))
        of = verdict.output if len(result.verdicts) > 1 else ""
        yield (
            f"worst at {of}[{at}]: reference {verdict.expected:.9g}, got {verdict.got:.9g}, "
            f"limit {verdict.limit:.3g} ({verdict.made_of}), error / limit {verdict.share:.4g}"
        )
        if is_partial(verdict.region):
            yield f"wrong elements lie in {verdict.region}"
    if said_open := passed_over([result]):
        yield said_open
    yield from (finding.text for finding in result.findings if finding.text not in (*said, but))
    yield from (line for line in result.detail.strip().splitlines()[:PRINTED] if line not in result.reason)
    if result.waiver:
        yield f"waived by {result.waiver}"
    yield f"repeat: {repeated(result, run)}"


def _command(run: Run) -> str:
    """What the judge is called by; a library with a sanitiser in it is loaded by a process that has it already."""
    preloaded = f"python cuda/emulator/preload.py {run.preload} " if run.preload else ""
    return preloaded + run_command()


def is_partial(region: str) -> bool:
    """Whether a verdict's region is less than the whole output: then it says something."""
    return bool(region) and not all(part.endswith(": all") for part in region.split("; "))


def repeated(result: Result, run: Run) -> str:
    """Return the command that judges exactly this case, or this call of a step, of this candidate again."""
    if result.repro:
        return f"{_judging(run)}--inputs {shlex.quote(result.repro)}{_declared(run)}"
    return f"{_judging(run)}--case '{result.id}'{_declared(run)}{_seeded(run)}"


def refusals_repeated(operations: Sequence[str], run: Run) -> str:
    """Return the command that makes every call again that these operations have to refuse."""
    return f"{_judging(run)}-o {','.join(operations)} -k {REFUSED}{_declared(run)}{_seeded(run)}"


def _judging(run: Run) -> str:
    """The command up to what is judged: the candidate, and what it is run with."""
    beside = f"{run.options} " if run.options else ""
    library = f"{run.option} {shlex.quote(run.library)} {beside}" if run.library else ""
    return f"{_command(run)} {library}"


def _declared(run: Run) -> str:
    return f" --contract {shlex.quote(run.contract)}" if run.contract != Run.contract else ""


def _seeded(run: Run) -> str:
    return f" --seed {run.seed}" if run.seed else ""
