"""Judges one call of a candidate: in its worker, guarded, poisoned and run twice, then against the expectation."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from numpy.typing import NDArray

from bindings import read_header
from conformance import operations
from conformance.candidates.finding import Finding, Misdeed
from conformance.candidates.protocol import Outcome, Runs
from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import Case, Refusal, previous
from conformance.catalogue.cases.refusals import INVALID, UNSUPPORTED
from conformance.catalogue.goldens import GoldenError
from conformance.catalogue.prepared import MemoryStore, Store
from conformance.limits import HEADER, Contract, Declaration
from conformance.limits.expectation import Expected
from conformance.limits.noise import using
from conformance.limits.supports import Condition

from . import indices
from .bits import held_to_bits, order_of
from .diagnoses import Diagnosis, Kind, Symptom
from .diagnosis import diagnose, printed
from .evidence_selection import EvidenceSelector
from .outputs import is_known, judge_outputs, settled
from .preparation import Preparation, Prepared, unjudged
from .results import Result, Status
from .verdict import UNKNOWN, Verdict

ELSEWHERE = "; only in run 3, with arrays otherwise aligned"
ENDED = {
    "crashed": Status.CRASHED,
    "timed out": Status.TIMED_OUT,
    "missing": Status.NOT_RUN,
    "raised": Status.FAIL,
    "mishap": Status.NOT_JUDGED,
}


_UNLIKE = {Misdeed.VARIES: Kind.VARIES, Misdeed.OTHER_STREAM: Kind.OTHER_STREAM}  # a run unlike the one before it
_BY_RAISING = "by an exception"
_IN_MEMORY = MemoryStore()  # of this process


class Bench:
    """Judges calls one after another on one worker, by what its library declares of its precision.

    A result depends on nothing that was judged before: a case that fails is repeated behind the one before it in the
    catalogue, so that what a library kept from an earlier call is told by the same words wherever it was judged.
    store: where what cases and steps need is kept from process to process.  explains: whether a failure is repeated and
    diagnosed, or no more than told.
    """

    def __init__(
        self,
        worker: Runs,
        seed: int = 0,
        selector: EvidenceSelector | None = None,
        declared: Contract = HEADER,
        store: Store | None = None,
        explains: bool = True,
    ) -> None:
        self.worker, self.seed, self.selector, self.declared = worker, seed, selector, declared
        self.explains = explains
        self.store = store or _IN_MEMORY
        self.preparation = Preparation(seed, declared, self.store)

    def threaded(self) -> Bench:
        """Return a bench on which a library computes in several threads; where no worker is a library's, this one."""
        worker = self.worker
        if not isinstance(worker, Worker) or worker.has_own_threads:
            return self
        return Bench(worker.threaded(), self.seed, self.selector, self.declared, self.store, self.explains)

    def case(self, case: Case | Refusal) -> Result:
        """Judge one case of the catalogue."""
        started = time.perf_counter()
        with using(self.declared.of(case.operation).arithmetic):
            result = self._refusal(case) if isinstance(case, Refusal) else self._numeric(case)
        return replace(result, seconds=time.perf_counter() - started)

    def _numeric(self, case: Case) -> Result:
        try:
            arguments, expected, weakness = self.prepared(case)
        except GoldenError as error:
            return Result(case.id, case.operation, Status.MISTRUSTED, str(error))
        if weakness:
            return Result(case.id, case.operation, unjudged(), weakness)
        spec, before = case.spec, previous(case)
        return self.call(case.id, case.operation, arguments, expected, spec.signed_zeros, before, spec.by_design)

    def prepared(self, case: Case) -> Prepared:
        """Return what a case needs.  Raises GoldenError."""
        return self.preparation.case(case)

    def call(
        self,
        id: str,
        operation: str,
        arguments: Mapping[str, Any],
        expected: Expected,
        signed_zeros: bool = False,
        before: Case | None = None,
        leaves_open: bool = False,
    ) -> Result:
        """Run one call and judge what came back, by the arithmetic in use.

        before: the case that a call which fails is repeated behind.  leaves_open: whether nothing may be known of some
        elements; else a call of which that is so is not judged at all.
        """
        if not leaves_open and not all(map(is_known, expected.values())):
            return Result(id, operation, unjudged(), UNKNOWN)
        outcome = self.run(operation, arguments)
        if over := self.without_outputs(id, operation, arguments, outcome):
            return over
        declared = self.declared.of(operation)
        judged = _judged(operation, arguments, expected, outcome, declared, signed_zeros)
        if not self.explains:
            reason = judged.reason or first_finding(outcome)
            return Result(id, operation, Status.FAIL if reason else Status.PASS, reason)
        returned: Mapping[str, Any] = {}
        if before is not None and not judged.passed:
            returned, again = self._repeated(before, operation, arguments)
            repeated = _judged(operation, arguments, expected, again, declared, signed_zeros) if again else judged
            if again and not repeated.passed:
                outcome, judged = again, repeated
        reason = judged.reason or first_finding(outcome)
        got, verdicts, where, by_bits = judged
        second = None if where or outcome.again is None else operations.flat(outcome.again)
        if by_bits:
            found: Diagnosis | None = order_of(operation, arguments, declared, got, verdicts)
        else:
            found = diagnose(operation, arguments, expected, got, verdicts, returned, second)
        diagnosis = variation_first(found, outcome.findings)
        if diagnosis and where:
            diagnosis = replace(diagnosis, text=f"{diagnosis.text}{where}")
        status = Status.FAIL if reason else Status.PASS
        result = Result(
            id, operation, status, reason, tuple(verdicts), tuple(outcome.findings), outcome.detail, diagnosis=diagnosis
        )
        if self.selector is None:
            return result
        return self.selector.attach(result, lambda: settled(operation, arguments, expected, got), got, signed_zeros)

    def _repeated(
        self, before: Case, operation: str, arguments: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], Outcome | None]:
        """Make the call again behind that of another case; return what came of both, of the call None if it ended."""
        try:
            earlier = self.run(before.operation, self.preparation.due(before)[0])
        except GoldenError:
            return {}, None
        again = self.run(operation, arguments)
        returned = operations.flat(earlier.outputs) if earlier.status == "done" and earlier.code == 0 else {}
        return returned, again if again.status == "done" and again.code == 0 else None

    def run(self, operation: str, arguments: Mapping[str, Any]) -> Outcome:
        """Run one call; that its two runs differ is found only where they are declared not to."""
        outcome: Outcome = self.worker.run(operation, arguments)
        if not self.declared.of(operation).deterministic:
            outcome.findings[:] = [finding for finding in outcome.findings if finding.kind is not Misdeed.VARIES]
        return outcome

    def without_outputs(self, id: str, operation: str, arguments: Mapping[str, Any], outcome: Outcome) -> Result | None:
        """Return the result of a call that gave no outputs to judge: it crashed, hung, or returned an error; else None.

        An error is none where the call's sizes are declared not to be supported, and nothing else came of it.
        """
        if reason := self.declined(operation, arguments, outcome):
            return Result(id, operation, Status.NOT_SUPPORTED, reason)
        return without_outputs(id, operation, outcome)

    def declined(self, operation: str, arguments: Mapping[str, Any], outcome: Any) -> str:
        """Say by which declaration a call was not carried out; nothing where that is not so."""
        if outcome.status != "done" or outcome.code != UNSUPPORTED or outcome.findings:
            return ""
        said = self.unsupported(operation, operations.sizes(operation, arguments))
        return said or self.declared.unsaid(operation, arguments)

    def unsupported(self, operation: str, sizes: Mapping[str, int]) -> str:
        """Say which condition of the contract the sizes of a call do not meet; nothing where they are supported."""
        condition = self.declared.unsupported(operation, sizes)
        if not condition:
            return ""
        of = ", ".join(f"{name} = {value}" for name, value in sizes.items() if name in Condition.read(condition).names)
        return f"{operation} is declared to support {condition}; here {of}"

    def _refusal(self, case: Refusal) -> Result:
        arguments = case.arguments(self.seed)
        outcome: Outcome = self.worker.run(case.operation, arguments, case.override)
        is_module = isinstance(self.worker, Worker) and self.worker.module is not None
        ended = _ended(case.id, case.operation, outcome)
        if ended and (not ended.was_run or ended.is_judges_own):
            return ended
        if ended:
            due = _due(case, _BY_RAISING if is_module else "")
            return replace(ended, reason=f"{ended.reason}; {due}", diagnosis=None)
        if reason := self.declined(case.operation, case.base.arguments(self.seed), outcome):
            return Result(case.id, case.operation, Status.NOT_SUPPORTED, reason)
        if case.entries and outcome.code == 0 and self.worker.facts().is_device_build:
            reason = indices.fault(case, case.base.arguments(self.seed), outcome.outputs)
            if reason:
                outcome.findings.append(Finding(Misdeed.OUT_OF_RANGE, reason))
        elif outcome.code != INVALID and not (
            is_module and outcome.code == UNSUPPORTED
        ):  # NotImplementedError: it raised
            reason = f"returned {outcome.code}; {_due(case)}"
            if is_module:  # of which nothing was stored: a result of a call that cannot be has no place
                reason = f"did not raise; {_due(case, _BY_RAISING)}"
                outcome.findings.clear()
            outcome.findings.append(Finding(Misdeed.NOT_REFUSED, reason))
        reason = reason or first_finding(outcome)
        status = Status.FAIL if reason else Status.PASS
        return Result(case.id, case.operation, status, reason, findings=tuple(outcome.findings), detail=outcome.detail)


