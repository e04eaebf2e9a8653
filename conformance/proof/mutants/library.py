"""The C library and the kernels as what is mutated: their mutants, and the library with one of them in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from bindings.places import builds
from conformance import operations
from conformance.paths import ROOT
from conformance.proof.faults.recipes import RUNTIME, CLibrary, Kernels, reached
from conformance.steps.resident import RESIDENT

from . import own_tests
from .build import QUICK, Build, Builder, guarded
from .conditions import unread
from .grammar import is_hopeless, is_idle, names_of
from .mutator import C, Mutant, mutants_of
from .reach import Reach
from .source import Line, exchanged, lines_of
from .together import Together, building


class Library:
    """A library's sources, its mutants and what each can affect."""

    def __init__(self, recipe: CLibrary, folder: Path | None = None) -> None:
        self.recipe, self.name = recipe, recipe.name
        self._folder = folder or builds() / "mutants"
        self._builder = Builder(recipe, self._folder / "objects")

    @cached_property
    def sources(self) -> dict[str, str]:
        """The text of every file, by its path below the folder."""
        return self.recipe.read()

    @cached_property
    def reach(self) -> Reach:
        """What every line can affect."""
        return Reach(self.sources, operations.OPERATIONS, RESIDENT)

    def mutants(self) -> list[Mutant]:
        """Return all mutants, in the order of files and lines.  Raises MutatorError."""
        files = {file: text for file, text in self.sources.items() if file != RUNTIME}
        known = frozenset({"break", "continue"}).union(*map(names_of, files.values()))
        made = (mutant for file, text in files.items() for mutant in _hopeful(file, lines_of(text), known))
        if not isinstance(self.recipe, Kernels):
            return [*made]
        for_a_device = {file: unread([line.code for line in lines_of(text)]) for file, text in files.items()}
        return [mutant for mutant in made if mutant.line not in for_a_device[mutant.file]]

    def digest(self) -> str:
        """Return a digest of the sources and of how they are compiled, wherever the repository lies."""
        words = [*self.recipe.compiler(), *QUICK, *self.recipe.beside()]
        command = [word.replace(str(ROOT), "") for word in words]
        texts = [*command, *(f"{file} {text} {self.recipe.options(file)}" for file, text in self.sources.items())]
        texts += [guarded(), *own_tests.texts()]
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
        """Compile a mutant, and yield for the operations that it can affect, some at a time, what it has changed.

        Many operations may reach a header's line, and few of them a unit that it changes: these alone are affected.
        folder: of what is built of the mutant.  Raises RefusedError, FaultError.
        """
        for place, some in enumerate(self.groups(mutant)):
            build = self._builder.compiled(self._build(mutant, some, folder / str(place)))
            affected = build.operations & self._affected(build)
            yield replace(build, operations=affected or build.operations)

    def _affected(self, build: Build) -> set[str]:
        """The operations that reach what a build has changed."""
        return set().union(*map(self.reach.of_file, build.changed))

    def whole(self, mutant: Mutant, parts: Sequence[Build], folder: Path) -> Build:
        """Return the builds of a mutant as one of all their operations; of that nothing is compiled yet."""
        build = self._build(mutant, frozenset().union(*(part.operations for part in parts)), folder)
        return build.of_changed(set().union(*(part.changed for part in parts)))

    def uncompiled(self, mutant: Mutant, folder: Path) -> Build:
        """Return what a mutant can affect as one build, of which nothing is compiled."""
        return self._build(mutant, self.reach.operations(mutant.file, mutant.line), folder)

    def _build(self, mutant: Mutant, some: frozenset[str], folder: Path) -> Build:
        """What a library of some operations is made of, where every unit counts as changed that reads a mutant."""
        text = exchanged(self.sources[mutant.file], mutant.line, mutant.after, mutant.count)
        mutated = {**self.sources, mutant.file: text}
        units = self.recipe.units(self.sources, sorted(operations.OPERATIONS if RESIDENT in some else some))
        touched = (unit for unit in units if mutant.file in {unit, *reached(unit, self.sources)})
        return Build(some, mutant.file, tuple(units), frozenset(touched), self.sources, mutated, folder)

    def groups(self, mutant: Mutant) -> list[frozenset[str]]:
        """Return what one library is built for at a time of all that a mutant can affect.

        All of the C library; of kernels the operations of one file, those first that need the fewest files.
        """
        affected = self.reach.operations(mutant.file, mutant.line)
        if not isinstance(self.recipe, Kernels):
            return [affected]
        by_file: dict[str, set[str]] = {}
        for operation in affected:
            by_file.setdefault(self._file_of(operation), set()).add(operation)
        groups = map(frozenset, by_file.values())
        return sorted(groups, key=lambda some: (len(self.recipe.units(self.sources, sorted(some))), min(some)))

    def _file_of(self, operation: str) -> str:
        entries = (file for file in self.sources if operation in self.reach.entries(file))
        return next(entries, "")

    def together(
        self, mutants: Sequence[Mutant], processes: int = 1, traps: bool = False
    ) -> AbstractContextManager[Together]:
        """Build a library that holds many mutants, for as long as the context lasts.  Raises FaultError.

        traps: whether a second one is built that ends where C leaves undefined what comes.
        """
        return building(self._builder, self.sources, self._folder, processes, mutants, traps)

    @property
    def builder(self) -> Builder:
        """What compiles and links."""
        return self._builder


def _hopeful(file: str, lines: Sequence[Line], known: frozenset[str]) -> Iterator[Mutant]:
    """The mutants of a file that a compiler may take and that may differ."""
    codes = [line.code for line in lines]
    for mutant in mutants_of(file, lines, C):
        code = codes[mutant.line - 1]
        indentation = len(code) - len(code.lstrip())
        is_out = is_hopeless(mutant.before, mutant.after, indentation, known)
        if not is_out and not is_idle(codes, mutant.line, mutant.after):
            yield mutant
