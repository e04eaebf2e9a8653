"""Making goldens aside, several at a time, and putting them in place only as a whole."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from conformance.catalogue.cases import CASES, REFUSALS, SEQUENCES
from conformance.catalogue.keywords import Keywords
from conformance.pool import shared

from . import manifest, profiles, tensors
from .compare import Change, compare
from .errors import GoldenError
from .load import strays, verify
from .manifest import Entry, Floor, Manifest
from .names import file_of

CHUNK = 8  # goldens handed to a process at a time
_ASIDE = ".new-"  # how the names of folders begin in which goldens are made


@dataclass(frozen=True)
class Making:
    """Goldens made aside: the folder they lie in, and an entry for each; the words that chose them; every golden of
    the profile, in order."""

    folder: Path
    entries: dict[str, Entry]
    chosen: Keywords = field(default_factory=Keywords)
    profile: Sequence[str] = ()

    @property
    def contradicted(self) -> list[str]:
        """Say which are wrong by their oracles."""
        asked = [(id, entry.oracle) for id, entry in self.entries.items() if entry.oracle]
        return [f"{id}: {o.oracle} contradict the reference by {o.share:.3g} limits" for id, o in asked if not o.agrees]


def make(id: str, profile: str, folder: Path) -> Entry:
    """Make one golden in a folder."""
    source = profiles.sources(profile)[id]
    held, confirmation = source.make()
    file = file_of(id)
    tensors.write(folder / file, held)
    return Entry(file, source.scenario, source.generator, source.seed, confirmation, tensors.digests(held))


def _make_some(ids: Sequence[str], profile: str, folder: Path) -> list[tuple[str, Entry]]:
    return [(id, make(id, profile, folder)) for id in ids]


def make_all(profile: str, folder: Path, processes: int, chosen: Keywords) -> Iterator[tuple[str, Entry]]:
    """Make every golden of a profile that is chosen in a folder, and yield each as it is done."""
    ids = [id for id in profiles.sources(profile) if chosen.matches(id)]
    chunks = [ids[i : i + CHUNK] for i in range(0, len(ids), CHUNK)]
    # The training step stands last and takes longest, so the last begin first.
    for made in shared(partial(_make_some, profile=profile, folder=folder), chunks[::-1], processes):
        yield from made


@contextmanager
def aside(folder: Path) -> Iterator[Path]:
    """Give a new folder inside a folder, so that files can be renamed into place; it is gone afterwards.

    So are those that killed processes have left: a living one holds a lock on its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        for left in folder.glob(f"{_ASIDE}*"):
            with suppress(BlockingIOError), _locked(left, wait=False):
                shutil.rmtree(left)
        new = tempfile.TemporaryDirectory(prefix=_ASIDE, dir=folder)
        held = _lock(Path(new.name))
    with new as path:
        try:
            yield Path(path)
        finally:
            os.close(held)


@contextmanager
def _locked(folder: Path, wait: bool = True) -> Iterator[None]:
    held = _lock(folder, wait)
    try:
        yield
    finally:
        os.close(held)


def _lock(folder: Path, wait: bool = True) -> int:
    """Hold a folder until what is returned is closed.  Raises BlockingIOError where another does, unless it waits."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@dataclass(frozen=True)
class Difference:
    """Between a folder and what was made anew."""

    changes: list[Change]
    damage: list[GoldenError]  # damaged files, and such as should not be there
    damaged: set[str]  # the ids of the former
    rounded: int  # how many goldens have other bytes, but agree within float64 rounding


def difference(folder: Path, making: Making) -> Difference:
    """Compare a folder with what was made anew; of the other goldens it is only asked whether their files are there."""
    held = manifest.read(folder).cases if manifest.exists(folder) else {}
    known = {id: entry for id, entry in held.items() if making.chosen.matches(id)}
    found = [Change(id, "gone", "no case of the catalogue any more") for id in known.keys() - making.entries.keys()]
    found += [Change(id, "new", "") for id in making.entries.keys() - known.keys()]
    damage, damaged, rounded = strays(folder, {entry.file for entry in held.values()}), set(), 0
    for id in making.entries.keys() & known.keys():
        due, entry = known[id].sha256, making.entries[id]
        try:
            old = verify(folder, known[id])
        except GoldenError as error:
            damage.append(error)
            damaged.add(id)
            if due != entry.sha256:
                found.append(Change(id, "damaged", "and what is made now has other bytes than the manifest says"))
            continue
        if due != entry.sha256:
            changed = compare(id, old, tensors.read(making.folder / entry.file))
            found += changed
            rounded += not changed
    return Difference(sorted(found, key=lambda c: (c.id, c.kind, c.what)), damage, damaged, rounded)


def install(folder: Path, making: Making, replaced: set[str], lower: bool) -> None:
    """Put new goldens and those to be replaced in place by renaming, the manifest last.

    Any other file stays: it agrees within float64 rounding, so that a regeneration elsewhere changes no byte of it.
    The manifest takes note of the reference's source, which by now is known to compute what is there, unless only some
    were made.  lower: the floors may sink to the present numbers.
    """
    before = manifest.read(folder) if manifest.exists(folder) else Manifest("", Floor(0, 0), {})
    entries: dict[str, Entry] = {}
    for id, entry in _in_order(making, before.cases):
        old = before.cases.get(id)
        if old and id not in replaced:
            entries[id] = _kept(old, entry) if id in making.entries else old
            continue
        entries[id] = entry
        (folder / entry.file).parent.mkdir(parents=True, exist_ok=True)
        (making.folder / entry.file).replace(folder / entry.file)
    present = Floor(len(entries), len(CASES) + len(REFUSALS) + len(SEQUENCES))
    floor = present if lower else present.raised_to(before.floor)
    version = before.reference if making.chosen else manifest.reference_version()
    Manifest(version, floor, entries).write(folder)
    for id in before.cases.keys() - entries.keys():
        (folder / before.cases[id].file).unlink(missing_ok=True)


def _in_order(making: Making, before: Mapping[str, Entry]) -> Iterator[tuple[str, Entry]]:
    """What was made, and of what was not chosen what there was, in the order of the catalogue."""
    others = {id: entry for id, entry in before.items() if not making.chosen.matches(id)}
    both = others | making.entries
    places = {id: place for place, id in enumerate(making.profile)}
    for id in sorted(both, key=lambda id: places.get(id, len(places))):
        yield id, both[id]


def _kept(old: Entry, new: Entry) -> Entry:
    """The entry of a file that stays: how well an oracle agreed differs in the last bits from machine to machine."""
    same = old.oracle and new.oracle and old.oracle.oracle == new.oracle.oracle
    return replace(new, sha256=old.sha256, oracle=old.oracle if same else new.oracle)
