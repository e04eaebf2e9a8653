"""One diagnosis of several failing cases: what holds in all of them, or in how many of them it does.

A single case can be matched by a reading that the next one refutes: of two columns, the sum over n - 1 is the sum in
place of the mean.  So a reading is the cause where it matches every failing case that it could be tried on; where none
does, the sentence says in how many of them its explanation holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from .alike import alike
from .diagnoses import AS_SHORT, NO_PATTERN, RIGHT_TO, TOO, Diagnosis, Kind, Symptom, of_readings, of_readings_in_part


@dataclass(frozen=True)
class Joint:
    """What several failing cases have in common.

    core      what it is, whatever the number of cases
    holds     in how many of them it holds
    tried     and of how many that can be said
    reading   the name of the wrong reading, if it is one
    is_named  whether it is so particular that two operations of which it holds have one mistake
    in_part   whether the reading holds for a part of each output, and the rest of it is right
    is_made   whether the reading was made of the calls' own arguments
    besides   what all the other cases have in common, or most
    varying   in how many more two runs differ, as follows from it
    alike     the readings that are this one with other numbers
    """

    core: str
    holds: int
    tried: int
    reading: str = ""
    is_named: bool = False
    in_part: bool = False
    is_made: bool = False
    besides: str = ""
    varying: int = 0
    alike: tuple[str, ...] = ()

    @property
    def says_all(self) -> bool:
        """Whether a reading that somebody has stated gives all that came: then nothing is left to say."""
        return bool(self.reading) and self.holds == self.tried and not self.in_part and not self.is_made

    @property
    def says_nothing(self) -> bool:
        """Whether it is no more than that numbers are wrong, and how far they are off."""
        return not self.reading and (self.core.endswith(NO_PATTERN) or any(one in self.core for one in _SMALL_ERRORS))

    @property
    def is_stray(self) -> bool:
        """Whether it is a reading made for a call that half of the cases refute: of very many one may fit."""
        return self.is_made and 2 * self.holds <= self.tried

    def is_shown_by(self, diagnosis: Diagnosis) -> bool:
        """Whether it holds in a case of this diagnosis."""
        if self.reading:
            return not {self.reading, *self.alike}.isdisjoint(diagnosis.readings)
        cores = (core for cores_of, _ in _WAYS for one in diagnosis.symptoms for core in cores_of(one))
        return self.core in (diagnosis.text, *cores)

    def is_unrefuted(self, cases: int) -> bool:
        """Whether it holds wherever it could be tried, which was in half of so many cases at least."""
        return self.holds == self.tried and 2 * self.holds >= cases

    @property
    def sentence(self) -> str:
        """What it is, and in how many of the cases where that is not all."""
        is_rarely_seen = self.varying > self.holds
        more = f"; in {self.varying} more the second run differs from the first" if is_rarely_seen else ""
        if self.holds == self.tried:
            return f"{self.core}{more}"
        others = f", in {self.besides}" if self.besides else ""
        return f"{self.core} in {self.holds} of {self.tried} failing cases{others}{more}"


def join(told: Sequence[Diagnosis]) -> Joint | None:
    """Return what diagnoses of one operation's failing cases have in common; None where none speaks of numbers."""
    of_numbers, varying = [one for one in told if one.readings or one.symptoms], 0
    if any(one.reads_what_was_there for one in of_numbers):  # of which two runs that differ are a consequence
        varying = sum(one.varies for one in of_numbers)
        of_numbers = [one for one in of_numbers if not one.varies]
    if any(one.varies for one in of_numbers):  # a race now and then does the same twice
        of_numbers = [one for one in of_numbers if not one.is_vague]
    if not of_numbers:
        return None
    ways = [way for way in (_reading(of_numbers), _symptom(of_numbers)) if way]
    if not ways:  # of a report that was altered
        return None
    found = replace(_with_others(_best(ways, of_numbers), of_numbers), varying=varying)
    if len(of_numbers) == 1:
        return replace(found, core=of_numbers[0].text, holds=1, tried=1)
    return found


