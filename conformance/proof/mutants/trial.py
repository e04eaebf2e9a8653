"""Judges a mutant of the C library or of the kernels, by the cases of what it can affect, until one fails."""

from __future__ import annotations

import itertools
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from conformance.catalogue.cases import DESIGNED, CallSequence, Case, Refusal
from conformance.catalogue.cases.sequences import WORK, elements
from conformance.catalogue.prepared import Store
from conformance.ids import is_of_many
from conformance.proof.faults import RefusedError
from conformance.proof.faults.recipes import Kernels
from conformance.proof.faults.trial import cases_of_operations
from conformance.steps import STEP_CASES

from .build import Build, digest
from .equivalents import Equivalents
from .failures import AnyCase, Chosen, Failures, Links, last_line
from .library import Library
from .mutator import Mutant
from .patience import Allowance
from .record import Trial, Verdict
from .together import Together
from .units import owner


class Looks(NamedTuple):
    """How many cases are asked: the likeliest; in a second look; of what is proved equivalent, in doubt of it.

    seconds: what a second look has in each of its settings.
    """

    first: int
    second: int
    proved: int = 20
    seconds: float = math.inf


ON_THE_HOST = Looks(200, 600)
ON_A_DEVICE = Looks(60, 400, seconds=8.0)  # where a case takes five times as long, and some of attention ten seconds
_SHAPE, _LONG = "shape", 32  # of strided tensors; the side of a tile that is turned
_CHECK = "CHECK"  # in the names of all macros by which arguments are checked
_DIGITS = 64  # of the digest of a build
_CHOOSING = ("function", "activation")  # scalars that say what an operation computes
_MOST_ON_A_DEVICE = 1 << 16  # elements of the arrays of a designed case


class History:
    """Which cases killed mutants, and where: such a case is likely to kill the next one there."""

    def __init__(self, trials: Iterable[tuple[str, Trial]] = ()) -> None:
        self._kills: Counter[tuple[str, str]] = Counter()
        self._killers: dict[str, str] = {}
        for place, trial in trials:
            self.note(place, trial)

    def note(self, place: str, trial: Trial) -> None:
        """Remember what killed a mutant, in a place: a file and what of it."""
        if trial.verdict is Verdict.KILLED:
            self._kills.update([(place, trial.by), ("", trial.by)])
            self._killers[trial.mutant.id] = trial.by

    def likely(self, place: str) -> list[str]:
        """Return what killed mutants in a place, by name: what killed most first."""
        return [name for (where, name), _ in self._kills.most_common() if where == place]

    def killer(self, mutant: str) -> str:
        """Return what killed a mutant before, by its id; nothing where nothing has."""
        return self._killers.get(mutant, "")

    def ordered(self, place: str, cases: Iterable[AnyCase], mutant: str = "") -> list[AnyCase]:
        """Return cases, those first that killed most in the place, then those that killed most, then small ones.

        mutant: the id of what is judged; before all comes what killed it under an earlier judge.
        """
        kills, killer = self._kills, self.killer(mutant)

        def order(case: AnyCase) -> tuple[bool, int, int, int]:
            return case.id != killer, -kills[place, case.id], -kills["", case.id], _elements(case)

        return sorted(cases, key=order)


def _elements(case: AnyCase) -> int:
    """How many elements there are of a case's sizes; a sequence of calls takes longer than any."""
    if isinstance(case, CallSequence):
        return sys.maxsize
    sizes = (case.base if isinstance(case, Refusal) else case).sizes.values()
    return math.prod(size for size in sizes if isinstance(size, int) and size > 1)


def cases_of(operations: frozenset[str], on_a_device: bool) -> list[AnyCase]:
    """Return the cases of some operations, designed ones among them; on an emulated device those are small that are.

    What a device makes of an index out of range is asked, too: code of its own does that; not of a call of so many
    entries that it takes an emulated one minutes.
    """
    designed = [case for name in sorted(operations) for case in DESIGNED.of(name).values()]
    every = cases_of_operations(operations, on_a_device=False)
    if not on_a_device:
        return [*every, *designed]
    return [*(case for case in every if not is_of_many(case.id)), *filter(is_small, designed)]