class _Judged(NamedTuple):
    """What was judged by flat name, how, a phrase on where it is from, and whether it fails by its bits alone."""

    got: dict[str, NDArray[Any]]
    verdicts: list[Verdict]
    where: str
    by_bits: bool

    @property
    def passed(self) -> bool:
        return all(verdict.passed for verdict in self.verdicts)

    @property
    def reason(self) -> str:
        """What is wrong with the first output that did not pass, or nothing."""
        return next((f"{v.output}: {v.reason}{self.where}" for v in self.verdicts if not v.passed), "")


def _judged(
    operation: str,
    arguments: Mapping[str, Any],
    expected: Expected,
    outcome: Outcome,
    declared: Declaration,
    signed_zeros: bool,
) -> _Judged:
    """Return what was judged, how, and where it is from: the first run, or the third, should it alone be wrong."""

    def judged(got: dict[str, NDArray[Any]], where: str) -> _Judged:
        verdicts = judge_outputs(operation, arguments, expected, got, signed_zeros)
        held = held_to_bits(operation, arguments, declared, got, verdicts)
        by_bits = not all(v.passed for v in held) and all(v.passed for v in verdicts)
        return _Judged(got, held, where, by_bits)

    first, other = operations.flat(outcome.outputs), operations.flat(outcome.elsewhere)
    found = judged(first, "")
    same = all(array.tobytes() == other[name].tobytes() for name, array in first.items()) if other else True
    if same or not found.passed:
        return found
    elsewhere = judged(other, ELSEWHERE)
    return found if elsewhere.passed else elsewhere