def _best(ways: Sequence[Joint], told: Sequence[Diagnosis]) -> Joint:
    """A reading that no case refutes, else the way that holds more often.

    That there is no pattern, or that errors are as small as a shorter format's, says next to nothing: a reading that
    gives what came in enough of the cases is said before that.  One that was made of a call's arguments, and that half
    of the cases refute, is said where nothing else can be.
    """
    kept = [way for way in ways if not way.is_stray] or ways
    readings = [way for way in kept if way.reading and _ENOUGH * way.holds >= way.tried]
    some = readings if readings and any(way.says_nothing for way in kept) else kept
    return max(some, key=lambda way: (bool(way.reading) and way.is_unrefuted(len(told)), way.holds))


def _with_others(found: Joint, told: Sequence[Diagnosis]) -> Joint:
    """With what the cases of which it does not hold have in common, if that is one thing and says something."""
    rest = [one for one in told if not found.is_shown_by(one)]
    other = _symptom(rest) if rest else None
    if other is None or other.says_nothing:
        return found
    is_little = any(one.kind in _SAYS_LITTLE for each in rest for one in each.symptoms)
    if other.holds == len(rest) and not is_little and not found.reading:
        return replace(found, besides=f"the others {other.core}")
    is_of_most = other.holds >= _SEVERAL and 2 * other.holds > len(rest)
    return replace(found, besides=f"{other.holds} of the others {other.core}") if is_of_most else found


def special_looks(told: Sequence[Diagnosis]) -> str:
    """Say what results look like that are wrong at no numbers alone; nothing of others, or where that is not known.

    Of NaN and infinities every reading gives the same that makes them at all.
    """
    kinds = {symptom.kind for one in told for symptom in one.symptoms}
    found = _symptom(told) if kinds == {Kind.NO_NUMBER} and all(one.symptoms for one in told) else None
    return found.sentence if found else ""


def likeliest(told: Sequence[Diagnosis]) -> str:
    """Return the reading that no case refutes, else the one that matches most; of equals the one that stands first."""

    def order(name: str) -> tuple[bool, int, float]:
        holds, tried = _counts(told, name)
        return holds == tried and 2 * holds >= len(told), holds, _rank(told, name)

    return max(_names_in_order(told), key=order, default="")


def _reading(told: Sequence[Diagnosis]) -> Joint | None:
    name = likeliest(told)
    if not name:
        return None
    holds, tried = _counts(told, name)
    names = as_likely(told, name) if holds == tried else [name]
    in_part = all(one.in_part for one in told if name in one.readings)
    said = of_readings_in_part(names) if in_part else of_readings(names)
    found = Joint(said.text, holds, tried, name, is_named=True, in_part=in_part, is_made=is_made(name, told))
    other = alike(told) if found.is_made and holds < tried else None
    if other is None or other.holds <= holds:
        return found
    in_part = all(one.in_part for one in told if not set(other.names).isdisjoint(one.readings))
    said = (of_readings_in_part if in_part else of_readings)([other.words])
    return replace(found, core=said.text, holds=other.holds, reading=other.words, in_part=in_part, alike=other.names)


def as_likely(told: Sequence[Diagnosis], name: str) -> list[str]:
    """Return the readings that match as many of the cases as this one, which comes first."""
    counts = _counts(told, name)
    others = [other for other in _names_in_order(told) if _counts(told, other) == counts]
    return [name, *(other for other in others if other != name)]


def only(joint: Joint, names: Sequence[str]) -> Joint:
    """Return what is said of these alone of the readings that are as likely."""
    said = of_readings_in_part(names) if joint.in_part else of_readings(names)
    return replace(joint, core=said.text, reading=names[0])


def _names_in_order(told: Iterable[Diagnosis]) -> list[str]:
    return list(dict.fromkeys(name for one in told for name in one.readings))


def _counts(told: Sequence[Diagnosis], name: str) -> tuple[int, int]:
    """In how many cases a reading matches, of how many that it was tried on."""
    return sum(name in one.readings for one in told), sum(_was_tried(name, one, told) for one in told)


def _was_tried(name: str, on: Diagnosis, told: Sequence[Diagnosis]) -> bool:
    """Whether a case could tell of a reading; one that is made for a call is tried where no stated one matches."""
    return name not in on.untried and (on.is_searched or not is_made(name, told))


