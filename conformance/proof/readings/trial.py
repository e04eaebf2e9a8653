"""Tries the wrong readings of an operation on a case, as if each were a candidate's library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations
from conformance.catalogue.cases import CASES, Case
from conformance.catalogue.prepared import Store
from conformance.judging.diagnoses import Diagnosis
from conformance.judging.diagnosis import Compared, diagnose
from conformance.judging.outputs import judge_outputs
from conformance.judging.preparation import Preparation
from conformance.judging.verdict import Verdict
from conformance.limits.expectation import Expected
from conformance.variants.wrong.planted import by_id, planted
from reference.readings import Reading

# What a reading would do in C cannot be known where the reference refuses its arguments, or Python its indices.
REFUSED = (IndexError, ValueError)


@dataclass(frozen=True)
class Attempt:
    """What one case says of one reading: passed, or by how many times its limit it is off at most.

    said: the first line of a report of it, where the case tells that at once.
    """

    reading: str
    case: str
    passed: bool
    margin: float
    said: str = ""


@dataclass
class ReadingResult:
    """What all cases say of one reading."""

    reading: Reading
    attempts: list[Attempt] = field(default_factory=list)
    line: str = ""  # the diagnosis of the case that shows it most
    right: bool = False  # and whether that line says what it is

    @property
    def failed(self) -> list[Attempt]:
        """The cases that refuse it."""
        return [attempt for attempt in self.attempts if not attempt.passed]

    @property
    def clearest(self) -> Attempt | None:
        """The case that a report shows of it: the first with the largest error."""
        return max(self.failed, key=lambda attempt: attempt.margin, default=None)

    @property
    def margin(self) -> float:
        """The largest error in units of its limit; 0 where no case refuses it."""
        return self.clearest.margin if self.clearest else 0.0

    @property
    def is_diagnosed(self) -> bool:
        """Whether a report says what it is; of a training step that went wrong it names the first call that did."""
        return bool(self.failed) and (self.reading.operation in operations.OPERATIONS or bool(self.line))

    @property
    def survives(self) -> bool:
        """Whether nothing speaks against it: no case does, and no proof says that none can."""
        return not self.failed and not self.reading.equal

    @property
    def is_disproved(self) -> bool:
        """Whether a case refuses what is said to equal the operation."""
        return bool(self.failed and self.reading.equal)


def try_case(id: str, readings: Sequence[Reading] | None = None, store: Store | None = None) -> list[Attempt]:
    """Try readings of a case's operation on it: all, unless some are given.  store: of what cases need."""
    case = CASES[id]
    arguments, expected, _ = Preparation(store=store).case(case)
    return try_on(case, arguments, expected, planted(case.operation) if readings is None else readings)


def try_on(case: Case, arguments: Mapping[str, Any], expected: Expected, readings: Iterable[Reading]) -> list[Attempt]:
    """Try readings on a case whose data and expectation are known."""
    attempts = []
    for reading in readings:
        got = outputs(reading, arguments)
        if got is not None:
            verdicts = judge_outputs(case.operation, arguments, expected, got, case.spec.signed_zeros)
            passed = all(verdict.passed for verdict in verdicts)
            attempts.append(Attempt(reading.id, case.id, passed, max(map(margin, verdicts), default=0.0)))
    return attempts


def outputs(reading: Reading, arguments: Mapping[str, Any]) -> dict[str, NDArray[Any]] | None:
    """Return what a reading gives, by flat output name, stored as declared; None where that cannot be known."""
    function = operations.OPERATIONS[reading.operation]
    try:
        results = reading.function(*operations.ordered(function, arguments))
    except REFUSED:
        return None
    flat = operations.flat(operations.by_name(function, results))
    with np.errstate(over="ignore"):
        stored = {n: v.astype(np.float32) if v.dtype == np.float64 else np.asarray(v) for n, v in flat.items()}
        return operations.narrowed(reading.operation, stored)


def margin(verdict: Verdict) -> float:
    """Return the largest share of any of a verdict's limits."""
    return max(verdict.share, verdict.rms / verdict.rms_limit, abs(verdict.bias) / verdict.bias_limit)


def gather(readings: Iterable[Reading], attempts: Iterable[Attempt]) -> list[ReadingResult]:
    """Gather what all cases say of each reading."""
    gathered = {reading.id: ReadingResult(reading) for reading in readings}
    for one in attempts:
        gathered[one.reading].attempts.append(one)
    for found in gathered.values():
        if found.clearest and found.clearest.said:
            found.line = found.clearest.said
            found.right = all(re.search(found.reading.says, one.said) for one in found.failed)
    return list(gathered.values())


def diagnose_on(id: str, readings: Sequence[str], store: Store | None = None) -> Iterator[tuple[str, str, bool]]:
    """Diagnose readings on a case that refuses them; yield each one's id, the line, and whether it says what it is."""
    case = CASES[id]
    arguments, expected, _ = Preparation(store=store).case(case)
    compared = Compared(case.operation, arguments, expected)
    for name in readings:
        reading = by_id(case.operation, name)
        got = outputs(reading, arguments)
        assert got is not None
        verdicts = judge_outputs(case.operation, arguments, expected, got, case.spec.signed_zeros)
        said = diagnose(case.operation, arguments, expected, got, verdicts, compared=compared) or Diagnosis("")
        yield name, said.text, says(said, reading) or _names_an_equal(said, reading.operation, arguments, got)


def says(diagnosis: Diagnosis, reading: Reading) -> bool:
    """Whether a diagnosis says what a reading is: its name among those that match, or the words it is known by."""
    return reading.name in diagnosis.named or bool(reading.says and re.search(reading.says, diagnosis.text))


def _names_an_equal(diagnosis: Diagnosis, operation: str, arguments: Mapping[str, Any], got: Mapping[str, Any]) -> bool:
    """Whether it names another reading that gives the very same numbers there: it is as good a name."""
    others = (reading for reading in planted(operation) if reading.name in diagnosis.named)
    return any(_same(outputs(reading, arguments), got) for reading in others)


def _same(one: Mapping[str, Any] | None, other: Mapping[str, Any]) -> bool:
    return one is not None and all(np.array_equal(one[n], a, equal_nan=a.dtype.kind == "f") for n, a in other.items())
