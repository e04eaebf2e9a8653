"""What a failed call looks like, as data: wrong readings that give the same numbers, or each wrong output's symptom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from .values import Values

SHOWN = 3  # readings, and outputs, that a sentence names
_OR = ", or "


NO_PATTERN = "of no simple pattern"
AS_SHORT = "errors no larger than those of computing in"
RIGHT_TO = "right to"
TOO = "too"


class Kind(StrEnum):
    """What wrong numbers look like, said of no case in particular."""

    UNWRITTEN = "never written"
    ADDED = "added to what was there"
    READ = "what was there is read"
    NO_NUMBER = "no numbers, or numbers where none is due"
    FLUSHED = "subnormal numbers flushed to zero"
    ZERO = "zero"
    LAST_OUTPUT = "equal to the last case's output"
    CONSTANT = "the same number everywhere"
    COPY = "a copy of an input"
    EXCHANGED = "what belongs into another output"
    OTHER_ROWS = "rows of an input, but other ones than belong there"
    SIGN = "the sign is wrong"
    SIGN_OF_ZERO = "the sign of zero is lost"
    FACTOR = "the right values times a factor"
    OFFSET = "the right values plus a number"
    TERM = "an input too many or too few in a sum or product"
    CLAMPED = "cut off at a number"
    LINES = "every row, column or part of a row wrong by a number of its own"
    MOVED = "the right values in other places"
    SHORT = "results in a shorter format"
    PRECISION = "errors as large as those of a shorter format"
    DIGITS = f"{RIGHT_TO} some digits"
    NEIGHBOUR = "the other neighbour in its 16-bit format: another draw"
    ONE_SIDE = "all errors to one side"
    LEANS = "rounded to one side"
    CHOSEN = "indices of other entries"
    AVERAGE = "errors too large on the average"
    NO_PATTERN = f"wrong numbers {NO_PATTERN}"
    ORDER = "the bits of another order over k"
    VARIES = "the second run differs from the first"
    OTHER_STREAM = "done on the default stream in place of the one that was given"


@dataclass(frozen=True)
class Symptom:
    """What one wrong output looks like, or several alike.

    words    what stands there, in this case
    names    what a number in the words is known by: sizes and scalars of the call, the simplest first
    pattern  the words of any case, with {} in place of that number
    place    where, if not everywhere
    outputs  of which it is said
    general  the words of any case of the kind, without this one's numbers
    also     the words of other explanations that hold here as well: another case may tell them apart
    """

    kind: Kind
    words: str
    names: tuple[str, ...] = ()
    pattern: str = ""
    place: str = ""
    outputs: tuple[str, ...] = ()
    general: str = ""
    also: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What stands there, and where."""
        return ", ".join(filter(None, [self.words, self.place]))


@dataclass(frozen=True)
class Diagnosis:
    """What a failed call looks like: `text` says it in one line, and the rest is what that is made of.

    readings  names of the wrong readings that give what came, the likeliest first
    in_part   they hold where the output is wrong, and the rest of it is right
    untried   names of the readings that have no meaning for these arguments, or give what is right but for roundings
    symptoms  where no stated reading matches
    is_searched  whether it was compared with readings made for this call, as no stated one matches: then they are those
    values    how the inputs' values lie where an output is wrong
    """

    text: str
    readings: tuple[str, ...] = ()
    in_part: bool = False
    untried: tuple[str, ...] = ()
    symptoms: tuple[Symptom, ...] = ()
    is_searched: bool = False
    values: tuple[Values, ...] = ()

    def __str__(self) -> str:
        return self.text

    @property
    def is_of_others(self) -> bool:
        """Whether it is not of numbers: it was made by what watched the call, or by a tool of the library's."""
        return not self.readings and not self.symptoms

    @property
    def explains_variation(self) -> bool:
        """Whether it says why two runs differ."""
        return bool(self.readings) or self.reads_what_was_there

    @property
    def reads_what_was_there(self) -> bool:
        """Whether it says that the result depends on what an output held before: as of two runs it does."""
        return any(one.kind in (Kind.ADDED, Kind.READ) for one in self.symptoms)

    @property
    def varies(self) -> bool:
        """Whether it says that two runs differ."""
        return any(one.kind in (Kind.VARIES, Kind.OTHER_STREAM) for one in self.symptoms)

    @property
    def is_vague(self) -> bool:
        """Whether it says no more than that numbers are wrong: numbers that differ from run to run are that too."""
        vague = (
            Kind.NO_PATTERN,
            Kind.NO_NUMBER,
            Kind.PRECISION,
            Kind.DIGITS,
            Kind.AVERAGE,
            Kind.ONE_SIDE,
            Kind.CHOSEN,
            Kind.NEIGHBOUR,
        )
        return not self.readings and all(one.kind in vague for one in self.symptoms)

    @property
    def telling(self) -> Sequence[Symptom]:
        """The symptoms that say something of a pattern, if only together with other cases; all where none does."""
        vague = (Kind.NO_PATTERN, Kind.AVERAGE)
        found = [one for one in self.symptoms if one.kind not in vague]
        few = [one for one in self.symptoms if one.kind in vague and one.also]
        sides = [replace(one, kind=Kind.ONE_SIDE, words=one.also[0], also=one.also[1:]) for one in few]
        return [*found, *sides] if found else self.symptoms

    @property
    def named(self) -> tuple[str, ...]:
        """The readings that the text names."""
        return self.readings[:SHOWN]


def of_readings(names: Sequence[str], untried: Sequence[str] = ()) -> Diagnosis:
    """Return what to say of a call that these readings match."""
    return Diagnosis(f"matches: {_either(names)}", tuple(names), untried=tuple(untried))


def of_readings_in_part(names: Sequence[str], where: str = "") -> Diagnosis:
    """Return what to say of a call that these readings match where it is wrong."""
    text = f"matches in a part: {_either(names)}"
    return Diagnosis(f"{text}; {where}" if where else text, tuple(names), in_part=True)


def _either(names: Sequence[str]) -> str:
    more = f"{_OR}{len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{_OR.join(names[:SHOWN])}{more}"


def of_symptoms(symptoms: Sequence[Symptom]) -> Diagnosis:
    """Return what to say of a call whose wrong outputs have these symptoms."""
    return Diagnosis("; ".join(f"{_listed(one.outputs)}: {one.text}" for one in symptoms), symptoms=tuple(symptoms))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"
