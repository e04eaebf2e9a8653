"""Reading a golden, every byte of it checked: against the manifest, and its inputs against their generator."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance import operations
from conformance.ids import operation_of
from conformance.limits.expectation import Expected

from . import manifest, tensors
from .errors import GoldenError
from .manifest import FOLDER, Entry
from .names import COMMITTED, file_of
from .tensors import Tensors, digests

__all__ = ["Golden", "load", "load_tensors", "strays", "verify"]


@dataclass(frozen=True)
class Golden:
    """One case: its arguments as they reach C, and what it must give by flat output name."""

    id: str
    arguments: dict[str, Any]
    expected: Expected
    entry: Entry


def load(id: str, folder: Path = FOLDER, profile: str = COMMITTED) -> Golden | None:
    """Return the golden of a case, None where the folder has none of it.

    Raises GoldenError, naming the file, where it is damaged, missing, unknown to the manifest, or where its inputs are
    no longer those that the case's generator gives.
    """
    held = load_tensors(id, folder, profile)
    if held is None:
        return None
    function = operations.OPERATIONS[operation_of(id)]
    arguments = tensors.unpack_arguments(function, held)
    return Golden(id, arguments, tensors.unpack_expected(held), manifest.read(folder).cases[id])


def load_tensors(id: str, folder: Path = FOLDER, profile: str = COMMITTED) -> Tensors | None:
    """Return the tensors of a golden by name, checked as `load` does."""
    if not manifest.exists(folder) and not any(folder.glob("**/*.safetensors")):
        return None
    path, entry = folder / file_of(id), manifest.read(folder).cases.get(id)
    if entry is None:
        if path.exists():
            raise GoldenError(path, "no file: the manifest does not know it", "a file")
        return None
    held = verify(folder, entry)
    from . import profiles  # here: what makes goldens takes long to load, and few runs are of one

    source = profiles.sources(profile).get(id)
    if source is None:
        raise GoldenError(path, "a case of the catalogue", f"{id}, which is none")
    for name, sha in digests(source.inputs()).items():
        if entry.sha256.get(name) != sha:
            raise GoldenError(path, f"{name} as its generator gives it now ({sha})", f"stale: {entry.sha256.get(name)}")
    return held


def verify(folder: Path, entry: Entry) -> Tensors:
    """Read a golden's file and hold every tensor to its hash."""
    path = folder / entry.file
    held = tensors.read(path)
    found = digests(held)
    for name in sorted(entry.sha256.keys() | found.keys()):
        due, got = entry.sha256.get(name), found.get(name)
        if due != got:
            raise GoldenError(path, f"{name}: {due or 'no such tensor'}", got or "no such tensor")
    return held


def strays(folder: Path, known: set[str]) -> list[GoldenError]:
    """Return an error for every file that looks like a golden and is not in the manifest."""
    paths = sorted(folder.rglob("*.safetensors"))
    visible = [p for p in paths if not any(part.startswith(".") for part in p.relative_to(folder).parts)]
    unknown = [p for p in visible if p.relative_to(folder).as_posix() not in known]
    return [GoldenError(path, "no file: the manifest does not know it", "a file") for path in unknown]