def is_small(case: AnyCase) -> bool:
    """Whether an emulated device makes a call in less than a second; a sequence of calls takes longer."""
    if isinstance(case, CallSequence):
        return False
    base = case.base if isinstance(case, Refusal) else case
    return elements(base) <= _MOST_ON_A_DEVICE and _elements(base) <= WORK * _MOST_ON_A_DEVICE


def spread(
    cases: Sequence[AnyCase], most: int, kind_of: Callable[[AnyCase], Hashable] | None = None
) -> Iterator[AnyCase]:
    """Yield no more than so many cases: of each kind in turn the next one.

    Of a kind each data set has its turn, too, and of that the cases whose sizes are extreme come first.
    """
    kinds = _grouped(sorted(cases, key=_elements), kind_of or _kind)
    data_sets = (_in_turn(map(_from_both_ends, _grouped(some, _data_set))) for some in kinds)
    return itertools.islice(_in_turn(data_sets), most)


def _grouped(cases: Iterable[AnyCase], key_of: Callable[[AnyCase], Hashable]) -> list[list[AnyCase]]:
    """The cases of each key, in the order in which the first of each comes."""
    groups: dict[Hashable, list[AnyCase]] = {}
    for case in cases:
        groups.setdefault(key_of(case), []).append(case)
    return [*groups.values()]


def _in_turn(some: Iterable[Iterable[AnyCase]]) -> Iterator[AnyCase]:
    """The first of each, the second of each, as long as any has one."""
    return (case for turn in itertools.zip_longest(*some) for case in turn if case is not None)


def _kind(case: AnyCase) -> Hashable:
    """Cases of an operation that computes several functions are of as many kinds; designed ones are of others."""
    if not isinstance(case, Case):
        return case.operation
    return case.operation, *map(case.sizes.get, _CHOOSING), case.spec.by_design


def _data_set(case: AnyCase) -> str:
    """What a case's numbers are."""
    return case.data if isinstance(case, Case) else ""


def _lying(case: AnyCase) -> Hashable:
    """Strided tensors are of a kind where as many axes are long, and the same one of each operand is closest."""
    if not isinstance(case, Case):
        return case.operation
    shape: Sequence[int] = case.sizes[_SHAPE]
    strides = [case.sizes[name] for name in case.sizes if name.endswith("_strides")]
    steps = (
        sorted((abs(step), axis - len(each)) for axis, step in enumerate(each) if shape[axis] > 1) for each in strides
    )
    return case.operation, sum(length > _LONG for length in shape), *(first[1] for first, *_ in filter(None, steps))


def second_look(cases: Sequence[AnyCase], most: int) -> list[AnyCase]:
    """Return all calls that are to be refused, which take no time, and no more than so many others.

    Of strided tensors, which one function computes by several ways, as many again, by how operands lie.
    """
    refusals = [case for case in cases if isinstance(case, Refusal)]
    others = [case for case in cases if not isinstance(case, Refusal)]
    strided = [case for case in others if isinstance(case, Case) and _SHAPE in case.sizes]
    chosen = {case.id: case for case in (*spread(others, most), *spread(strided, most, _lying))}
    return [*refusals, *chosen.values()]


def first_look(cases: Sequence[AnyCase], small: Collection[str], most: int, is_check: bool = False) -> list[AnyCase]:
    """Return no more than so many cases: half of them the first ones, which are the likeliest, the others of each kind.

    What many operations reach, few of them may run, some of these in no call as small as the likeliest ones are.
    small: the names of those that take no time, of which alone the second half is.  is_check: whether what checks
    arguments has changed; then all calls that are to be refused are asked besides, which take no time.
    """
    half = most - most // 2
    chosen = [*cases[:half], *spread([case for case in cases[half:] if case.id in small], most - half)]
    if not is_check:
        return chosen
    asked = {case.id for case in chosen}
    return [*chosen, *(case for case in cases if isinstance(case, Refusal) and case.id not in asked)]