def without_outputs(id: str, operation: str, outcome: Outcome) -> Result | None:
    """Return the result of a call that gave no outputs to judge, whatever sizes are declared to be supported."""
    if outcome.status != "done" or outcome.code == 0:
        return _ended(id, operation, outcome)
    reason = told(outcome.code, outcome.raised)
    findings, looks = tuple(outcome.findings), _diagnosis_of(printed(outcome.detail))
    return Result(id, operation, Status.FAIL, reason, (), findings, outcome.detail, diagnosis=looks)


def told(code: int, raised: str) -> str:
    """Say what a call came to that did not end well: its code, or by what a module's function has refused it."""
    return f"raised {raised}" if raised else f"returned {code}: {read_header().meaning(code)}"


def _ended(id: str, operation: str, outcome: Outcome) -> Result | None:
    if outcome.status == "done":
        return None
    reason = outcome.detail.strip().splitlines()[0] if outcome.detail.strip() else outcome.status
    findings = tuple(outcome.findings)
    looks = _diagnosis_of(first_finding(outcome) or printed(outcome.detail))
    return Result(id, operation, ENDED[outcome.status], reason, (), findings, outcome.detail, diagnosis=looks)


def variation_first(diagnosis: Diagnosis | None, findings: Sequence[Finding]) -> Diagnosis | None:
    """What a failed call looks like: where two runs differ, that comes before numbers that are not the same twice."""
    differs = next((finding for finding in findings if finding.kind in _UNLIKE), None)
    if not differs or (diagnosis and diagnosis.explains_variation):
        return diagnosis
    kind = _UNLIKE[differs.kind]
    return Diagnosis(differs.text, symptoms=(Symptom(kind, kind),))


def first_finding(outcome: Outcome) -> str:
    """The first finding in words."""
    return next((finding.text for finding in outcome.findings), "")


def _diagnosis_of(text: str) -> Diagnosis | None:
    """A diagnosis that others have made: the worker, or a tool of the library's."""
    return Diagnosis(text) if text else None


def _due(case: Refusal, by: str = "") -> str:
    return f"a call with {case.fault} is to be refused: {by or f'{INVALID}, {read_header().meaning(INVALID)}'}"
