"""What a failure looks like: the wrong reading that gives the same numbers, or else a symptom."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.judging.diagnoses import Diagnosis, Kind, Symptom, of_readings, of_symptoms
from conformance.judging.spans import spans
from conformance.judging.values import Values, values
from conformance.judging.verdict import Verdict
from conformance.limits.expectation import Expected

from .contents import unwritten
from .failed import Failed, Wrong
from .matching import Compared, made_of, matched_by_a_slip, matches
from .partly import partly
from .parts import Part
from .places import inputs_at, spread_at
from .printed import printed
from .symptoms import symptom

__all__ = ["Compared", "diagnose", "printed"]

_SEVERAL = 32  # wrong outputs that are looked at: each is compared with all others
_SMALL = 2**14  # elements of an output that is looked at once more, though readings match

# Kinds of symptoms that say what a slip did, whichever it was: a reading made for one call would say no more.
_TELLING = {
    Kind.UNWRITTEN,
    Kind.ADDED,
    Kind.READ,
    Kind.FLUSHED,
    Kind.ZERO,
    Kind.LAST_OUTPUT,
    Kind.EXCHANGED,
    Kind.SIGN_OF_ZERO,
    Kind.SHORT,
}


def diagnose(
    operation: str,
    arguments: Mapping[str, Any],
    expected: Expected,
    got: Mapping[str, Any],
    verdicts: Sequence[Verdict],
    last: Mapping[str, Any] | None = None,
    again: Mapping[str, Any] | None = None,
    compared: Compared | None = None,
) -> Diagnosis | None:
    """Say what a failed call looks like; None where its numbers are right or of another shape or type.

    expected, got: by flat output name, as they were judged; last: what the candidate returned from the call before;
    again: what the same call gave the second time, on outputs that held another poison; compared: what the readings
    give in this call, where several results of it are looked at.
    """
    failed = [verdict.output for verdict in verdicts if not verdict.passed]
    if not failed or any(not _comparable(expected[name], got[name]) for name in expected):
        return None
    compared = compared or Compared(operation, arguments, expected)
    with np.errstate(all="ignore"):
        matched, untried = matches(compared, got)
        others = [reading.name for reading in untried]
        call = Failed(operation, arguments, expected, got, last or {}, again, computed=compared.computed)
        if matched:
            named = of_readings([reading.name for reading in matched], others)
            # Another case may refute the readings: then the cases have what they look like in common.
            said = replace(named, symptoms=tuple(_symptoms(call, failed))) if _is_small(got, failed) else named
            return replace(said, values=_values(call, failed))
        left = all(unwritten(Part(wrong, wrong.beyond)) for wrong in (Wrong(call, name) for name in failed))
        found = None if left else partly(call, failed, compared)
        if found is None:
            found = _with_slips(of_symptoms(_symptoms(call, failed)), compared, call, failed)
    return replace(found, untried=tuple(others), values=_values(call, failed))


def _is_small(got: Mapping[str, Any], failed: Sequence[str]) -> bool:
    return all(got[name].size <= _SMALL for name in failed)


def _with_slips(found: Diagnosis, compared: Compared, call: Failed, failed: Sequence[str]) -> Diagnosis:
    """The diagnosis with the readings made for this call that give what came, where the symptoms say little.

    Where none gives all that came, one may give all that is wrong.
    """
    from conformance.variants.wrong.slips import are_affordable  # here: only what failed is compared with readings

    told = all(one.kind in _TELLING for one in found.symptoms)
    nothing = not any(np.isfinite(call.got[name]).any() for one in found.symptoms for name in one.outputs)
    if told or nothing or not are_affordable(compared.operation, compared.arguments):
        return found
    cuts = _cuts(Wrong(call, name) for name in failed)
    if names := [reading.name for reading in matched_by_a_slip(compared, call.got, cuts)]:
        found = replace(of_readings(names), symptoms=found.symptoms)
    elif found.is_vague and (part := partly(call, failed, compared, made_of(compared, cuts))):
        found = replace(part, symptoms=found.symptoms)
    return replace(found, is_searched=True)


def _cuts(wrongs: Iterable[Wrong]) -> list[int]:
    """From which place on along their axes results are wrong: what is read may end there, or begin anew."""
    bad = [wrong.beyond for wrong in wrongs]
    return sorted({span.first for at in bad if at.any() for span in spans(at) if span.first > 1})


def _some_of(failed: Sequence[str]) -> Sequence[str]:
    """Wrong outputs to look at: of thousands of arrays of a list some tell what all of them look like."""
    return [failed[at] for at in np.unique(np.linspace(0, len(failed) - 1, min(_SEVERAL, len(failed))).astype(int))]


def _symptoms(call: Failed, failed: Sequence[str]) -> list[Symptom]:
    """The symptom of every wrong output; outputs that look alike together."""
    by_text: dict[str, Symptom] = {}
    for name in _some_of(failed):
        found = symptom(Wrong(call, name))
        before = by_text.get(found.text, found)
        by_text[found.text] = replace(before, outputs=(*before.outputs, name))
    if len(by_text) == 1:
        return [replace(one, outputs=tuple(failed)) for one in by_text.values()]
    return list(by_text.values())


def _values(call: Failed, failed: Sequence[str]) -> tuple[Values, ...]:
    """How the inputs' values lie where the outputs are wrong."""
    wrongs = [wrong for wrong in (Wrong(call, name) for name in _some_of(failed)) if wrong.beyond.any()]
    return tuple(itertools.chain.from_iterable(values(w.output, w.beyond, inputs_at(w), spread_at(w)) for w in wrongs))


def _comparable(wanted: Any, got: Any) -> bool:
    kind = wanted.dtype.kind
    return bool(wanted.shape == got.shape and (got.dtype == np.float32 if kind == "f" else got.dtype.kind == kind))
