"""Judges calls in a row: each as if it were alone, and all by what they leave behind.

A call that is wrong is made once more, by itself in a new process.  If it is right there, something was kept from the
calls before it; if it is wrong there too, the operation's cases say what is wrong with it, and so no more is said here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from conformance import operations
from conformance.candidates.finding import Finding, Misdeed
from conformance.candidates.worker import sequences as made
from conformance.candidates.worker.outcome import Outcome
from conformance.candidates.worker.together import Rounds
from conformance.candidates.worker.worker import THREADS, Worker
from conformance.catalogue.cases import CallSequence
from conformance.catalogue.cases.sequences import (
    AT_ONCE,
    EMULATED_THOUSAND,
    THREADED,
    VECTOR,
    SequencedCall,
    Way,
)
from conformance.catalogue.goldens import GoldenError
from conformance.limits.noise import using
from conformance.program import watched_by

from .bench import ENDED, Bench, told
from .diagnoses import Diagnosis
from .growth import can_tell, growth
from .outputs import judge_outputs
from .preparation import Prepared, unjudged
from .results import Result, Status
from .verdict import Verdict

PLACED = "depends on where an array begins"
KEPT = "keeps something from one call to the next"
VARIES = "gives other bits from call to call"
LATE = "writes into its outputs once it has returned"
DISTURBED = "two calls at once disturb each other"
SHORT, SHORT_OF_DEVICE = (f"goes wrong where {what} has no memory for it" for what in ("malloc", "the device"))
NO_MEMORY = -3  # ASSAYER_NO_MEMORY
_DEVICE_HAS_NONE = 2  # cudaErrorMemoryAllocation: a device build may return its runtime's own errors
_OWN_ENDS = ("SIGABRT", "exit status")  # of a process whose language ends it where there is no memory
_WITHOUT = (Status.NOT_RUN, Status.NOT_SUPPORTED, Status.NOT_JUDGED)  # which say nothing of what calls leave behind
RACES = f"in {THREADS} threads of its own it"
_FOUND = {
    Way.AT_ONCE: (Misdeed.DISTURBS, "alone it is right"),
    Way.THREADED: (Misdeed.RACES, "alone it is right"),
    Way.WITHOUT_MEMORY: (Misdeed.NO_MEMORY, "with memory it is right"),
    Way.DISPLACED: (Misdeed.OTHER_PLACE, f"where all begin at multiples of {VECTOR} bytes it is right"),
}
ROUNDS, OWN_ROUNDS = Rounds(*AT_ONCE), Rounds(*THREADED)


def judge_sequence(sequence: CallSequence, bench: Bench) -> Result:
    """Judge one of conformance.catalogue.cases.SEQUENCES."""
    started = time.perf_counter()
    with using(bench.declared.of(sequence.operation).arithmetic):
        try:
            result = _Judge(sequence, bench).result()
        except GoldenError as error:
            result = Result(sequence.id, sequence.operation, Status.MISTRUSTED, str(error))
    return replace(result, seconds=time.perf_counter() - started)


class _Wrong(NamedTuple):
    """What is wrong with one call, and how it ended."""

    reason: str
    status: Status = Status.FAIL
    verdicts: tuple[Verdict, ...] = ()
    detail: str = ""


def _is_declined(wrong: _Wrong | None) -> bool:
    """Whether nothing is wrong with a call but its sizes, which are declared not to be supported."""
    return wrong is not None and wrong.status is Status.NOT_SUPPORTED


class _Judge:
    """Judges one sequence."""

    def __init__(self, sequence: CallSequence, bench: Bench) -> None:
        if not isinstance(bench.worker, Worker):
            raise TypeError(f"calls in sequence: expected a library's worker, got {type(bench.worker).__name__}")
        self.sequence, self.bench, self.worker = sequence, bench, bench.worker
        self.is_exact = bench.declared.of(sequence.operation).deterministic
        self._prepared: dict[tuple[str, int], Prepared] = {}

    def result(self) -> Result:
        """Make the calls, and say what came of them."""
        ways = {
            Way.REPEATED: self._repeated,
            Way.AT_ONCE: self._at_once,
            Way.THREADED: self._threaded,
            Way.WITHOUT_MEMORY: self._without_memory,
        }
        return ways.get(self.sequence.way, self._in_turn)()

    def _needs(self, call: SequencedCall) -> Prepared:
        key = call.case.id, call.draw
        if key not in self._prepared:
            self._prepared[key] = self.bench.preparation.drawn(call.case, call.draw)
        return self._prepared[key]

    def _in_turn(self) -> Result:
        if self.sequence.is_fresh:
            self.worker.renew(self.sequence.operation)
        declined = ""  # the others are judged all the same
        for place, call in enumerate(self.sequence.calls):
            prepared, label = self._needs(call), self.sequence.label(place)
            if prepared.weakness:
                return self._of(unjudged(), f"{label}: {prepared.weakness}")
            override = call.refusal.override if call.refusal else None
            operation, arguments = self.sequence.operation, prepared.arguments
            outcome = made.once(self.worker, operation, arguments, call.run, override, call.displaced or None)
            if call.refusal and outcome.status not in ("missing", "mishap"):
                continue  # it has a case of its own
            wrong = self._wrong(call, outcome)
            if wrong and _is_declined(wrong):
                declined = declined or f"{label}: {wrong.reason}"
            elif wrong:
                words = PLACED if call.displaced else KEPT
                return self._told([place], wrong, f"{words}: {label}")
        return self._of(Status.NOT_SUPPORTED if declined else Status.PASS, declined)

    def _repeated(self) -> Result:
        [call] = self.sequence.calls
        facts, refusal = self.worker.facts(), call.refusal
        count = min(self.sequence.times, EMULATED_THOUSAND) if facts.emulated else self.sequence.times
        if refusal and not self.worker.can_make(self.sequence.operation, refusal.override):
            return self._of(Status.NOT_RUN, "no such call can be made of a Python function")
        if refusal:
            arguments, override = refusal.arguments(self.bench.seed), refusal.override
            found = made.repeated(self.worker, self.sequence.operation, arguments, count, self.is_exact, override)
            has_ended = found.outcome.status != "done"
            wrong = self._wrong(call, found.outcome) if has_ended else None
        else:
            arguments = self._needs(call).arguments
            found = made.repeated(self.worker, self.sequence.operation, arguments, count, self.is_exact)
            wrong = self._wrong(call, found.outcome)
        if refusal and wrong:  # a call that should have been refused has a case of its own
            return self._of(Status.PASS if wrong.status not in _WITHOUT else wrong.status, wrong.reason)
        label = f"call {found.made} of {count} ({call.label})"
        if found.late:
            return self._failed(Misdeed.WRITES_LATE, f"{LATE} ({call.label})")
        if found.differs:
            words = f"{VARIES}: {label} is unlike the first" + (f": {wrong.reason}" if wrong else "")
            return self._varying(Misdeed.VARIES, words, wrong, call)
        if wrong:
            return self._told([0], wrong, f"{KEPT}: {label}")
        if found.changed:
            return self._failed(Misdeed.LEAVES_CHANGED, f"changes of its process {', and '.join(found.changed)}")
        if watched_by():  # a sanitiser keeps what is freed, to tell when it is used again
            return self._of(Status.PASS, detail=f"made {found.made} times; under a sanitiser, memory not looked at")
        if grows := growth(found.memory, found.window, count, facts.is_device_build):
            return self._failed(Misdeed.GROWS, grows)
        if not (found.is_over or can_tell(found.memory)):
            words = (
                f"made {found.made} of {count} calls in the time that there was, too few to tell whether memory grows"
            )
            return self._of(Status.NOT_JUDGED, words)
        return self._of(Status.PASS, detail=f"made {found.made} times")

    def _at_once(self) -> Result:
        calls = self.sequence.calls
        arguments = [self._needs(call).arguments for call in calls]
        found = made.together(self.worker, self.sequence.operation, arguments, ROUNDS, self.is_exact)
        wrongs = [self._wrong(call, each) for call, each in zip(calls, found.outcomes, strict=False)]
        words = f"{DISTURBED} ({' beside '.join(call.label for call in calls)})"
        if found.differs:
            words = f"{words}: in round {found.round} that of {calls[found.place].label} gives other bits than alone"
            return self._varying(Misdeed.DISTURBS, words, wrongs[found.place], calls[found.place])
        if declined := next(filter(_is_declined, wrongs), None):  # which ended the rounds of the other too
            return self._of(declined.status, declined.reason)
        for place, wrong in enumerate(wrongs):
            if wrong:  # where the process ended, nobody knows at which call
                return self._told([place] if len(wrongs) > 1 else range(len(calls)), wrong, words)
        return self._of(Status.PASS, detail=f"made {' and '.join(map(str, found.made))} times")

    def _threaded(self) -> Result:
        """Each call again and again in threads of the library's own; of a device the threads are its own anyway."""
        worker = self.worker if self.worker.has_own_threads else self.worker.threaded()
        made_of, declined = [], None
        for place, call in enumerate(self.sequence.calls):
            arguments = self._needs(call).arguments
            found = made.together(worker, self.sequence.operation, [arguments], OWN_ROUNDS, self.is_exact)
            [outcome] = found.outcomes
            wrong = self._wrong(call, outcome)
            if found.differs:
                words = f"{RACES} gives other bits from call to call ({call.label})"
                words += f": {wrong.reason}" if wrong else ""
                return self._varying(Misdeed.RACES, words, wrong, call)
            if _is_declined(wrong):
                declined = declined or wrong
            elif wrong and place and self._is_right_first(worker, call):
                return self._failed(Misdeed.KEEPS, f"{KEPT}: {self.sequence.label(place)}: {wrong.reason}", wrong)
            elif wrong:
                return self._told([place], wrong, f"{RACES} is wrong ({call.label})")
            made_of += found.made
        if declined:
            return self._of(declined.status, declined.reason)
        return self._of(Status.PASS, detail=f"made {' and '.join(map(str, made_of))} times")

    def _is_right_first(self, worker: Worker, call: SequencedCall) -> bool:
        """Whether a call in threads of the library's own is right where none was made before it."""
        worker.stop()
        found = made.together(worker, self.sequence.operation, [self._needs(call).arguments], OWN_ROUNDS, self.is_exact)
        return not found.differs and self._wrong(call, found.outcomes[0]) is None

    def _without_memory(self) -> Result:
        """Each call as the first of a process that has no memory for the library, then once more with memory.

        Of an emulated device the memory is its own.
        """
        facts = self.worker.facts()
        if self.worker.module or (facts.is_device_build and not facts.emulated):
            return self._of(Status.NOT_RUN, "of a device's memory, and of Python's, none is refused")
        said = []
        for place, call in enumerate(self.sequence.calls):
            arguments = self._needs(call).arguments
            self.worker.stop()
            outcome = made.without_memory(self.worker, self.sequence.operation, arguments)
            if wrong := self._wrong_without_memory(call, outcome):
                return self._told([place], wrong, f"{SHORT_OF_DEVICE if facts.emulated else SHORT} ({call.label})")
            if outcome.status == "done":
                after = made.once(self.worker, self.sequence.operation, arguments)
                if wrong := self._wrong(call, after):
                    return self._told([place], wrong, f"after a call without memory it is wrong ({call.label})")
            said.append("ended its process" if outcome.status != "done" else f"returned {outcome.code}")
        return self._of(Status.PASS, detail=", ".join(said))

    def _wrong_without_memory(self, call: SequencedCall, outcome: Outcome) -> _Wrong | None:
        """What is wrong with a call without memory: that it ends its process by itself, many a language will have."""
        if outcome.status == "done" and outcome.code == NO_MEMORY:
            first = next((finding.text for finding in outcome.findings), "")
            return _Wrong(first, detail=outcome.detail) if first else None
        if outcome.status == "done" and outcome.code == _DEVICE_HAS_NONE and self.worker.facts().emulated:
            return None
        wrong = self._wrong(call, outcome)
        if outcome.status == "crashed" and outcome.detail.startswith(_OWN_ENDS):
            return None
        if wrong and outcome.status == "done" and outcome.code == 0:
            return wrong._replace(reason=f"returned 0, and is wrong: {wrong.reason}")
        return wrong

    def _wrong(self, call: SequencedCall, outcome: Outcome) -> _Wrong | None:
        """What is wrong with what came of a call; None where it is as it is due."""
        if outcome.status != "done":
            reason = outcome.detail.strip().splitlines()[0] if outcome.detail.strip() else outcome.status
            return _Wrong(reason, ENDED[outcome.status], (), outcome.detail)
        if reason := self.bench.declined(call.case.operation, self._needs(call).arguments, outcome):
            return _Wrong(reason, Status.NOT_SUPPORTED)
        if outcome.code:
            return _Wrong(told(outcome.code, outcome.raised), detail=outcome.detail)
        arguments, expected, _ = self._needs(call)
        got = operations.flat(outcome.outputs)
        verdicts = judge_outputs(call.case.operation, arguments, expected, got, call.case.spec.signed_zeros)
        wrong = next((f"{verdict.output}: {verdict.reason}" for verdict in verdicts if not verdict.passed), "")
        reason = wrong or next((finding.text for finding in outcome.findings), "")
        return _Wrong(reason, Status.FAIL, tuple(verdicts), outcome.detail) if reason else None

    def _told(self, places: Sequence[int], wrong: _Wrong, words: str) -> Result:
        """The result where one of the calls at these places is wrong, by what comes of them alone."""
        alone = (one for place in places if (one := self._alone(self.sequence.calls[place])))
        without = wrong if wrong.status in _WITHOUT else next(alone, None)
        if without and without.status in _WITHOUT:
            return self._of(without.status, without.reason, without.detail)
        if without:
            return self._failed(None, f"{self.sequence.label(places[0])}: {wrong.reason}; wrong alone too", wrong)
        kind, right = _FOUND.get(self.sequence.way, (Misdeed.KEEPS, "alone it is right"))
        return self._failed(kind, f"{words}: {wrong.reason}; {right}", wrong)

    def _varying(self, kind: Misdeed, words: str, wrong: _Wrong | None, call: SequencedCall) -> Result:
        """The result where a call gives other bits each time: of one that is wrong alone, too, its cases say why."""
        result = self._failed(kind, words, wrong)
        is_refused = call.refusal is not None  # of such a call nothing is due
        alone = None if is_refused or wrong is None else self._alone(call)
        if alone is None or alone.status in _WITHOUT:
            return result
        return replace(result, reason=f"{words}; wrong alone too", diagnosis=None)

    def _alone(self, call: SequencedCall) -> _Wrong | None:
        """What is wrong with a call by itself, in a process that has made no other, no array displaced."""
        self.worker.stop()
        displaced = "" if call.displaced else None
        arguments = self._needs(call).arguments
        outcome = made.once(self.worker, call.case.operation, arguments, call.run, displaced=displaced)
        return self._wrong(call, outcome)

    def _of(self, status: Status, reason: str = "", detail: str = "") -> Result:
        return Result(self.sequence.id, self.sequence.operation, status, reason, detail=detail)

    def _failed(self, kind: Misdeed | None, reason: str, wrong: _Wrong | None = None) -> Result:
        """A failure; kind: what the sequence has found, None where it is not of the sequence's own."""
        status, verdicts, detail = wrong[1:] if wrong else (Status.FAIL, (), "")
        findings = (Finding(kind, reason),) if kind else ()
        result = replace(self._of(status, reason, detail), verdicts=verdicts, findings=findings)
        return replace(result, diagnosis=Diagnosis(reason)) if kind else result
