"""Judges one call of a candidate: in its worker, guarded, poisoned and run twice, then against the expectation."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from bindings import read_header
from conformance import operations
from conformance.candidates.protocol import Outcome, Runs
from conformance.catalogue.cases import Case, Refusal
from conformance.catalogue.cases.refusals import INVALID
from conformance.catalogue.goldens import GoldenError, load
from conformance.limits import HEADER, Contract
from conformance.limits.expectation import Expected, expect, rounded
from conformance.limits.noise import Arithmetic, roundings, using

from . import indices
from .diagnosis import diagnose, printed
from .gallery import Gallery
from .outputs import impostors, is_known, is_trivial, judge_outputs, passes, settled
from .results import DIFFERS, Result, Status
from .verdict import Verdict

ELSEWHERE = "; only in run 3, with arrays otherwise aligned"
_ENDED = {"crashed": Status.CRASHED, "timed out": Status.TIMED_OUT, "missing": Status.NOT_RUN, "raised": Status.FAIL}


class Bench:
    """Judges calls one after another on one worker, by what its library declares of its precision.

    Remembers what the last case should have given, which must not pass for the next, and what the last call returned.
    """

    def __init__(
        self, worker: Runs, seed: int = 0, gallery: Gallery | None = None, declared: Contract = HEADER
    ) -> None:
        self.worker, self.seed, self.gallery, self.declared = worker, seed, gallery, declared
        self.last: dict[str, NDArray[Any]] = {}
        self.returned: dict[str, NDArray[Any]] = {}

    def case(self, case: Case | Refusal) -> Result:
        """Judge one case of the catalogue."""
        started = time.perf_counter()
        with using(self.declared.of(case.operation).arithmetic):
            result = self._refusal(case) if isinstance(case, Refusal) else self._numeric(case)
        return replace(result, seconds=time.perf_counter() - started)

    def _numeric(self, case: Case) -> Result:
        try:
            arguments, expected = self.due(case)
        except GoldenError as error:
            return Result(case.id, case.operation, Status.MISTRUSTED, str(error))
        weakness = self.weakness(case, arguments, expected)
        if weakness:
            status = Status.MISTRUSTED if roundings() == Arithmetic() else Status.TOO_FINE
            return Result(case.id, case.operation, status, weakness)
        self.last = rounded(expected)
        return self.call(case.id, case.operation, arguments, expected, case.spec.signed_zeros)

    def due(self, case: Case) -> tuple[dict[str, Any], Expected]:
        """Return a case's arguments and what they must give: by its golden where there is one, else by the reference.

        A golden's errors are those of the header's arithmetic; those of any other are computed.  Raises GoldenError for
        a golden that is damaged or no longer of this case.
        """
        golden = load(case.id) if self.seed == 0 else None
        if golden and self.declared.of(case.operation).arithmetic == Arithmetic():
            return golden.arguments, golden.expected
        arguments = golden.arguments if golden else case.arguments(self.seed)
        return arguments, expect(case.operation, arguments)

    def weakness(self, case: Case, arguments: Mapping[str, Any], expected: Expected) -> str:
        """Say which output that needs no computing this case would let pass, or nothing."""
        if roundings() != Arithmetic() and not all(map(is_known, expected.values())):
            return "at the declared precision nothing is known of the result"
        trivial = is_trivial(expected, arguments, case.operation)
        if trivial and not case.spec.trivial:
            return f"the right answer is {trivial}; the case does not say why"
        for name, outputs in impostors(case.operation, arguments, expected, self.last).items():
            if passes(case.operation, arguments, expected, outputs, case.spec.signed_zeros):
                return f"{name} would pass"
        return ""

    def call(
        self, id: str, operation: str, arguments: Mapping[str, Any], expected: Expected, signed_zeros: bool = False
    ) -> Result:
        """Run one call and judge what came back, by the arithmetic in use."""
        outcome = self._run(operation, arguments)
        ended = _ended(id, operation, outcome)
        if ended:
            return ended
        if outcome.code != 0:
            reason = f"returned {outcome.code}: {read_header().meaning(outcome.code)}"
            findings, said = tuple(outcome.findings), printed(outcome.detail)
            return Result(id, operation, Status.FAIL, reason, (), findings, outcome.detail, diagnosis=said)
        got, verdicts, where = _judged(operation, arguments, expected, outcome, signed_zeros)
        diagnosis = _looks(diagnose(operation, arguments, expected, got, verdicts, self.returned), outcome.findings)
        diagnosis = diagnosis and f"{diagnosis}{where}"
        self.returned = got
        reason = next((f"{v.output}: {v.reason}{where}" for v in verdicts if not v.passed), "")
        reason = reason or next(iter(outcome.findings), "")
        status = Status.FAIL if reason else Status.PASS
        result = Result(
            id, operation, status, reason, tuple(verdicts), tuple(outcome.findings), outcome.detail, diagnosis=diagnosis
        )
        if self.gallery is None:
            return result
        return self.gallery.shown(result, lambda: settled(operation, arguments, expected, got), got, signed_zeros)

    def _run(self, operation: str, arguments: Mapping[str, Any]) -> Outcome:
        """Run one call; that its two runs differ is found only where they are declared not to."""
        outcome: Outcome = self.worker.run(operation, arguments)
        if not self.declared.of(operation).deterministic:
            outcome.findings[:] = [finding for finding in outcome.findings if DIFFERS not in finding]
        return outcome

    def _refusal(self, case: Refusal) -> Result:
        arguments = case.arguments(self.seed)
        outcome: Outcome = self.worker.run(case.operation, arguments, case.override)
        ended = _ended(case.id, case.operation, outcome)
        if ended:
            return replace(ended, reason=f"{ended.reason}; {_due(case)}", diagnosis="") if ended.was_run else ended
        reason = ""
        if case.value and outcome.code == 0 and self.worker.facts().is_device_build:
            reason = indices.fault(case, case.base.arguments(self.seed), outcome.outputs)
        elif outcome.code != INVALID:
            reason = f"returned {outcome.code}; {_due(case)}"
        reason = reason or next(iter(outcome.findings), "")
        status = Status.FAIL if reason else Status.PASS
        return Result(case.id, case.operation, status, reason, findings=tuple(outcome.findings), detail=outcome.detail)


def _judged(
    operation: str, arguments: Mapping[str, Any], expected: Expected, outcome: Outcome, signed_zeros: bool
) -> tuple[dict[str, NDArray[Any]], list[Verdict], str]:
    """Return what was judged, how, and where it is from: the first run, or the third, should it alone be wrong."""
    first, other = operations.flat(outcome.outputs), operations.flat(outcome.elsewhere)
    verdicts = judge_outputs(operation, arguments, expected, first, signed_zeros)
    same = all(array.tobytes() == other[name].tobytes() for name, array in first.items()) if other else True
    if same or not all(verdict.passed for verdict in verdicts):
        return first, verdicts, ""
    again = judge_outputs(operation, arguments, expected, other, signed_zeros)
    return (first, verdicts, "") if all(verdict.passed for verdict in again) else (other, again, ELSEWHERE)


def _ended(id: str, operation: str, outcome: Outcome) -> Result | None:
    if outcome.status == "done":
        return None
    reason = outcome.detail.strip().splitlines()[0] if outcome.detail.strip() else outcome.status
    findings = tuple(outcome.findings)
    looks = next(iter(findings), "") or printed(outcome.detail)
    return Result(id, operation, _ENDED[outcome.status], reason, (), findings, outcome.detail, diagnosis=looks)


def _looks(diagnosis: str, findings: Sequence[str]) -> str:
    """What a failed call looks like: where two runs differ, that comes before numbers that are not the same twice."""
    differs = next((finding for finding in findings if DIFFERS in finding), "")
    return differs if differs and not diagnosis.startswith("matches") else diagnosis


def _due(case: Refusal) -> str:
    return f"a call with {case.fault} is to be refused: {INVALID}, {read_header().meaning(INVALID)}"
