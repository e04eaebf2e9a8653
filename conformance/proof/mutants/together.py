"""One library with many mutants in it, each chosen by the name of the file that is opened.

A library is linked once, and every mutant is a hard link to it: `libassayer_17.so` computes what mutant 17 does,
`libassayer_0.so` what stands there without any.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Self

from conformance.proof.faults import RefusedError
from conformance.proof.faults.recipes import RUNTIME, reached

from .build import Builder
from .mutator import Mutant
from .weave import REACHED, SWITCH, Woven, woven

_NONE = 0  # the number of no mutant
_ROUNDS = 12  # of compiling anew without what a compiler has refused
_CHOICE = "choice"  # the file of what follows, with a unit's ending
_MOST = 1 << 12  # mutants of a library
_PLACE = re.compile(r"([\w./]+):(\d+):\d*:? ?(error)?")
_CHOOSES = f"""
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
extern int {SWITCH};
extern unsigned char {REACHED}[];
int {SWITCH} = {_NONE};
unsigned char {REACHED}[{_MOST}];
__attribute__((constructor)) static void choose(void) {{
    Dl_info found;
    if (!dladdr((void*)&{SWITCH}, &found) || !found.dli_fname) return;
    const char* const number = strrchr(found.dli_fname, '_');
    {SWITCH} = number ? atoi(number + 1) : {_NONE};
}}

/* What the worker asks after a call of a library that notes where it was (cuda/coverage): here the mutants' numbers. */
#ifdef __cplusplus
extern "C" {{
#endif
__attribute__((visibility("default"))) int assayer_coverage_places(unsigned* out, int from, int most);
__attribute__((visibility("default"))) int assayer_coverage_comparisons(double* out, int most);
int assayer_coverage_places(unsigned* out, int from, int most) {{
    int count = 0;
    (void)from; /* each is said once, and may be come to again */
    for (unsigned number = 0; number < {_MOST} && count < most; number++) {{
        if ({REACHED}[number]) out[count++] = number;
        {REACHED}[number] = 0;
    }}
    return count;
}}
int assayer_coverage_comparisons(double* out, int most) {{ return (void)out, (void)most, 0; }}
#ifdef __cplusplus
}}
#endif
"""


class Together:
    """The mutants of a library that one build of it holds, each with a path to the library in which it is chosen.

    watched: a second build, in which what C leaves undefined ends the process, where there is one.
    """

    def __init__(
        self,
        library: Path,
        numbers: Mapping[Mutant, int],
        watched: Path | None = None,
        cases: Mapping[int, frozenset[str]] = MappingProxyType({}),
    ) -> None:
        self._library, self._numbers, self._watched, self._cases = library, numbers, watched, cases

    def with_cases(self, cases: Mapping[int, frozenset[str]]) -> Together:
        """Return the same with the ids of cases that come to each mutant, by its number."""
        return Together(self._library, self._numbers, self._watched, cases)

    def cases(self, mutant: Mutant) -> frozenset[str]:
        """Return the ids of cases that are known to come to a mutant."""
        return self._cases.get(self._numbers[mutant], frozenset())

    @property
    def mutants(self) -> Iterable[Mutant]:
        """The mutants that it holds."""
        return self._numbers.keys()

    def __contains__(self, mutant: Mutant) -> bool:
        return mutant in self._numbers

    @property
    def is_watched(self) -> bool:
        """Whether a second look can be at these mutants."""
        return self._watched is not None

    def link(self, mutant: Mutant | None) -> Path:
        """Return the library with a mutant in it, or as it is."""
        return self._chosen(self._library, mutant)

    def link_watched(self, mutant: Mutant | None) -> Path:
        """Return the watched library with a mutant in it, or as it is.  Raises ValueError where there is none."""
        if not self._watched:
            raise ValueError(f"expected a second build of {self._library}, got none")
        return self._chosen(self._watched, mutant)

    def _chosen(self, library: Path, mutant: Mutant | None) -> Path:
        path = library.with_name(f"libassayer_{self._numbers[mutant] if mutant else _NONE}.so")
        if not path.exists():
            with suppress(FileExistsError):  # another process was faster
                os.link(library, path)
        return path


def built(
    builder: Builder,
    sources: Mapping[str, str],
    mutants: Sequence[Mutant],
    folder: Path,
    processes: int,
    traps: bool = False,
) -> Together:
    """Build a library with as many of the mutants as can be woven and compile together.

    sources: the texts of all files.  folder: of what is built.  traps: whether a second one is built, whose woven files
    end the process where C leaves undefined what comes.  Raises FaultError where there is no compiler, and RefusedError
    where the library does not compile without a mutant; ValueError of more than a library can hold.
    """
    if len(mutants) >= _MOST:
        raise ValueError(f"expected fewer than {_MOST} mutants, got {len(mutants)}")
    numbers = {mutant: number for number, mutant in enumerate(mutants, _NONE + 1)}
    left = set(mutants)
    for _ in range(_ROUNDS):
        texts = dict(_texts(sources, left, numbers))
        left = {mutant for text in texts.values() for mutant in text.mutants}
        objects, refused = _compiled(builder, sources, texts, folder, processes)
        if not refused:
            library = builder.link_all(objects, folder / "quick" / "together.so")
            watched = _watched(builder, sources, texts, folder / "watched", processes) if traps else None
            return Together(library, {mutant: numbers[mutant] for mutant in left}, watched)
        left -= refused
    return built(builder, sources, [], folder, processes)  # what refuses them is not understood: each by itself


def _watched(
    builder: Builder, sources: Mapping[str, str], texts: Mapping[str, Woven], folder: Path, processes: int
) -> Path | None:
    """The second build, unless what a compiler takes without traps it refuses with them."""
    objects, refused = _compiled(builder, sources, texts, folder, processes, traps=True)
    return None if refused else builder.link_all(objects, folder / "together.so")


@contextmanager
def building(
    builder: Builder,
    sources: Mapping[str, str],
    folder: Path,
    processes: int,
    mutants: Sequence[Mutant],
    traps: bool = False,
) -> Iterator[Together]:
    """Build mutants together below a folder, and remove what is built.  Raises as `built` does."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="together-") as own:
        yield built(builder, sources, mutants, Path(own), processes, traps)


