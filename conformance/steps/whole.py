"""A library that runs whole steps by itself: whether it can, and whether it comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from conformance.candidates.exports import missing
from conformance.candidates.finding import Finding, Misdeed
from conformance.judging.bench import ENDED, Bench
from conformance.judging.results import Result, Status
from conformance.judging.verdict import Verdict

OPERATION = "training_step"


def not_exported(id: str, bench: Bench, needed: Iterable[str]) -> Result | None:
    """Return what to say of a library that lacks some of the operations that are needed."""
    wanted = {*needed}
    lacking = sorted(wanted & set(bench.worker.call(missing).value or ())) if wanted else []
    if not lacking:
        return None
    reason = f"the library does not export cuda_{lacking[0]}"
    reason += f", nor {len(lacking) - 1} more that a step needs" if len(lacking) > 1 else ""
    return Result(id, OPERATION, Status.NOT_RUN, reason)


def same_bits(bench: Bench, operations: Iterable[str]) -> str:
    """Say why bits cannot be compared: one of the operations does not give the same ones twice; "" where they can."""
    varying = next((name for name in operations if not bench.declared.of(name).deterministic), "")
    return f"{varying} is declared not to give the same bits twice" if varying else ""


def within_header(why: str) -> Callable[[Bench, Iterable[str]], str]:
    """Return what says why a case is not for a declared precision other than the header's."""
    return lambda bench, operations: "" if bench.declared.is_header else why


def against_itself(id: str, reason: str, verdicts: tuple[Verdict, ...] = ()) -> Result:
    """Return what to say of a step that is held against another way through it; no reason where both are the same."""
    findings = (Finding(Misdeed.UNLIKE_ITSELF, reason),) if reason else ()
    return Result(id, OPERATION, Status.FAIL if reason else Status.PASS, reason, verdicts, findings)


def ended(id: str, outcome: Any) -> Result | None:
    """Return what to say of a library that did not come back."""
    if outcome.status == "done":
        return None
    status = ENDED[outcome.status]
    reason = outcome.detail.partition("\n")[0] if status is Status.NOT_JUDGED else outcome.status
    return Result(id, OPERATION, status, reason, detail=outcome.detail)
