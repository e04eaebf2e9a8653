"""Failures grouped by cause: one mistake is one cause, however many cases, formats and training steps it fails.

A case of the catalogue and a call of a locked step are judged on their own inputs, so that what is wrong there began
there.  Failures of one operation are joined: a wrong reading is their cause where it matches them all.  In a free step
a wrong result makes later ones wrong, and a whole step or run says only that something was: both are consequences of
the first wrong call, unless nothing before explains them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from conformance import ids, operations
from conformance.candidates.finding import Misdeed

from .cause import FLOAT32, Cause, base_of, format_of, is_between_calls, is_own, is_whole, plainest_of, readings_of
from .circumstances import circumstances
from .diagnoses import Diagnosis
from .joint import as_likely, is_made, join, likeliest, only, refuted, special_looks
from .refutation import is_refuted_by_passing
from .results import Result, Status
from .values import told
from .whereabouts import whereabouts

if TYPE_CHECKING:
    from reference.readings import Reading

__all__ = ["FLOAT32", "NOT_REFUSED", "OUT_OF_RANGE", "RIGHT_BUT", "WROTE_REFUSED", "Cause", "causes", "format_of"]

NOT_REFUSED = "does not refuse calls that it has to"
RIGHT_BUT = "computes right, does not refuse"
WROTE_REFUSED = "refuses calls, and writes outputs all the same"
OUT_OF_RANGE = "an index out of range does not give NaN, or changes the rest"
_OF_NUMBERS = (Misdeed.VARIES, Misdeed.OTHER_STREAM, Misdeed.UNWRITTEN)  # which the numbers show too, and say more of
_Key = TypeVar("_Key", bound=Hashable)


def causes(results: Sequence[Result]) -> list[Cause]:
    """Group what failed by cause, the cause of most failures first; refusals that were not made come last.

    Before these stands what is wrong in no simple way: a cause with a name tells more of where to look.

    Left out is what says nothing against the candidate: cases that passed, were not run, or failed by the judge.
    """
    failed = [r for r in results if r.has_failed and not r.is_judges_own]
    unrefused = [r for r in failed if r.is_refusal]
    own = [r for r in failed if is_own(r) and not r.is_refusal]
    begun = _merged([group for few in _grouped(own, base_of).values() for group in _of_operation(few)])
    begun = [_with_place(_unrefuted(cause, results), results) for cause in begun]
    begun = _with_consequences(begun, [r for r in failed if not is_own(r)])
    right = {base_of(r) for r in results if r.was_run and not r.is_refusal} - {base_of(r) for r in own}
    order = {result.id: place for place, result in enumerate(results)}
    found = sorted(begun, key=lambda cause: (_says_nothing(cause), -cause.count)) + _not_refused(unrefused, right)
    return [_ordered(cause, order) for cause in found]


def _says_nothing(cause: Cause) -> bool:
    return cause.joint is not None and cause.joint.says_nothing


def _of_operation(failed: Sequence[Result]) -> list[Sequence[Result]]:
    """One operation's failures by cause: one group, unless two readings share them out between them.

    What only several calls show is one more, where a reading explains the others.
    """
    between = [result for result in failed if is_between_calls(result)]
    others = [result for result in failed if not is_between_calls(result)]
    if between and likeliest(_diagnoses(others)):
        return [*_by_reading(others), between]
    return _by_reading(failed)


def _by_reading(failed: Sequence[Result]) -> list[Sequence[Result]]:
    told = [result for result in failed if result.diagnosis]
    best = likeliest(_diagnoses(told))
    refutes = refuted(_diagnoses(told), best)
    rest = [result for result, is_other in zip(told, refutes, strict=True) if is_other]
    other = likeliest(_diagnoses(rest)) if best else ""
    is_chance = len(rest) == 1 and is_made(other, _diagnoses(rest))  # of very many made for one call, one may fit it
    if other and not is_chance and all(other in readings_of(result) for result in rest):
        return [[result for result in failed if result not in rest], rest]
    return [failed]


def _merged(groups: Sequence[Sequence[Result]]) -> list[Cause]:
    """One reading in several operations is one mistake, made where they share code, or by one misunderstanding."""

    def key(failed: Sequence[Result]) -> Hashable:
        joint = join(_diagnoses(failed))
        return (joint.core if not joint.reading else joint.reading) if joint and joint.is_named else id(failed)

    alike = _grouped(groups, key).values()
    return [_cause([result for failed in few for result in failed]) for few in alike]


def _cause(failed: Sequence[Result]) -> Cause:
    """The cause of failures that have one."""
    operation, joint = base_of(failed[0]), join(_diagnoses(failed))
    between = next(filter(is_between_calls, failed), None)
    told = list(filter(_is_told_by_others, failed))
    if told and not (joint and joint.reading and joint.holds == joint.tried):
        return Cause(plainest_of(told).headline, None, operation, tuple(failed))
    # Calls that are right alone tell more than numbers; that they vary, more than that numbers have no pattern.
    if joint is None or joint.says_nothing:
        between = between or _varied(failed)
    if between and not any(one.varies for one in _diagnoses(failed)):
        return Cause(between.headline, None, operation, tuple(failed))
    if joint is None:
        return Cause(plainest_of(failed).headline, None, operation, tuple(failed))
    reading = _reading(operation, joint.reading) if joint.reading else None
    return Cause(joint.sentence, reading, operation, tuple(failed), joint)


def _varied(failed: Sequence[Result]) -> Result | None:
    """What has shown that a call which is wrong alone, too, gives other bits each time; None where nothing has."""
    return next((one for one in failed if one.is_sequence and one.findings and one.diagnosis is None), None)


def _unrefuted(cause: Cause, judged: Sequence[Result]) -> Cause:
    """The cause by those of several readings that no case refutes that passed; as it is where each is refuted."""
    joint = cause.joint
    names = as_likely(_diagnoses(cause.results), joint.reading) if joint and joint.says_all else []
    if joint is None or not names[1:]:
        return cause
    own = [one for one in judged if base_of(one) in cause.operations]
    kept = [name for name in names if not is_refuted_by_passing(name, own)]
    if not kept or len(kept) == len(names):
        return cause
    left = only(joint, kept)
    return replace(cause, sentence=left.sentence, reading=_reading(cause.operation, kept[0]), joint=left)


def _with_place(cause: Cause, judged: Sequence[Result]) -> Cause:
    """The cause with where results are wrong, and when they are: unless a reading says all."""
    # What only several calls in a row show depends on these, not on sizes.
    if any(one.headline == cause.sentence for one in filter(is_between_calls, cause.results)):
        return cause
    by_operation = _grouped(filter(is_own, cause.results), base_of)
    said = {_place(cause, few, [one for one in judged if base_of(one) == name]) for name, few in by_operation.items()}
    if len(by_operation) > 1 and (len(said) > 1 or said == {("", "")}):
        # Each operation has sizes of its own, and perhaps few failures: those that they share are looked at together.
        own = [one for one in judged if base_of(one) in by_operation]
        said = {("", _place(cause, list(filter(is_own, cause.results)), own)[1])}
    return replace(cause, sentence="; ".join(filter(None, [cause.sentence, *said.pop()])))


def _place(cause: Cause, failed: Sequence[Result], judged: Sequence[Result]) -> tuple[str, str]:
    """Where, and when, of one operation; of a reading that says all, when, where a case that passed refutes it."""
    joint, when = cause.joint, circumstances(failed, judged)
    if joint and joint.says_all:
        looks = special_looks(_diagnoses(failed))
        is_told = (when or looks) and is_refuted_by_passing(joint.reading, judged)
        return (looks, when) if is_told else ("", "")
    told = _diagnoses(failed)
    is_placed = len(told) == 1 and not (joint and joint.is_made)  # a single one says its place itself
    is_of_numbers = bool(joint) or cause.sentence == getattr(_varied(failed), "headline", None)
    where = whereabouts(failed) if is_of_numbers and not is_placed else ""
    return "; ".join(filter(None, [where, _among(failed) if joint else ""])), when


def _among(failed: Sequence[Result]) -> str:
    """At which values of an input: of the output that is wrong in most of the cases, by name if not so of every one."""
    found = [_grouped(one.values, lambda value: value.output) for one in _diagnoses(failed)]
    names = Counter(name for each in found for name in each)
    said = {name: told([each.get(name, []) for each in found]) for name in names}
    output = max(said, key=lambda name: names[name], default="")
    wrong = {*names, *(one.output for result in failed for one in result.verdicts if not one.passed)}
    if not said or not said[output]:
        return ""
    is_of_all = all(said.get(name) == said[output] for name in wrong)
    return said[output] if is_of_all else f"{output}: {said[output]}"


def _is_told_by_others(result: Result) -> bool:
    """Whether what watched a call, or a tool of the library's, says what it did: that tells more than numbers."""
    if result.is_sequence:
        return False
    if result.diagnosis is None:
        return any(finding.kind not in _OF_NUMBERS for finding in result.findings)
    return result.diagnosis.is_of_others


