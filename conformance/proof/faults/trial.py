"""Judges builds with faults as `run` judges a library: bindings, workers and guard zones are on the way."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import CASES, REFUSALS, SEQUENCES, CallSequence, Case, Refusal
from conformance.catalogue.keywords import Keywords
from conformance.catalogue.prepared import Store, kept_between_runs
from conformance.ids import is_of_refusals
from conformance.judging.bench import Bench
from conformance.judging.causes import Cause, causes
from conformance.judging.results import Result
from conformance.judging.sequences import judge_sequence
from conformance.limits import HEADER, read_contract
from conformance.pool import shared

from .build import build, recipe_of
from .fault import Fault
from .recipes import Example
from .table import FAULTS


@dataclass(frozen=True)
class FaultResult:
    """What came of one fault."""

    name: str
    found: bool  # a case of every operation it is in did not pass
    right: bool  # the first line of every mistake that a report shows tells what is wrong
    first_line: str  # of the first mistake of which that is not so, else of the first
    unnamed: str = ""  # why it is known that the line is not right, where it is


def judge(processes: int, faults: Sequence[Fault] = FAULTS) -> Iterator[FaultResult]:
    """Judge each fault on all cases of its operations, in processes of their own, and yield the results as they come.

    Raises FaultError where one cannot be built.
    """
    if not all(fault.is_of_a_kernel or fault.is_of_a_framework for fault in faults):
        build()  # what they share is compiled once
    with kept_between_runs() as store:
        # Those first that take longest, so that no process is left alone with one of them at the end.
        work = sorted(faults, key=lambda fault: -len(cases_of(fault)))
        yield from shared(partial(judge_fault, store=store), work, processes)


def judge_fault(fault: Fault, store: Store | None = None) -> FaultResult:
    """Build the library with one fault and judge its operations; store: of what cases need."""
    mode = fault.run_mode
    with Worker(build(fault), 1, fault.limit_s, mode.environment(), mode.prefix()) as worker:
        recipe = recipe_of(fault)
        entry_points = recipe.map if isinstance(recipe, Example) else None
        contract = read_contract(fault.contract) if fault.contract else HEADER
        bench = Bench(worker, declared=replace(contract, entry_points=entry_points), store=store)
        return scored(fault, [judge_case(case, bench) for case in cases_of(fault)])


def judge_case(case: Case | Refusal | CallSequence, bench: Bench) -> Result:
    """Judge a case, a call that is to be refused, or a sequence of calls."""
    return judge_sequence(case, bench) if isinstance(case, CallSequence) else bench.case(case)


def cases_of(fault: Fault) -> list[Case | Refusal | CallSequence]:
    """The cases that have to find a fault."""
    keywords = Keywords(fault.cases)
    cases = cases_of_operations(fault.operations, on_a_device=fault.is_of_a_kernel and not fault.cases)
    asked = [case for case in cases if keywords.matches(case.id)]
    return [case for case in asked if not (fault.is_of_a_framework and is_of_refusals(case.id))]


def cases_of_operations(names: Collection[str], on_a_device: bool) -> list[Case | Refusal | CallSequence]:
    """The cases of some operations, those first that ask for numbers, and sequences of calls last."""
    catalogue: list[Case | Refusal | CallSequence] = [*CASES.values(), *REFUSALS.values(), *SEQUENCES.values()]
    cases = [case for case in catalogue if case.operation in names]
    # What a device makes of an index out of range is numbers, and wrong numbers have better cases to show in.
    return [case for case in cases if not (on_a_device and isinstance(case, Refusal) and case.entries)]


def scored(fault: Fault, results: Sequence[Result]) -> FaultResult:
    """Say whether the results find the fault, and whether their report names it."""
    lines = [_first_line(cause) for cause in causes(results)]
    missed = [line for line in lines if not fault.is_said_by(line)]
    found = {result.operation for result in results if result.has_failed} == set(fault.operations)
    line = next(iter([*missed, *lines]), "all cases passed")
    right = found and not missed
    return FaultResult(fault.name, found, right, line, fault.unnamed if found and not right else "")


def _first_line(cause: Cause) -> str:
    """What a report says of a mistake; of calls that were not refused, which one it was."""
    return cause.plainest.headline if cause.plainest.is_refusal else cause.sentence
