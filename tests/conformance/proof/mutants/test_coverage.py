"""A library of many mutants, run as it is, tells which cases come to which; those are asked first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from conformance.catalogue.cases import CASES, REFUSALS
from conformance.catalogue.prepared import MemoryStore
from conformance.proof.mutants import Mutant
from conformance.proof.mutants.coverage import OF_AN_OPERATION, asked, by_mutant, explored
from conformance.proof.mutants.failures import AnyCase, Failures
from conformance.proof.mutants.library import Library
from conformance.proof.mutants.record import Verdict
from conformance.proof.mutants.together import Together
from conformance.proof.mutants.trial import History, Judge

Made = Callable[[str, str, str], Mutant]


@pytest.fixture(scope="module")
def of_mul(mutant: Made) -> Mutant:
    return mutant("vector/elementwise.c", "y[i] = a[i] * b[i];", "y[i] = b[i] * a[i];")


@pytest.fixture(scope="module")
def of_add(mutant: Made) -> Mutant:
    return mutant("vector/elementwise.c", "y[i] = a[i] + b[i];", "y[i] = b[i] + a[i];")


@pytest.fixture(scope="module")
def together(library: Library, of_mul: Mutant, of_add: Mutant) -> Iterator[Together]:
    with library.together([of_mul, of_add]) as made:
        yield made


@pytest.mark.built
def test_each_case_comes_to_what_it_runs(together: Together, of_mul: Mutant, of_add: Mutant) -> None:
    ids = [next(iter(CASES.of(operation))) for operation in ("mul", "add", "softmax")]
    known = together.with_cases(by_mutant(together.link(None), [[id] for id in ids], 1))
    assert known.cases(of_mul) == {ids[0]}
    assert known.cases(of_add) == {ids[1]}
    assert together.cases(of_mul) == frozenset()


def test_of_an_operation_small_cases_of_each_data_set_are_run() -> None:
    some = asked("softmax")
    assert len(some) <= OF_AN_OPERATION
    assert {id.split("/")[0] for id in some} == {"softmax"}
    assert {id.split("/")[1] for id in some} > {"plain", "special", "designed"}


@pytest.mark.built
def test_cases_that_come_to_a_mutant_are_asked_in_both_looks(
    library: Library, together: Together, of_mul: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_of: list[list[str]] = []

    def passes(self: Failures, build: object, cases: Sequence[AnyCase], *rest: object) -> None:
        asked_of.append([case.id for case in cases])

    monkeypatch.setattr(Failures, "of_cases", passes)
    monkeypatch.setattr(Failures, "of_a_second_look", passes)
    coming = [*CASES.of("mul")][-2:]
    known = together.with_cases({1: frozenset(coming)})
    monkeypatch.setattr(Together, "is_watched", True)
    found = Judge(library, MemoryStore(), History(), together=known, alone=False).trial(of_mul)
    first, second = asked_of
    assert found.verdict is Verdict.SURVIVED
    assert sorted(id for id in first if id not in REFUSALS) == sorted(coming)
    assert sorted(second[:2]) == sorted(coming)
    assert len({*second}) == len(second) > 100


@pytest.mark.slow
def test_a_library_is_explored_as_it_is_built(library: Library, of_mul: Mutant) -> None:
    with explored(library, [of_mul], 1, traps=False) as made:
        cases = made.cases(of_mul)
    assert cases
    assert {id.split("/")[0] for id in cases} <= library.reach.operations(of_mul.file, of_mul.line)