def _diagnoses(results: Iterable[Result]) -> list[Diagnosis]:
    return [result.diagnosis for result in results if result.diagnosis]


def _reading(operation: str, name: str) -> Reading | None:
    """The reading of this name; None where this version knows none, as of a report of another."""
    from conformance.variants.wrong.planted import known  # here: only what failed has readings

    forms = [other for other in operations.OPERATIONS if operations.base_of(other) == operation]
    return next((reading for form in forms for reading in known(form) if reading.name == name), None)


def _with_consequences(begun: Sequence[Cause], later: Sequence[Result]) -> list[Cause]:
    """The causes with what follows from them; what follows from none is a cause of its own."""
    explained: dict[int, list[Result]] = {place: [] for place in range(len(begun))}
    left: list[Result] = []
    for few in _grouped(later, lambda result: result.part).values():
        first = min(few, key=lambda result: result.id)
        for result in few:
            place = _whole(begun, result) if is_whole(result) else _call(begun, result, first)
            (left if place is None else explained[place]).append(result)
    made = [replace(cause, results=(*cause.results, *explained[place])) for place, cause in enumerate(begun)]
    alone = _grouped(left, lambda result: result.part).values()
    return made + [Cause(few[0].headline, None, base_of(few[0]), tuple(few)) for few in alone]


