"""What calls reach of a library that was compiled for coverage: by the catalogue, and beyond it."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from bindings.shared_object.code import Extent
from conformance.candidates.instrumented import instrumented
from conformance.candidates.lines import Line, lines_of
from conformance.candidates.worker.coverage import Comparison, reached
from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import CASES, DESIGNED, REFUSALS, Case
from conformance.catalogue.cases.refusals import Refusal
from conformance.catalogue.design.rows import rows_of

from .draw import Call

_FOREIGN = re.compile(r"^/usr/|/emulator/include/")  # files of nobody who hunts


class Coverage:
    """What calls reached; `worker` makes them.

    functions   every place that tells that it was reached, and the function that it stands in; what comes from the
                compiler's headers or the emulator's is left out
    catalogue   the places that the catalogue's calls reached
    reached     those that any call reached
    Raises CandidateError where the library's places or lines cannot be told.
    """

    def __init__(self, worker: Worker, path: Path) -> None:
        self._worker = worker
        every = instrumented(path)
        self._lines = lines_of(path, every)
        foreign = {place for place, line in self._lines.items() if _FOREIGN.search(line.file)}
        self.functions: Mapping[int, Extent] = {place: every[place] for place in every if place not in foreign}
        self.catalogue: set[int] = set()
        self.reached: set[int] = set()

    @classmethod
    def of(cls, worker: Worker, path: Path) -> Coverage | None:
        """Return what is known before the first call; nothing where the library was not compiled for coverage."""
        first = reached(worker)
        if first is None:
            return None
        coverage = cls(worker, path)
        coverage.reached |= coverage.functions.keys() & first.places
        return coverage

    def news(self) -> tuple[int, list[Comparison]]:
        """Return how many places were reached for the first time since the last question, and what was compared."""
        found = reached(self._worker)
        if found is None:
            return 0, []
        new = (self.functions.keys() & found.places) - self.reached
        self.reached |= new
        return len(new), found.comparisons

    def of_catalogue(self, operation: str) -> Iterator[tuple[Call | None, int, list[Comparison]]]:
        """Make the catalogue's calls of an operation, those of full size aside; judge none of them.

        Yields each, where it is a row of the design, with what it was first to reach and what was compared.
        """
        for case in CASES.of(operation).values():
            yield None, *self._made(case)
        for refusal in REFUSALS.of(operation).values():
            yield None, *self._made(refusal, refusal.override)
        for row, case in zip(rows_of(operation), DESIGNED.of(operation).values(), strict=True):
            yield Call(operation, row, seed=0), *self._made(case)
        self.catalogue |= self.reached

    def _made(self, case: Case | Refusal, override: Mapping[str, Any] | None = None) -> tuple[int, list[Comparison]]:
        self._worker.run(case.operation, case.arguments(), override)
        return self.news()

    @property
    def entered(self) -> set[Extent]:
        """The functions that any call entered, and what compilers cut off them."""
        entered = {self.functions[place] for place in self.reached}
        names = {_name(one) for one in entered}
        return entered | {one for one in self.functions.values() if _is_part(one) and _name(one) in names}

    @property
    def places(self) -> set[int]:
        """The places of the functions that any call entered."""
        entered = self.entered
        return {place for place, one in self.functions.items() if one in entered}

    def missed(self, reached: Collection[int]) -> Iterator[str]:
        """Yield in words, for each file, the lines of entered functions that these places leave out."""
        lines, missed = self._of(reached), self._of(self.places - {*reached})
        return _described(missed - lines, missed & lines)

    def not_entered(self) -> Iterator[str]:
        """Yield in words, for each file, the lines that stand in functions alone that no call entered."""
        entered = self.places
        return _described(self._of(self.functions.keys() - entered) - self._of(entered), set())

    def _of(self, places: Collection[int]) -> set[Line]:
        return {self._lines[place] for place in places if place in self._lines}


def _described(whole: Collection[Line], part: Collection[Line]) -> Iterator[str]:
    """Yield for each file its lines of which nothing was reached, and those of which something was not."""
    for file in sorted({line.file for line in (*whole, *part)}):
        missed, partly = ([line.number for line in some if line.file == file] for some in (whole, part))
        said = [", ".join(_ranges(missed)), f"in part {', '.join(_ranges(partly))}" if partly else ""]
        yield f"{_from(file, Path.cwd())}: {'; '.join(filter(None, said))}"


def _is_part(function: Extent) -> bool:
    """Whether a symbol is a part that the compiler cut off a function, what is seldom run as often as not."""
    return "." in function.name


def _name(function: Extent) -> str:
    return function.name.partition(".")[0]


def _from(file: str, here: Path) -> Path:
    """The path of a file: from here where it lies below."""
    path = Path(os.path.normpath(file))
    return path.relative_to(here) if path.is_relative_to(here) else path


def _ranges(numbers: Collection[int]) -> Iterator[str]:
    """Yield numbers that follow each other as one range."""
    for _, few in itertools.groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        run = [number for _, number in few]
        yield f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}"