def _texts(
    sources: Mapping[str, str], mutants: Collection[Mutant], numbers: Mapping[Mutant, int]
) -> Iterator[tuple[str, Woven]]:
    """Every file that has mutants, with them."""
    for file in {mutant.file for mutant in mutants}:
        yield file, woven(sources[file], [mutant for mutant in mutants if mutant.file == file], numbers)


def _compiled(
    builder: Builder,
    sources: Mapping[str, str],
    texts: Mapping[str, Woven],
    folder: Path,
    processes: int,
    traps: bool = False,
) -> tuple[list[Path], set[Mutant]]:
    """The objects of all units, and the mutants that a compiler refuses; traps: in those that have mutants."""
    choice = _CHOICE + builder.unit
    mixed = {**sources, choice: _CHOOSES, **{file: text.text for file, text in texts.items()}}
    units = [file for file in sources if file.endswith(builder.unit) or file == RUNTIME]
    changed = [choice, *(unit for unit in units if {unit, *reached(unit, sources)} & texts.keys())]
    with ThreadPoolExecutor(processes) as pool:
        done = list(pool.map(partial(_tried, builder, mixed, texts, folder, traps), changed))
        objects = list(pool.map(partial(builder.object_of, sources=sources), {*units} - {*changed}))
    refused: set[Mutant] = set().union(*(mutants for _, mutants in done))
    return [*objects, *(path for path, _ in done if path)], refused


def _tried(
    builder: Builder,
    sources: Mapping[str, str],
    texts: Mapping[str, Woven],
    folder: Path,
    traps: bool,
    unit: str,
) -> tuple[Path | None, set[Mutant]]:
    """A unit's object, or the mutants for which it is refused: all, where what is said is of none.

    Raises RefusedError where it has none.
    """
    try:
        return builder.object_of(unit, sources, folder, traps), set()
    except RefusedError as error:
        own = {mutant for file in {unit, *reached(unit, sources)} & texts.keys() for mutant in texts[file].mutants}
        found = set(refused_by(str(error), texts)) or own
        if not found:
            raise
        return None, found


def refused_by(said: str, texts: Mapping[str, Woven]) -> Iterable[Mutant]:
    """Yield the mutants that a compiler's errors are about.

    An error that is in no mutant's line is of those that the lines said before it or after it name (where a template
    is asked for, or a macro stands), or of the last one before it.
    """
    found = (found for line in said.splitlines() for found in _PLACE.findall(line))
    places = [_Place.read(name, number, error, texts) for name, number, error in found]
    errors = [-1, *(at for at, place in enumerate(places) if place.is_error), len(places)]
    for before, at, after in zip(errors, errors[1:], errors[2:], strict=False):
        place = places[at]
        near = [each.mutant for each in places[before + 1 : after] if each.mutant and not each.is_error]
        if place.mutant:
            yield place.mutant
        elif near:
            yield from near
        elif place.text:
            earlier = [line for line in place.text.of if line < place.line]
            yield from [place.text.of[max(earlier)]] if earlier else place.text.mutants


@dataclass(frozen=True)
class _Place:
    """A line that a compiler names; text: of its file, where that has mutants."""

    text: Woven | None
    line: int
    is_error: bool

    @classmethod
    def read(cls, name: str, line: str, error: str, texts: Mapping[str, Woven]) -> Self:
        text = next((text for file, text in texts.items() if name.endswith(f"/{file}")), None)
        return cls(text, int(line), bool(error))

    @property
    def mutant(self) -> Mutant | None:
        """The mutant whose code stands there."""
        return self.text.of.get(self.line) if self.text else None