def _from_both_ends(cases: Sequence[AnyCase]) -> Iterator[AnyCase]:
    """The last one, the first one, the last but one ..."""
    for place in range(len(cases)):
        yield cases[place // 2 if place % 2 else -1 - place // 2]


class _Codes:
    """Digests of builds that were judged: those that a case has killed, and those that passed."""

    def __init__(self, judged: Mapping[str, Verdict]) -> None:
        self.killed: set[str] = set()
        self.passed: set[str] = set()
        for code, verdict in judged.items():
            *builds, last = (code[at : at + _DIGITS] for at in range(0, len(code), _DIGITS))
            self.passed.update(builds)
            (self.killed if verdict is Verdict.KILLED else self.passed).add(last)


class Judge:
    """Judges mutants of one library, one after the other.  Used in one process.

    together: a library that holds many mutants, which are judged in it first.  proofs: of mutants that are equivalent.
    is_brief: whether nothing is looked at for a second time.  alone: whether what passes together with others is
    compiled by itself, which tells what becomes the same code, and takes minutes where it is in most units.
    seconds: what a second look has in each of its settings; what is usual where that is None.
    """

    def __init__(
        self,
        library: Library,
        store: Store,
        history: History,
        codes: Mapping[str, Verdict] = MappingProxyType({}),
        together: Together | None = None,
        proofs: Equivalents | None = None,
        is_brief: bool = False,
        alone: bool = True,
        seconds: float | None = None,
    ) -> None:
        self._library, self._history = library, history
        self._is_on_a_device = isinstance(library.recipe, Kernels)
        self._looks = ON_A_DEVICE if self._is_on_a_device else ON_THE_HOST
        if seconds is not None:
            self._looks = self._looks._replace(seconds=seconds)
        self._failures = Failures(library, store)
        self._codes = _Codes(codes)
        self._proofs = proofs or Equivalents(())
        self._is_brief, self._alone = is_brief, alone
        self._together = together
        self._by_operations: dict[frozenset[str], list[AnyCase]] = {}
        self._small: dict[frozenset[str], set[str]] = {}

    def trial(self, mutant: Mutant) -> Trial:
        """Build a mutant and judge it.  Raises FaultError where there is no compiler."""
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="assayer-mutant-") as folder:
            trial = self._trial(mutant, Path(folder))
        self._history.note(self._place(mutant), trial)
        return replace(trial, seconds=round(time.monotonic() - started, 2))

    def _place(self, mutant: Mutant) -> str:
        return self._library.place(mutant)

    def _trial(self, mutant: Mutant, folder: Path) -> Trial:
        is_proved = self._proofs.of(self._library.path(mutant), self._place(mutant), mutant) is not None
        try:
            if self._together and mutant in self._together:
                return self._tried_together(mutant, self._together, folder, is_proved)
            return self._tried_alone(mutant, folder, is_proved)
        except RefusedError as error:
            return Trial(mutant, Verdict.REFUSED, said=last_line(str(error)))

    def _tried_together(self, mutant: Mutant, together: Together, folder: Path, is_proved: bool) -> Trial:
        """Judge a mutant in the library of many; by itself it is compiled where no case has killed it, if any is."""
        build, links = self._library.uncompiled(mutant, folder / "together"), Chosen(together, mutant)
        cases = self._of_all(mutant, self._most(is_proved))
        if failed := self._failures.of_cases(build, cases, links):
            return Trial(mutant, Verdict.KILLED, failed.id, failed.reason)
        passed = _passed(mutant, is_proved, len(cases))
        if is_proved:
            return passed
        if not self._is_brief and together.is_watched:
            passed = self._second_look(mutant, build, links)
        if passed.verdict is Verdict.KILLED or not self._alone:
            return passed
        return self._tried_alone(mutant, folder, is_proved, passed)

    def _tried_alone(self, mutant: Mutant, folder: Path, is_proved: bool, passed: Trial | None = None) -> Trial:
        """Compile a mutant by itself and judge it; passed: what came of it in a library of many, if it was in one."""
        changed: list[Build] = []
        codes, asked, is_new = "", 0, False
        for build in filter(lambda build: build.changed, self._library.builds(mutant, folder)):
            if self._failures.is_without_unit(build):
                return Trial(mutant, Verdict.UNJUDGED, said=f"no {owner(build.file)} on this machine")
            changed.append(build)
            codes += build.code
            if build.code in self._codes.killed:
                return Trial(mutant, Verdict.REPEATED, code=codes)
            if build.code in self._codes.passed:
                continue
            is_new = True
            if not passed:
                cases = self._first_cases(mutant, build.operations, self._most(is_proved))
                if failed := self._failures.of_cases(build, cases):
                    self._codes.killed.add(build.code)
                    return Trial(mutant, Verdict.KILLED, failed.id, failed.reason, codes)
                asked += len(cases)
            self._codes.passed.add(build.code)
            if passed and self._is_brief:  # it differs; whether in other files, too, a second look will ask
                break
        if not is_new:
            return Trial(mutant, Verdict.REPEATED if changed else Verdict.SAME, code=codes)
        if is_proved or self._is_brief:
            return replace(passed or _passed(mutant, is_proved, asked), code=codes)
        whole = self._library.whole(mutant, changed, folder / "whole")
        if self._library.builder.is_same(whole):  # once it is optimised
            return Trial(mutant, Verdict.SAME, code=codes)
        seen = passed if passed and passed.verdict is Verdict.SURVIVED else self._second_look(mutant, whole)
        return replace(seen, code=codes + digest([codes]))  # of what was looked at as a whole: each part has passed

    def _most(self, is_proved: bool) -> int:
        """How many cases a first look asks."""
        return self._looks.proved if is_proved else self._looks.first

    def _second_look(self, mutant: Mutant, build: Build, links: Links | None = None) -> Trial:
        """Judge what has passed its likeliest cases."""
        cases, steps = self._cases(mutant, build.operations), sorted(build.operations & STEP_CASES.keys())
        chosen = second_look(cases, self._looks.second)
        if coming := self._coming(mutant, cases):
            asked = {case.id for case in coming}
            chosen = [*second_look(coming, self._looks.second), *(case for case in chosen if case.id not in asked)]
        allowance = Allowance(self._looks.seconds)
        if failed := self._failures.of_a_second_look(build, chosen, steps, links, allowance):
            return Trial(mutant, Verdict.KILLED, failed.id, failed.reason)
        all_or_most = f"{len(cases)}" if len(chosen) == len(cases) else f"{len(chosen)} of {len(cases)}"
        hurried = [f"{len(allowance.left_out)} of these not in every setting"] if allowance.left_out else []
        return Trial(mutant, Verdict.SURVIVED, said=", ".join([f"{all_or_most} cases", *hurried, *steps]))

    def _first_cases(self, mutant: Mutant, operations: frozenset[str], most: int) -> list[AnyCase]:
        """The cases of a first look at some operations."""
        cases = self._cases(mutant, operations)
        if operations not in self._small:
            self._small[operations] = {case.id for case in cases if is_small(case)}
        is_check = _CHECK in mutant.before and most != self._looks.proved
        return first_look(cases, self._small[operations], most, is_check)

    def _of_all(self, mutant: Mutant, most: int) -> list[AnyCase]:
        """The cases of a first look at all operations of a mutant at once: of each one, where they are many."""
        affected = self._library.reach.operations(mutant.file, mutant.line)
        cases = self._first_cases(mutant, affected, max(most, 2 * len(affected)))
        coming = self._coming(mutant, self._cases(mutant, affected))
        if not coming:
            return cases
        refusals = [case for case in cases if isinstance(case, Refusal)]
        return [*first_look(coming, {case.id for case in coming}, most), *refusals]

    def _coming(self, mutant: Mutant, cases: Iterable[AnyCase]) -> list[AnyCase]:
        """Those of the cases that are known to come to a mutant, in the same order; what killed it before has to."""
        known = self._together.cases(mutant) if self._together and mutant in self._together else frozenset()
        return [case for case in cases if case.id in known or case.id == self._history.killer(mutant.id)]

    def _cases(self, mutant: Mutant, operations: frozenset[str]) -> list[AnyCase]:
        """The cases of some operations, in the order of how likely they are to fail."""
        if operations not in self._by_operations:
            self._by_operations[operations] = cases_of(operations, self._is_on_a_device)
        return self._history.ordered(self._place(mutant), self._by_operations[operations], mutant.id)


def _passed(mutant: Mutant, is_proved: bool, asked: int) -> Trial:
    """What has passed a first look; no second one is due of what is proved equivalent."""
    return Trial(mutant, Verdict.SURVIVED if is_proved else Verdict.PASSED, said=f"{asked} cases")
