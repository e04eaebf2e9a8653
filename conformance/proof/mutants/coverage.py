"""Which cases come to which mutants of a library that holds many: no other case kills them in the same setting.

As Schuler and Zeller choose tests (2009, "Javalanche: efficient mutation testing for Java"): the library runs once as
it is, and each place of a mutant notes that it was come to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bindings import LibraryError
from conformance.candidates.worker.coverage import reached
from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import Case, case_of
from conformance.pool import shared

from .failures import is_long
from .library import Library
from .mutator import Mutant
from .patience import Allowance
from .together import Together
from .trial import cases_of, is_small, spread

OF_AN_OPERATION = 80  # cases that are run, as many as there is time for
_SECONDS = 3.0  # of an operation
_LIMIT_S = 10.0


@contextmanager
def explored(library: Library, mutants: Sequence[Mutant], processes: int, traps: bool) -> Iterator[Together]:
    """Build many mutants together, and look which cases come to them.  Raises as `Library.together` does."""
    with library.together(mutants, processes, traps) as together:
        affected: set[str] = set()
        for mutant in together.mutants:
            affected |= library.reach.operations(mutant.file, mutant.line)
        pieces = [asked(operation) for operation in sorted(affected)]
        yield together.with_cases(by_mutant(together.link(None), pieces, processes))


def asked(operation: str) -> list[str]:
    """Return the ids of an operation's cases that are run: small ones of every data set, those last that take long."""
    every = cases_of(frozenset({operation}), on_a_device=True)
    small = [case for case in every if isinstance(case, Case) and is_small(case)]
    return [case.id for case in sorted(spread(small, OF_AN_OPERATION), key=is_long)]


def by_mutant(library: Path, pieces: Sequence[Sequence[str]], processes: int) -> Mapping[int, frozenset[str]]:
    """Return the ids of the cases that come to each mutant, by its number.  pieces: what is given some seconds each."""
    found: dict[int, set[str]] = {}
    for some in shared(partial(_visited, library), pieces, processes):
        for id, numbers in some:
            for number in numbers:
                found.setdefault(number, set()).add(id)
    return {number: frozenset(cases) for number, cases in found.items()}


def _visited(library: Path, ids: Iterable[str]) -> list[tuple[str, list[int]]]:
    """The numbers of the mutants that each case comes to; of one that cannot be run, none."""
    allowance = Allowance(_SECONDS)
    with Worker(library, 1, _LIMIT_S) as worker:
        return [(id, _of_case(worker, id)) for id in allowance.within(ids, str)]


def _of_case(worker: Worker, id: str) -> list[int]:
    case = case_of(id)
    try:
        worker.run(case.operation, case.arguments())
        found = reached(worker)
    except LibraryError:
        return []
    return found.places if found else []
