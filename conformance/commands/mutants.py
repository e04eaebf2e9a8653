"""`mutants`: change the C library, the kernels or the reference by rule, and count what is killed."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from bindings.places import builds
from conformance.catalogue.keywords import Keywords
from conformance.catalogue.prepared import Store, kept_between_runs, made_by
from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.proof.faults import FaultError
from conformance.proof.faults.recipes import CLibrary, Kernels
from conformance.proof.mutants import MutatorError
from conformance.proof.mutants.coverage import explored
from conformance.proof.mutants.equivalents import Equivalents, EquivalentsError, read
from conformance.proof.mutants.library import Library
from conformance.proof.mutants.log import Log, LogError
from conformance.proof.mutants.mutator import Mutant
from conformance.proof.mutants.record import Trial, Verdict
from conformance.proof.mutants.reference import Reference, ReferenceJudge
from conformance.proof.mutants.sample import Make, Sample, Subject, judged, still_open
from conformance.proof.mutants.score import Score
from conformance.proof.mutants.trial import Judge
from conformance.proof.mutants.warm_reference import BrokenError

from .options import add_command, cores, keywords, positive

_EXAMPLES = """\
  mutants --minutes 60                   mutants of the C library for an hour; called again, it goes on
  mutants --kernels --minutes 60         of the kernels, on the emulated device
  mutants --kernels --together           those alone that are compiled many at a time, which costs least
  mutants --reference --minutes 60       of the reference, by its goldens and tests; it takes pytest
  mutants -k 'softmax or rows' --seed 7  of some files, in another order
  mutants --count 100                    the first hundred of the order
  mutants --kernels --again --seconds 60 what survived with no proof, with more time for each setting of a second look
"""
_EXIT = "exit code: 0 every mutant is killed or proved equivalent; 1 one is not; 2 nothing was tried"


def add_parser(commands: Any) -> None:
    """Register the command."""
    what = "change the C library, the kernels or the reference by rule, a line at a time, and count what is killed"
    parser = add_command(commands, "mutants", what, run, _EXAMPLES, _EXIT)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--kernels", action="store_true", help="mutants of the kernels, on the emulated device")
    which.add_argument("--reference", action="store_true", help="mutants of the reference, by its goldens and tests")
    parser.add_argument("-k", type=keywords, default=Keywords(), metavar="WORDS", help="only files whose path matches")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="draws the order (default: %(default)s)")
    parser.add_argument("--count", type=positive, metavar="N", help="no more than the first N of the order")
    parser.add_argument("--minutes", type=float, metavar="M", help="begin no mutant after so long")
    log = "where results are kept (default: build/mutants/NAME.jsonl); what stands there is not tried again"
    parser.add_argument("--log", type=Path, metavar="FILE", help=log)
    brief = "give what passes its likeliest cases no second look; a later run without this does"
    parser.add_argument("--brief", action="store_true", help=brief)
    together = "of kernels: compile none by itself; what cannot be compiled with many others is left to a later run"
    parser.add_argument("--together", action="store_true", help=together)
    again = "try what survived and carries no proof once more, first of all"
    parser.add_argument("--again", action="store_true", help=again)
    seconds = "how long a second look may take in each of its settings (default: 8 for kernels, else without end)"
    parser.add_argument("--seconds", type=positive, metavar="S", help=seconds)
    parser.add_argument("-n", type=positive, default=cores(), metavar="N", help="processes (default: %(default)s)")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each mutant, as it is tried")


def run(options: argparse.Namespace) -> int:
    """Draw, build, judge, print; return the exit code."""
    console = Console(highlight=False, soft_wrap=True, markup=False)
    started = time.monotonic()
    try:
        _check(options)
        equivalents = read()
        with kept_between_runs() as store:
            subject, make = _asked(options, store, equivalents)
            score = Score(subject, _trials(console, subject, make, equivalents, options), equivalents)
    except (MutatorError, FaultError, EquivalentsError, LogError, BrokenError) as error:
        console.print(str(error))
        return HARNESS
    for line in score.lines():
        console.print(line)
    console.print(f"{time.monotonic() - started:.0f} s")
    if not score.counted:
        return HARNESS
    return PASSED if score.is_right else FAILED


def _check(options: argparse.Namespace) -> None:
    """Raise MutatorError where time is given to second looks that nothing gets."""
    if options.seconds is not None and (options.brief or options.reference):
        given = "--brief leaves them out" if options.brief else "--reference has none"
        raise MutatorError(f"--seconds {options.seconds} is of second looks: expected a run that has them, {given}")


def _asked(options: argparse.Namespace, store: Store, proofs: Equivalents) -> tuple[Subject, Make]:
    """What is mutated, and what judges it."""
    if options.reference:
        reference = Reference()
        return reference, partial(ReferenceJudge, reference)
    library = Library(Kernels("fast") if options.kernels else CLibrary())
    alone = not (options.together and options.kernels)
    judge = partial(Judge, library, store, proofs=proofs, is_brief=options.brief, alone=alone, seconds=options.seconds)
    return library, judge


def _trials(
    console: Console, subject: Subject, make: Make, equivalents: Equivalents, options: argparse.Namespace
) -> Iterator[Trial]:
    """Try the mutants that are asked for; raises what `run` reports."""
    made = subject.mutants()
    equivalents.check(subject.folder, {mutant: subject.place(mutant) for mutant in made})
    chosen = [mutant for mutant in made if options.k.matches(subject.path(mutant))]
    drawn = Sample(options.seed, options.count).drawn(chosen)
    console.print(f"{len(drawn)} of {len(made)} mutants of {subject.folder}, in the order of seed {options.seed}")
    log = Log(options.log or builds() / "mutants" / f"{subject.name}.jsonl", subject.digest(), made_by())
    weave = None
    if isinstance(subject, Library) and options.kernels:
        weave = partial(explored, subject, processes=options.n, traps=not options.brief)

    def again(trial: Trial) -> bool:
        """Whether it survived and carries no proof, and such are asked for."""
        mutant = trial.mutant
        if not options.again or trial.verdict is not Verdict.SURVIVED:
            return False
        return equivalents.of(subject.path(mutant), subject.place(mutant), mutant) is None

    trials = judged(subject, make, drawn, log, options.n, options.brief, weave, not options.together, again)
    reached: set[str] = set()
    for trial in _in_time(options.minutes, _told(console, options.verbose, subject, trials)):
        reached.add(trial.mutant.id)
        yield trial
    yield from still_open(drawn, log, reached, again)


def _in_time(minutes: float | None, trials: Iterable[Trial]) -> Iterator[Trial]:
    """The trials until the time is over."""
    end = time.monotonic() + minutes * 60 if minutes is not None else float("inf")
    for trial in trials:
        yield trial
        if time.monotonic() > end:
            return


def _told(console: Console, every: bool, subject: Subject, trials: Iterable[Trial]) -> Iterator[Trial]:
    """The trials, with a line for each survivor or for all of them."""
    for trial in trials:
        if every or trial.verdict in (Verdict.SURVIVED, Verdict.PASSED):
            told = f"; {trial.by or trial.said}" if trial.by or trial.said else ""
            console.print(f"{trial.verdict.upper():<8} {_line(subject, trial.mutant)}{told}")
        yield trial


def _line(subject: Subject, mutant: Mutant) -> str:
    return f"{subject.path(mutant)}:{mutant.line}: {mutant.after}"
