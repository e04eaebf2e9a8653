"""What fails of a mutant that is built: the first case that does not pass; where all pass, what a second look shows.

The judge calls a C library in one thread and sees nothing of the memory that it takes for itself.  The second look is
at the library's own tests, and at all cases in several threads, with that memory between guard pages and a trap where
C leaves undefined what comes.  Kernels run in other orders of their threads, with such traps: an address that is not
aligned as a device needs it is one.  What only a unit for bfloat16 runs is judged by each of those that there are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

from bindings import LibraryError
from conformance import launches
from conformance.candidates.candidate import SCHEDULES, Candidate
from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import CallSequence, Case, Refusal
from conformance.catalogue.prepared import Store
from conformance.judging.bench import Bench
from conformance.judging.results import Result, Status
from conformance.proof.faults.recipes import Kernels
from conformance.proof.faults.trial import judge_case
from conformance.steps import judge_step
from conformance.steps.resident import RESIDENT

from . import own_tests
from .build import Build
from .library import Library
from .mutator import Mutant
from .patience import Allowance, Patience
from .together import Together
from .units import AS_IT_IS, SOURCES, Units, emulating, generations

AnyCase: TypeAlias = Case | Refusal | CallSequence
UNBOUNDED = Allowance()
LIMIT_S = 5.0  # of a call: an honest one takes a tenth of a second, on the emulator a second
_START_S = 5.0
_STEP_LIMIT_S = 120.0
_MEMORY_KB = 8 << 20  # a mutant that asks for memory without end is to be refused it
_LIMITED = ("sh", "-c", f'ulimit -d {_MEMORY_KB}; exec "$@"', "sh")
_ELEMENTS_A_SECOND = 20000  # of what a kernel reads, on an emulated device
_THREADS = 2
_HALVES = ("_bf16", "_fp16")
_OTHERS = {"sm_70": _HALVES, "sm_75": ("_fp16",), "sm_90": _HALVES}  # than sm_80, and what these compute otherwise


class Links(Protocol):
    """Links what is built, with the mutant where something is changed: for a first look, and for a second one."""

    def link(self, build: Build) -> Path: ...
    def link_watched(self, build: Build) -> Path: ...


class Chosen:
    """Links nothing: a library that holds many mutants is at hand, in which one is chosen."""

    def __init__(self, together: Together, mutant: Mutant) -> None:
        self._together, self._mutant = together, mutant

    def link(self, build: Build) -> Path:
        """Return the library of a first look."""
        return self._together.link(self._mutant if build.changed else None)

    def link_watched(self, build: Build) -> Path:
        """Return the library of a second look."""
        return self._together.link_watched(self._mutant if build.changed else None)


class Failures:
    """Looks for what fails of builds of one library."""

    def __init__(self, library: Library, store: Store) -> None:
        self._builder, self._store = library.builder, store
        self._is_emulated = isinstance(library.recipe, Kernels)
        self._wrong: set[str] = set()  # cases that the library as it is does not pass, each with its settings
        self._patience = Patience(LIMIT_S)
        self._units: Units | None = None  # asked for where a mutant can need one

    def of_cases(self, build: Build, cases: Sequence[AnyCase], links: Links | None = None) -> Result | None:
        """Return the first case that does not pass; links: where the build's own code is not linked.

        Raises RefusedError.
        """
        return self._in_ways(self._ways(build), build, (links or self._builder).link, cases)

    def is_without_unit(self, build: Build) -> bool:
        """Whether what is changed is a unit's alone, and this machine has not got it.  Raises RefusedError."""
        return not self._ways(build)

    def _ways(self, build: Build) -> Sequence[Mapping[str, str]]:
        """The settings in which a mutant can differ."""
        if self._is_emulated:
            return generations(build.file)
        if build.file not in SOURCES:
            return (AS_IT_IS,)
        if self._units is None:
            self._units = Units(self._builder.link(build.unmutated))
        return self._units.ways(build.file)

    def of_a_second_look(
        self,
        build: Build,
        cases: Sequence[AnyCase],
        steps: Sequence[str] = (),
        links: Links | None = None,
        allowance: Allowance = UNBOUNDED,
    ) -> Result | None:
        """Return the first test, case or step that does not pass; links: where the build's own code is not linked.

        allowance: the time that cases have in each setting; what takes longest comes last.  Raises RefusedError.
        """
        links = links or self._builder
        if self._is_emulated:
            tests = [each for each in own_tests.KERNELS if each.sources or RESIDENT in build.operations]
            failed = self._own_test(tests, build, links) or self._other_launches(build, links)
            failed = failed or self._in_other_orders(build, cases, links, allowance)
        else:
            failed = self._in_ways(self._ways(build), build, links.link_watched, cases, _THREADS, allowance)
            failed = failed or self._own_test(own_tests.C, build, links)
        return failed or (self._first(build, links.link_watched, (), steps) if steps else None)

    def _own_test(self, tests: Sequence[own_tests.Tests], build: Build, links: Links) -> Result | None:
        """What fails of a library's own tests that look at a mutated file, and not of the library as it is."""
        for each in (each for each in tests if each.looks_at(build.file)):
            link = links.link_watched if each.traps else links.link
            failed = own_tests.failed(each, link(build))
            if failed and not own_tests.failed(each, link(build.unmutated)):
                return Result(each.name, "", Status.FAIL, failed)
        return None

    def _other_launches(self, build: Build, links: Links) -> Result | None:
        """What a call launches that the table does not say: another way to the same numbers may be a slow one."""
        rows = {id: row for id, row in launches.read().items() if launches.operation_of(id) in build.operations}
        try:
            found = launches.plans(links.link(build), [*rows], _THREADS)
        except launches.PlansError as error:
            return Result("launches", "", Status.CRASHED, last_line(str(error)))
        different = [*launches.differences(rows, found)]
        if not different:
            return None
        as_it_is = launches.plans(links.link(build.unmutated), [one.id for one in different], _THREADS)
        new = (one for one in different if as_it_is[one.id] == rows[one.id])
        return next((Result("launches", "", Status.FAIL, str(one)) for one in new), None)

    def _in_other_orders(
        self, build: Build, cases: Sequence[AnyCase], links: Links, allowance: Allowance
    ) -> Result | None:
        """Other orders of an emulated device's threads, in one of them with arrays in memory of its own.

        One of the orders has one multiprocessor, for which launchers that cut work in parts or choose among kernels
        take others than for a large device.  Products in 16 bits have kernels of their own on devices without matrix
        units for them, and the units of each generation differ, which are asked, too.
        """
        ways = [Candidate(Path(), schedule=schedule).environment for schedule in SCHEDULES[1:]]
        for arch, endings in _OTHERS.items():
            ways += [{**emulating(arch)}] if any(name.endswith(endings) for name in build.operations) else []
        return self._in_ways(ways, build, links.link_watched, cases, allowance=allowance)

    def _in_ways(
        self,
        ways: Iterable[Mapping[str, str]],
        build: Build,
        link: Callable[[Build], Path],
        cases: Sequence[AnyCase],
        threads: int = 1,
        allowance: Allowance = UNBOUNDED,
    ) -> Result | None:
        """The first failure in any of several settings of the library's process."""
        found = (self._first(build, link, cases, (), threads, way, allowance) for way in ways)
        return next(filter(None, found), None)

    def _first(
        self,
        build: Build,
        link: Callable[[Build], Path],
        cases: Sequence[AnyCase],
        steps: Sequence[str] = (),
        threads: int = 1,
        environment: Mapping[str, str] = AS_IT_IS,
        allowance: Allowance = UNBOUNDED,
    ) -> Result | None:
        """Judge cases and steps until one does not pass that passes without the mutant, and return that one."""
        path, due = link(build), [case for case in cases if _key(case.id, environment) not in self._wrong]
        if allowance.is_bounded:
            due = self._patience.long_ones_last(due, lambda case: _key(case.id, environment), _guess_s)
        while failed := self._judge(path, due, steps, threads, environment, allowance):
            place = next((place for place, case in enumerate(due) if case.id == failed.id), None)
            if place is None or self._patience.knows(_key(failed.id, environment)):
                return failed
            if self._judge(link(build.unmutated), [due[place]], (), threads, environment):
                self._wrong.add(_key(failed.id, environment))
                place += 1
            elif failed.status is not Status.TIMED_OUT:
                return failed
            due = due[place:]  # what had no time goes on with as much as the library as it is has taken, and more
        return None

    def _judge(
        self,
        path: Path,
        cases: Sequence[AnyCase],
        steps: Sequence[str],
        threads: int,
        environment: Mapping[str, str],
        allowance: Allowance = UNBOUNDED,
    ) -> Result | None:
        """Judge cases and steps until one does not pass, and return that one."""
        try:
            with Worker(path, threads, _START_S, environment, _LIMITED, explains=False) as worker:
                bench = Bench(worker, store=self._store, explains=False)
                judged = (self._judged(case, bench, worker) for case in allowance.within(cases, _id))
                results = itertools.chain(judged, _steps(worker, bench, steps))
                return next((result for result in results if result.has_failed), None)
        except LibraryError as error:
            return Result("opening", "", Status.CRASHED, last_line(str(error)))

    def _judged(self, case: AnyCase, bench: Bench, worker: Worker) -> Result:
        """Judge a case, no call of which may take much longer than it did before."""
        key = _key(case.id, worker.environment)
        worker.limit_s = self._patience.limit_s(key)
        result = judge_case(case, bench)
        if result.is_fine:
            self._patience.note(key, result.seconds)
        return result


def _id(case: AnyCase) -> str:
    return case.id


def is_long(case: AnyCase) -> bool:
    """Whether an emulated device may take half a second for a case."""
    return _guess_s(case) > 0.5


def _guess_s(case: AnyCase) -> float:
    """How many seconds an emulated device may take for a case; a sequence is of many calls."""
    if isinstance(case, Case):
        return case.elements / _ELEMENTS_A_SECOND
    return 1.0 if isinstance(case, CallSequence) else 0.0


def _key(id: str, environment: Mapping[str, str]) -> str:
    """A case in some settings: one unit, or one order of threads, takes longer than another."""
    return " ".join([id, *(f"{name}={value}" for name, value in sorted(environment.items()))])


def _steps(worker: Worker, bench: Bench, steps: Iterable[str]) -> Iterator[Result]:
    """The results of whole steps, which take longer than a call."""
    for step in steps:
        worker.limit_s = _STEP_LIMIT_S
        yield from judge_step(step, bench)


def last_line(text: str) -> str:
    """Return the last line of what a compiler or a library said, as far as a line of a report goes."""
    return text.strip().splitlines()[-1][:200] if text.strip() else ""