def is_made(name: str, told: Sequence[Diagnosis]) -> bool:
    """Whether a reading was made of the arguments of one of these calls, and not stated by somebody."""
    return any(one.is_searched and name in one.readings for one in told)


def refuted(told: Sequence[Diagnosis], name: str) -> list[bool]:
    """For each case, whether a reading was tried on it and gives something else."""
    return [name not in one.readings and _was_tried(name, one, told) for one in told]


def _rank(told: Sequence[Diagnosis], name: str) -> float:
    """How far in front a reading stands in the cases that it matches."""
    return sum(1 / (1 + one.readings.index(name)) for one in told if name in one.readings)


def _symptom(told: Sequence[Diagnosis]) -> Joint | None:
    """What most of the symptoms have in common: their words, a number's name, or no more than their kind."""
    told = _without_stray_precision(told)
    found = []
    for cores_of, is_named in _WAYS:
        # In their order, which is from the most particular on: of cores that hold as often the first is said.
        counts = Counter(core for one in told for core in dict.fromkeys(c for s in one.telling for c in cores_of(s)))
        # That there is no pattern comes after what is so of as many: of few numbers each a side is one by chance.
        best = max(counts.items(), key=lambda one: (one[1], not one[0].endswith(NO_PATTERN)), default=None)
        found += [Joint(best[0], best[1], len(told), is_named=is_named)] if best else []
    # A number is not recognised in every case: a name counts among the cases that name one, unless few of all do.  By
    # accident some size or other is near most numbers, and another one in the next case: that refutes a name.
    naming = sum(any(s.names for s in one.telling) for one in told)
    least = {True: max(_REFUTED * naming, len(told) / _NAMING / 2), False: len(told) / 2}
    particular = next((one for one in found if one.holds > least[one.is_named]), None)
    return particular or max((one for one in found if not one.is_named), key=lambda one: one.holds, default=None)


def _without_stray_precision(told: Sequence[Diagnosis]) -> Sequence[Diagnosis]:
    """Errors as small as a shorter format makes them are no pattern where other cases have larger ones."""
    short = [bool(one.symptoms) and any(s.kind is Kind.PRECISION for s in one.symptoms) for one in told]
    if sum(short) >= _REFUTED * sum(bool(one.symptoms) for one in told):
        return told
    return [replace(one, symptoms=tuple(map(_plain, one.symptoms))) for one in told]


def _plain(symptom: Symptom) -> Symptom:
    if symptom.kind is not Kind.PRECISION:
        return symptom
    words = [one for one in symptom.also if one.startswith(RIGHT_TO)]
    kind = Kind.DIGITS if words else Kind.NO_PATTERN
    return replace(symptom, kind=kind, words=words[0] if words else kind, general="", also=tuple(words[1:]))


_SAYS_LITTLE = (Kind.NO_PATTERN, Kind.PRECISION, Kind.DIGITS, Kind.NEIGHBOUR, Kind.ONE_SIDE, Kind.AVERAGE, Kind.VARIES)
_SMALL_ERRORS = (AS_SHORT, f" {RIGHT_TO} ", f" is {TOO} ")  # in the words of what says no more than how errors lie
_ENOUGH = 3  # one case in so many
_SEVERAL = 3  # cases that show something besides
_NAMING = 2  # a name that holds in fewer than a quarter of the cases is chance
_REFUTED = 0.75  # so many of the cases that could show something have to


def _listed(symptom: Symptom, words: str) -> str:
    """With the outputs that it is said of."""
    return f"{', '.join(symptom.outputs)}: {words}" if symptom.outputs else words


# What a symptom may have in common with others, the most particular first; whether that names a mistake.
_WAYS: tuple[tuple[Callable[[Symptom], Iterable[str]], bool], ...] = (
    (lambda one: [_listed(one, one.pattern.format(name)) for name in one.names if one.pattern], True),
    (lambda one: [_listed(one, words) for words in (one.words, *one.also)], False),
    (lambda one: [_listed(one, one.general)] if one.general else [], False),
    (lambda one: [_listed(one, words) for words in (one.kind, *one.also)], False),
)
