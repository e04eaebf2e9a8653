"""The C library and the kernels as what is mutated: their mutants, and the library with one of them in it."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from bindings.places import builds
from conformance import operations
from conformance.operations import is_sixteen_bit
from conformance.paths import ROOT
from conformance.proof.faults.build import compiled, linked
from conformance.proof.faults.recipes import RUNTIME, CLibrary, Kernels, reached
from conformance.steps.resident import RESIDENT

from . import own_tests
from .entries import Span, blank, left_out
from .grammar import is_hopeless, is_idle, names_of
from .mutator import C, Mutant, mutants_of
from .prelude import prelude
from .reach import Reach
from .source import Line, exchanged, lines_of

# What newer compilers refuse by themselves; no warning is read.
_STRICT = tuple(
    f"-Werror={mistake}"
    for mistake in ("implicit-function-declaration", "int-conversion", "incompatible-pointer-types", "return-type")
)
# A mutant takes as long to compile as to judge: half as long so.  What survives is compared with optimised code, too.
_QUICK, _OPTIMISED = ("-O1", "-g0"), ("-O2", "-g0")
_TRAPS = ("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")  # which need nothing that a process must hold
_WHOLE = ("-Wl,--no-undefined",) if sys.platform == "linux" else ()  # a name that nothing defines is found here
SCRATCH, GUARDED = "scratch.c", "guarded_scratch.c"  # the C library's working memory, and what watches it in its place


@dataclass(frozen=True)
class Build:
    """Some operations, or a step, and the objects of a library for them: those that a mutant changes, and the rest."""

    operations: frozenset[str]
    changed: Mapping[str, Path]
    unchanged: Mapping[str, Path]
    code: str  # a digest of the changed objects and of the operations; "" where they are as they were
    sources: Mapping[str, str] = field(default_factory=dict)  # with the mutant in them


class Library:
    """A library's sources, its mutants and what each can affect."""

    def __init__(self, recipe: CLibrary, folder: Path | None = None) -> None:
        self.recipe, self.name = recipe, recipe.name
        self._kept = (folder or builds() / "mutants") / "objects"
        self._spans: dict[frozenset[str], Mapping[str, Sequence[Span]]] = {}

    @cached_property
    def sources(self) -> dict[str, str]:
        """The text of every file, by its path below the folder."""
        return self.recipe.read()

    @cached_property
    def reach(self) -> Reach:
        """What every line can affect; the 16-bit operations of both libraries stand in one header of the first."""
        shared = {file: text for file, text in CLibrary().read().items() if file == "sixteen.h"}
        return Reach({**shared, **self.sources}, operations.OPERATIONS, RESIDENT)

    def mutants(self) -> list[Mutant]:
        """Return all mutants, in the order of files and lines.  Raises MutatorError."""
        files = {file: text for file, text in self.sources.items() if file != RUNTIME}
        known = frozenset({"break", "continue"}).union(*map(names_of, files.values()))
        return [mutant for file, text in files.items() for mutant in _hopeful(file, lines_of(text), known)]

    def digest(self) -> str:
        """Return a digest of the sources and of how they are compiled."""
        command = [*self.recipe.compiler(), *_STRICT, *_QUICK, *self.recipe.beside()]
        texts = [*command, *(f"{file} {text} {self.recipe.options(file)}" for file, text in self.sources.items())]
        texts += [_guarded(), *own_tests.texts()]
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()

    def path(self, mutant: Mutant) -> str:
        """Return a mutant's file as a path from the root of the repository."""
        return f"{self.folder}/{mutant.file}"

    @property
    def folder(self) -> str:
        """The sources' folder as a path from the root of the repository."""
        return self.recipe.folder.relative_to(ROOT).as_posix()

    def place(self, mutant: Mutant) -> str:
        """Return what a mutant is in: the name of the function, macro or type."""
        definition = self.reach.definition(mutant.file, mutant.line)
        return definition.name if definition else ""

    def builds(self, mutant: Mutant, folder: Path) -> Iterator[Build]:
        """Compile a mutant, and yield for the operations that it can affect, some at a time, what has become of them.

        folder: of the objects that it changes; those that it does not are kept.  Raises RefusedError, FaultError.
        """
        whole = exchanged(self.sources[mutant.file], mutant.line, mutant.after, mutant.count)
        for some in self._groups(self.reach.operations(mutant.file, mutant.line)):
            original = self._part(some)
            mutated = {**original, mutant.file: blank(whole, self._left_out(some).get(mutant.file, ()))}
            units = self.recipe.units(self.sources, sorted(operations.OPERATIONS if RESIDENT in some else some))
            touched = [unit for unit in units if mutant.file in {unit, *reached(unit, self.sources)}]
            after = self._objects(str(mutant), touched, mutated, folder)
            before = self._objects(self.name, units, original, self._kept)
            changed = {unit: path for unit, path in after.items() if code_of(path) != code_of(before[unit])}
            rest = {unit: path for unit, path in before.items() if unit not in changed}
            yield Build(some, changed, rest, _digest(some, changed) if changed else "", mutated)

    def _part(self, some: frozenset[str]) -> dict[str, str]:
        """The sources that a library of some operations is made of."""
        spans = self._left_out(some)
        return {file: blank(text, spans[file]) if file in spans else text for file, text in self.sources.items()}

    def _left_out(self, some: frozenset[str]) -> Mapping[str, Sequence[Span]]:
        """What a library of some operations lacks: of kernels the entries of others, which take long to compile."""
        if some not in self._spans:
            has_all = RESIDENT in some or not isinstance(self.recipe, Kernels) or any(map(is_sixteen_bit, some))
            self._spans[some] = {} if has_all else left_out(some, self.sources)
        return self._spans[some]

    def _objects(
        self, name: str, units: Iterable[str], sources: Mapping[str, str], folder: Path, how: Sequence[str] = _QUICK
    ) -> dict[str, Path]:
        """Compile units; those of kernels read what they include from a prelude.  Raises RefusedError, FaultError."""
        options, own = (*_STRICT, *how), [unit for unit in units if unit != RUNTIME]
        rest = [unit for unit in units if unit == RUNTIME]
        more = prelude(self.recipe, self.sources, self._kept, options) if isinstance(self.recipe, Kernels) else ()
        return {
            **compiled(self.recipe, name, own, sources, folder, (*options, *more)),
            **compiled(self.recipe, name, rest, sources, folder, options),
        }

    def is_same(self, build: Build, folder: Path) -> bool:
        """Whether what was built is the same code as it was, once it is optimised.  Raises RefusedError."""
        after = self._objects(self.name, build.changed, build.sources, folder, _OPTIMISED)
        before = self._objects(self.name, build.changed, self._part(build.operations), self._kept, _OPTIMISED)
        return all(code_of(path) == code_of(before[unit]) for unit, path in after.items())

    def _groups(self, affected: frozenset[str]) -> list[frozenset[str]]:
        """Operations that one library is built for: all of the C library; of the kernels, of one file first one.

        The others of each file follow when the first ones of all have passed.
        """
        if not isinstance(self.recipe, Kernels):
            return [affected]
        by_file: dict[str, list[str]] = {}
        for operation in sorted(affected):
            by_file.setdefault(self._file_of(operation), []).append(operation)
        groups = [frozenset(some) for each in by_file.values() for some in (each[:1], each[1:]) if some]
        first = {each[0] for each in by_file.values()}
        return sorted(groups, key=lambda some: (not some & first, len(self.recipe.units(self.sources, sorted(some)))))

    def _file_of(self, operation: str) -> str:
        entries = (file for file in self.sources if operation in self.reach.entries(file))
        return next(entries, "")

    def link(self, build: Build, library: Path) -> Path:
        """Link what was built.  Raises RefusedError."""
        return self._linked({**build.changed, **build.unchanged}, library)

    def link_original(self, build: Build, library: Path) -> Path:
        """Link the same part of the library as it is, without the mutant."""
        before = self._objects(self.name, build.changed, self._part(build.operations), self._kept)
        return self._linked({**build.unchanged, **before}, library)

    def link_watched(self, build: Build, library: Path) -> Path:
        """Link what was built, what has changed compiled so that what C leaves undefined ends the process.

        The C library's working memory is watched, too, unless that is what the mutant changes.  Raises RefusedError.
        """
        folder = library.parent / "objects"
        trapping = self._objects(self.name, build.changed, build.sources, folder, (*_QUICK, *_TRAPS))
        objects = {**build.unchanged, **trapping}
        if SCRATCH in build.unchanged:
            del objects[SCRATCH]
            sources = {**self.sources, GUARDED: _guarded()}
            objects |= compiled(self.recipe, GUARDED, [GUARDED], sources, self._kept, _STRICT)
        return self._linked(objects, library)

    def _linked(self, objects: Mapping[str, Path], library: Path) -> Path:
        return linked(self.recipe, self.name, objects.values(), library, _WHOLE)


