"""One update by a function, held against the reference tensor by tensor."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from conformance.candidates.finding import Finding, Misdeed
from conformance.candidates.module.step import call_step
from conformance.catalogue.prepared import Store
from conformance.judging.diagnoses import Diagnosis
from conformance.judging.diagnosis.step import Misread, diagnose_step
from conformance.judging.diagnosis.step_tensors import is_comparable
from conformance.judging.evidence_selection import EvidenceSelector
from conformance.judging.outputs import as_stored
from conformance.judging.results import Result, Status
from conformance.judging.verdict import Verdict, judge, refused
from conformance.limits.expectation import Expected
from conformance.limits.namespaces import converted
from conformance.steps.whole import OPERATION, ended
from reference.model.config import TINY
from reference.namespace import Ops
from reference.readings import Reading
from reference.readings.step import READINGS

from . import expected as due

Arrays = Mapping[str, NDArray[Any]]
Asked = Callable[..., Any]  # calls a Python function in the worker, and returns the outcome
_UPDATED = ("m.", "v.", "parameter.")
_KINDS = {
    "gradient.": "gradients",
    "parameter.": "updated parameters",
    "m.": "first moments (m)",
    "v.": "second moments (v)",
}


def judge_update(ask: Asked, store: Store, selector: EvidenceSelector | None = None, seed: int = 0) -> Result:
    """Have the step make one update, twice, and judge what it returned.

    ask: calls a function in the candidate's worker.  seed: of the batch and the moments; 0 is the golden step's batch.
    Raises ValueError for a seed whose routing choices lie within the noise.
    """
    held, wanted = due.inputs(seed), due.expected(store, seed)
    given = due.given(TINY, due.TRAINING, due.beginning(seed), held["input.tokens"], held["input.targets"])
    first = ask(call_step, given)
    if stopped := _stopped(first):
        return stopped
    second = ask(call_step, given)
    if stopped := _stopped(second):
        return replace(stopped, reason=f"in its second call, on the same arrays: {stopped.reason}")
    came = first.value["results"]
    found = (*_changed(first.value["changed"]), *_varying(came, second.value["results"]))
    misread = functools.partial(_misread, seed)
    return _judged(came, found, as_stored(wanted), first.detail, selector, misread)


def _stopped(outcome: Any) -> Result | None:
    """What to say of a step that did not come back, or returned what is none."""
    if outcome.status == "raised":
        line, _, trace = outcome.detail.partition("\n")
        return Result(due.ID, OPERATION, Status.FAIL, line, detail=trace)
    return ended(due.ID, outcome)


def _judged(
    came: Mapping[str, Any],
    found: tuple[Finding, ...],
    expected: Expected,
    printed: str,
    selector: EvidenceSelector | None,
    misread: Misread,
) -> Result:
    names = [name for name in due.in_order() if name in came]
    got = {name: came[name] for name in names if came[name] is not None}
    verdicts = tuple(_verdict(name, expected[name], came[name]) for name in names)
    reason = next((f"{verdict.output}: {verdict.reason}" for verdict in verdicts if not verdict.passed), "")
    looks = _diagnosis(expected, got, verdicts, misread)
    reason = reason or next((one.text for one in found), "")
    status = Status.FAIL if reason else Status.PASS
    result = Result(due.ID, OPERATION, status, reason, verdicts, found, printed, diagnosis=looks)
    return _pictured(result, expected, got, selector) if selector else result


def _pictured(result: Result, expected: Expected, got: Arrays, selector: EvidenceSelector) -> Result:
    """The result with what its picture is drawn from: of the first tensor that is wrong, where one is."""
    wrong = tuple(verdict for verdict in result.verdicts if not verdict.passed)[:1] or result.verdicts
    if not all(is_comparable(expected, got, verdict.output) for verdict in wrong):
        return result
    return replace(selector.attach(replace(result, verdicts=wrong), lambda: expected, got), verdicts=result.verdicts)


def _verdict(name: str, expected: Any, came: Any) -> Verdict:
    if came is None:
        return refused(name, "none was returned", expected.size)
    return judge(name, expected, came)


def _diagnosis(expected: Expected, got: Arrays, verdicts: Sequence[Verdict], misread: Misread) -> Diagnosis | None:
    """What it looks like; where gradients are wrong, the update is wrong by them, and its tensors are counted alone."""
    computed = [verdict for verdict in verdicts if not verdict.output.startswith(_UPDATED)]
    if all(verdict.passed for verdict in computed):
        return diagnose_step(expected, got, verdicts, misread, READINGS)
    looks = diagnose_step(expected, got, computed, misread, READINGS)
    later = sum(not verdict.passed for verdict in verdicts) - sum(not verdict.passed for verdict in computed)
    if looks is None or not later or looks.readings:
        return looks
    return replace(looks, text=f"{looks.text}; and {later} tensors of the update, which is made of these")


def _misread(seed: int, reading: Reading, ops: Ops, convert: Callable[[NDArray[Any]], Any]) -> Mapping[str, Any]:
    """The update by a reading."""
    held, start = due.inputs(seed), converted(due.beginning(seed), convert)
    return due.results_of(ops, start, held["input.tokens"], held["input.targets"], reading.function)


def _changed(names: Sequence[str]) -> Iterator[Finding]:
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        text = f"input {names[0]} was changed{more}: a step leaves what it is given as it is"
        yield Finding(Misdeed.CHANGED_INPUT, text)


def _varying(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Finding]:
    differing = [name for name in due.in_order() if _bytes(first.get(name)) != _bytes(second.get(name))]
    if differing:
        more = f" and {len(differing) - 1} more tensors" if len(differing) > 1 else ""
        yield Finding(Misdeed.VARIES, f"the second run differs from the first in {differing[0]}{more}")


def _bytes(array: NDArray[Any] | None) -> bytes:
    return b"" if array is None else array.tobytes()


def not_given(result: Result) -> str:
    """Say what the step returned nothing of; nothing where it returned all."""
    came = {verdict.output for verdict in result.verdicts}
    lacking = [name for name in due.in_order() if name not in came]
    numbers = [name for name in lacking if "." not in name]
    groups = [words for prefix, words in _KINDS.items() if any(name.startswith(prefix) for name in lacking)]
    return f"not given by the step, and not judged: {', '.join(numbers + groups)}" if lacking and came else ""
