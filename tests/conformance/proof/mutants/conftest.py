"""The C library, of which the tests of mutants share the objects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.proof.faults.recipes import CLibrary
from conformance.proof.mutants import Mutant
from conformance.proof.mutants.library import Library


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The C library, its objects in a folder of their own."""
    return Library(CLibrary(), tmp_path_factory.mktemp("mutants"))


@pytest.fixture(scope="session")
def mutant(library: Library) -> Callable[[str, str, str], Mutant]:
    """A mutant by its file and what it writes for what, which stands there in one line."""

    def made(file: str, old: str, new: str) -> Mutant:
        [(number, line)] = [
            (number, line) for number, line in enumerate(library.sources[file].split("\n"), 1) if old in line
        ]
        return Mutant(file, number, f"{old} ==> {new}", line.strip(), line.strip().replace(old, new))

    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a mutant's objects go."""
    return tmp_path / "objects"
