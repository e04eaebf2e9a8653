"""A library with a mutant in it, compiled and linked: for a first look, and for a second one."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from conformance.proof.faults.build import compiled, linked
from conformance.proof.faults.recipes import RUNTIME, CLibrary, Kernels

from .prelude import prelude

# What newer compilers refuse by themselves; no warning is read.
_STRICT = tuple(
    f"-Werror={mistake}"
    for mistake in ("implicit-function-declaration", "int-conversion", "incompatible-pointer-types", "return-type")
)
# A mutant takes as long to compile as to judge: half as long so.  What survives is compared with optimised code, too.
QUICK, _OPTIMISED = (*_STRICT, "-O1", "-g0"), (*_STRICT, "-O2", "-g0")
# Which need nothing that a process must hold.  gcc leaves an array at the end of a structure out, unless it is asked.
_TRAPPING = (*QUICK, "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")
_STRICT_BOUNDS = "-fsanitize=bounds-strict"
_WHOLE = ("-Wl,--no-undefined",) if sys.platform == "linux" else ()  # a name that nothing defines is found here
SCRATCH, GUARDED = "scratch.c", "guarded_scratch.c"  # the C library's working memory, and what watches it in its place
_NAME = "libassayer_mutant.so"


@dataclass(frozen=True)
class Build:
    """Some operations, or a step, and what a library of them is made of, with a mutant in one file and without it.

    changed: the units that become other code.  folder: of what is built.  code: a digest of the operations and of what
    the changed units become; "" where that is not known, and where none changes.
    """

    operations: frozenset[str]
    file: str
    units: tuple[str, ...]
    changed: frozenset[str]
    original: Mapping[str, str]
    mutated: Mapping[str, str]
    folder: Path
    code: str = ""

    @property
    def objects(self) -> Path:
        """The folder of what is compiled, which all builds of one mutant share."""
        return self.folder.parent / "objects"

    @property
    def unmutated(self) -> Build:
        """The same part of the library as it is."""
        return replace(self, changed=frozenset(), mutated=self.original, folder=self.folder / "unmutated")

    def of_changed(self, units: Collection[str]) -> Build:
        """Return the build of which it is known which units change."""
        return replace(self, changed=frozenset(units))


class Builder:
    """Compiles and links one library; kept: the folder of what no mutant has changed."""

    def __init__(self, recipe: CLibrary, kept: Path) -> None:
        self._recipe, self._kept = recipe, kept

    @cached_property
    def _sources(self) -> Mapping[str, str]:
        return self._recipe.read()

    @cached_property
    def _trapping(self) -> Sequence[str]:
        """The options of what traps, with those that only some compilers take."""
        command = [*self._recipe.compiler(), _STRICT_BOUNDS, "-fsyntax-only", "-x", "c", os.devnull]
        refused = subprocess.run(command, capture_output=True, check=False).returncode
        return _TRAPPING if refused else (*_TRAPPING, _STRICT_BOUNDS)

    def compiled(self, build: Build) -> Build:
        """Compile what a mutant may change, and return which units it does.  Raises RefusedError, FaultError."""
        after = self._objects(build.changed, build.mutated, build.objects, QUICK)
        before = self._objects(build.changed, build.original, self._kept, QUICK)
        codes = {unit: code_of(path) for unit, path in after.items()}
        changed = {unit: code for unit, code in codes.items() if code != code_of(before[unit])}
        named = [*sorted(build.operations), *(unit + code for unit, code in sorted(changed.items()))]
        return replace(build.of_changed({*changed}), code=digest(named) if changed else "")

    def is_same(self, build: Build) -> bool:
        """Whether what a mutant changes is the same code as it was, once it is optimised.  Raises RefusedError."""
        for unit in sorted(build.changed):
            [after] = self._objects([unit], build.mutated, build.objects, _OPTIMISED).values()
            [before] = self._objects([unit], build.original, self._kept, _OPTIMISED).values()
            if code_of(after) != code_of(before):
                return False
        return True

    def link(self, build: Build) -> Path:
        """Link a library with the mutant.  Raises RefusedError."""
        return self._linked(build, self._objects(build.changed, build.mutated, build.objects, QUICK), "quick")

    def link_watched(self, build: Build) -> Path:
        """Link a library with the mutant, compiled so that what C leaves undefined ends the process.

        Of kernels, which take long to compile, what the mutant changes is compiled so.  The C library's working memory
        is watched, too, unless that is what the mutant changes.  Raises RefusedError.
        """
        objects = self._objects(build.changed, build.mutated, build.objects, self._trapping)
        if not isinstance(self._recipe, Kernels):
            objects |= self._objects({*build.units} - build.changed, build.original, self._kept, self._trapping)
        if SCRATCH in build.units and SCRATCH not in build.changed:
            sources = {**build.original, GUARDED: guarded()}
            [objects[SCRATCH]] = self._objects([GUARDED], sources, self._kept, QUICK).values()
        return self._linked(build, objects, "watched")

    @property
    def unit(self) -> str:
        """How the files end that are compiled."""
        return self._recipe.unit

    def object_of(self, unit: str, sources: Mapping[str, str], folder: Path | None = None, traps: bool = False) -> Path:
        """Compile a unit, if asked so that what C leaves undefined ends the process.  Raises RefusedError.

        folder: of the object, where it is not one of the library as it is.
        """
        return self._objects([unit], sources, folder or self._kept, self._trapping if traps else QUICK)[unit]

    def link_all(self, objects: Iterable[Path], library: Path) -> Path:
        """Link objects into a library.  Raises RefusedError."""
        return linked(self._recipe, self._recipe.name, sorted(objects), library, _WHOLE)

    def _linked(self, build: Build, changed: Mapping[str, Path], name: str) -> Path:
        objects = {**self._objects(build.units, build.original, self._kept, QUICK), **changed}
        paths, folder = sorted(objects.values()), build.folder / name
        if build.changed:
            return linked(self._recipe, self._recipe.name, paths, folder / _NAME, _WHOLE)
        # Without a mutant it is the same library for many of them.
        library = self._kept / digest(map(str, paths)) / _NAME
        return library if library.exists() else linked(self._recipe, self._recipe.name, paths, library, _WHOLE)

    def _objects(
        self, units: Iterable[str], sources: Mapping[str, str], folder: Path, options: Sequence[str]
    ) -> dict[str, Path]:
        """Compile units; those of kernels read what they include from a prelude.  Raises RefusedError, FaultError."""
        recipe, named = self._recipe, sorted(units)
        own, rest = [unit for unit in named if unit != RUNTIME], [unit for unit in named if unit == RUNTIME]
        more = prelude(recipe, self._sources, self._kept, options) if isinstance(recipe, Kernels) else ()
        return {
            **compiled(recipe, recipe.name, own, sources, folder, (*options, *more)),
            **compiled(recipe, recipe.name, rest, sources, folder, options),
        }


def guarded() -> str:
    """Return the source of what watches working memory."""
    return Path(__file__).with_name(GUARDED).read_text(encoding="utf-8")


def digest(texts: Iterable[str]) -> str:
    """Return one number for texts in their order."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def code_of(path: Path) -> str:
    """Return a digest of an object without what only a debugger reads."""
    bare = path.with_suffix(".bare")
    if not bare.exists():
        strip: Sequence[str] = ("strip", "--strip-unneeded", "-o", str(bare), str(path))
        if not shutil.which("strip") or subprocess.run(strip, capture_output=True, check=False).returncode:
            shutil.copyfile(path, bare)
    return hashlib.sha256(bare.read_bytes()).hexdigest()
