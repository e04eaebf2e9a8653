"""Which cases come to which mutants of a library that holds many: no other case can kill them.

As Schuler and Zeller choose tests (2009, "Javalanche: efficient mutation testing for Java"): the library runs once as
it is, and each place of a mutant notes that it was come to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bindings import LibraryError
from conformance.candidates.worker.coverage import reached
from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import Case, case_of
from conformance.pool import shared

from .library import Library
from .mutator import Mutant
from .together import Together
from .trial import cases_of, is_small, spread

OF_AN_OPERATION = 80  # cases that are run
_AT_ONCE = 50
_LIMIT_S = 10.0


@contextmanager
def explored(library: Library, mutants: Sequence[Mutant], processes: int, traps: bool) -> Iterator[Together]:
    """Build many mutants together, and look which cases come to them.  Raises as `Library.together` does."""
    with library.together(mutants, processes, traps) as together:
        affected: set[str] = set()
        for mutant in together.mutants:
            affected |= library.reach.operations(mutant.file, mutant.line)
        yield together.with_cases(by_mutant(together.link(None), [*asked(affected)], processes))


def asked(operations: Collection[str]) -> Iterator[str]:
    """Yield the ids of the cases that are run: of each operation small ones of every data set."""
    for operation in sorted(operations):
        small = [case for case in cases_of(frozenset({operation}), on_a_device=True) if is_small(case)]
        yield from (case.id for case in spread([case for case in small if isinstance(case, Case)], OF_AN_OPERATION))


def by_mutant(library: Path, ids: Sequence[str], processes: int) -> Mapping[int, frozenset[str]]:
    """Return the ids of the cases that come to each mutant, by its number."""
    pieces = [ids[at : at + _AT_ONCE] for at in range(0, len(ids), _AT_ONCE)]
    found: dict[int, set[str]] = {}
    for some in shared(partial(_visited, library), pieces, processes):
        for id, numbers in some:
            for number in numbers:
                found.setdefault(number, set()).add(id)
    return {number: frozenset(cases) for number, cases in found.items()}


def _visited(library: Path, ids: Iterable[str]) -> list[tuple[str, list[int]]]:
    """The numbers of the mutants that each case comes to; of one that cannot be run, none."""
    with Worker(library, 1, _LIMIT_S) as worker:
        return [(id, _of_case(worker, id)) for id in ids]


def _of_case(worker: Worker, id: str) -> list[int]:
    case = case_of(id)
    try:
        worker.run(case.operation, case.arguments())
        found = reached(worker)
    except LibraryError:
        return []
    return found.places if found else []