def _call(begun: Sequence[Cause], call: Result, first: Result) -> int | None:
    """The cause of a wrong call of a free step: its own operation's, else that of the first wrong call of the step."""
    names = (base_of(call), base_of(first))
    return next((place for name in names for place, cause in enumerate(begun) if name in cause.operations), None)


def _whole(begun: Sequence[Cause], whole: Result) -> int | None:
    """The cause of a wrong whole step: that of the first wrong call in its format.

    A step that is held against another way through it fails only by what is not the same twice: wrong numbers are.
    """
    unlike = any(finding.kind is Misdeed.UNLIKE_ITSELF for finding in whole.findings)
    calls = [
        (result.id, place)
        for place, cause in enumerate(begun)
        for result in cause.results
        if (result.is_of_step or is_whole(result)) and _is_alike(result, whole) and (not unlike or _varies(cause))
    ]
    return min(calls)[1] if calls else None


def _is_alike(call: Result, whole: Result) -> bool:
    """Whether a call is of a step in the format of a whole one: in 16 bits some calls of it are in float32."""
    return ids.format_of_step(call.part) == ids.format_of_step(whole.part)


def _varies(cause: Cause) -> bool:
    """Whether its calls do not come back, touch what they should not, or are not the same twice."""
    return any(result.status is not Status.FAIL or result.findings for result in cause.results)


def _not_refused(unrefused: Sequence[Result], right: set[str]) -> list[Cause]:
    """Calls that were not refused, or not in time: of operations that compute right, and of the others."""

    def sentence(result: Result) -> str:
        kinds = {finding.kind for finding in result.findings}
        if result.status is Status.FAIL and kinds == {Misdeed.WROTE_REFUSED}:
            return WROTE_REFUSED
        if kinds == {Misdeed.OUT_OF_RANGE}:
            return OUT_OF_RANGE
        return RIGHT_BUT if base_of(result) in right else NOT_REFUSED

    alike = _grouped(unrefused, sentence)
    return [Cause(words, None, base_of(few[0]), tuple(few)) for words, few in alike.items()]


def _ordered(cause: Cause, order: dict[str, int]) -> Cause:
    results = sorted(cause.results, key=lambda result: order[result.id])
    return replace(cause, results=tuple(results))


_Item = TypeVar("_Item")


def _grouped(items: Iterable[_Item], key: Callable[[_Item], _Key]) -> dict[_Key, list[_Item]]:
    groups: dict[_Key, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
