"""What a call at full size looks like, from the small call that it is drawn from.

Every element of it is an element of the small call, so that whatever tells of values tells of these: a wrong reading of
the whole call, a factor, NaN where numbers are due.  What tells of places does not: they are those of the full call.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from conformance.judging.diagnoses import Diagnosis, Kind, Symptom, of_readings, of_readings_in_part, of_symptoms

from .failed import Failed, Wrong
from .matching import Compared, matches
from .partly import partly
from .symptoms import symptom

_OF_PLACES = {Kind.MOVED: "the right values in other places", Kind.LINES: Kind.NO_PATTERN}


def diagnose_drawn(call: Failed, where: Mapping[str, str], has_readings: bool) -> Diagnosis:
    """Say what a call at full size looks like.

    call: the small one, where what came holds what is wrong at any of an element's places.  where: of every wrong
    output, in words, the places of the full call at which it is wrong, "" for all.  has_readings: whether a reading on
    the small arguments gives what it would on the full ones, which it does not where sums are longer.
    """
    if has_readings:
        compared = Compared(call.operation, call.arguments, call.expected)
        matched, untried = matches(compared, call.got)
        names, others = [reading.name for reading in matched], tuple(reading.name for reading in untried)
        place = "; ".join(dict.fromkeys(f"{name}: {words}" for name, words in where.items() if words))
        if names and not place:
            return of_readings(names, others)
        if not names and (part := partly(call, list(where), compared)):
            names = list(part.readings)
        if names:
            return replace(of_readings_in_part(names, place), untried=others)
    symptoms = [_placed(symptom(Wrong(call, name)), name, words) for name, words in where.items()]
    alike = itertools.groupby(sorted(symptoms, key=lambda one: one.text), key=lambda one: one.text)
    return of_symptoms([_joined(list(few)) for _, few in alike])


def _placed(found: Symptom, output: str, where: str) -> Symptom:
    """The symptom at its places in the full call."""
    kind = Kind.NO_PATTERN if found.kind is Kind.LINES else found.kind
    words = _OF_PLACES.get(found.kind, found.words)
    return replace(found, kind=kind, words=words, place=where, outputs=(output,))


def _joined(few: Sequence[Symptom]) -> Symptom:
    return replace(few[0], outputs=tuple(name for one in few for name in one.outputs))