def _hopeful(file: str, lines: Sequence[Line], known: frozenset[str]) -> Iterator[Mutant]:
    """The mutants of a file that a compiler may take and that may differ."""
    codes = [line.code for line in lines]
    for mutant in mutants_of(file, lines, C):
        code = codes[mutant.line - 1]
        indentation = len(code) - len(code.lstrip())
        is_out = is_hopeless(mutant.before, mutant.after, indentation, known)
        if not is_out and not is_idle(codes, mutant.line, mutant.after):
            yield mutant


def _guarded() -> str:
    return Path(__file__).with_name(GUARDED).read_text(encoding="utf-8")


def _digest(operations: Iterable[str], objects: Mapping[str, Path]) -> str:
    """A digest of what is judged: the same code may have passed the cases of other operations."""
    code = [*sorted(operations), *(unit + code_of(path) for unit, path in objects.items())]
    return hashlib.sha256("\0".join(code).encode()).hexdigest()


def code_of(path: Path) -> str:
    """Return a digest of an object without what only a debugger reads."""
    bare = path.with_suffix(".bare")
    if not bare.exists():
        strip: Sequence[str] = ("strip", "--strip-unneeded", "-o", str(bare), str(path))
        if not shutil.which("strip") or subprocess.run(strip, capture_output=True, check=False).returncode:
            shutil.copyfile(path, bare)
    return hashlib.sha256(bare.read_bytes()).hexdigest()
