"""The manifest of a folder of goldens: why each exists, where it comes from, its hashes, who confirmed it."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from conformance.catalogue.oracles import Confirmation
from conformance.decoding import DecodingError, decode
from conformance.paths import GOLDEN, ROOT
from conformance.version import VERSION

from .errors import GoldenError

FORMAT = 1
FOLDER = GOLDEN


@dataclass(frozen=True)
class Entry:
    """One golden.  file: below the manifest's folder; sha256: of every tensor by name."""

    file: str
    scenario: str
    generator: str
    seed: int
    oracle: Confirmation | None
    sha256: Mapping[str, str]


@dataclass(frozen=True)
class Floor:
    """The fewest cases there may be: goldens in the folder, and cases in a whole run of the judge."""

    goldens: int
    catalogue: int

    def raised_to(self, other: Floor) -> Floor:
        return Floor(max(self.goldens, other.goldens), max(self.catalogue, other.catalogue))


@dataclass(frozen=True)
class _Data:
    """What a golden's inputs are made by."""

    generator: str
    seed: int


@dataclass(frozen=True)
class _Block:
    """An entry as the file has it."""

    file: str
    scenario: str
    data: _Data
    oracle: Confirmation | None
    sha256: dict[str, str]

    def entry(self) -> Entry:
        return Entry(self.file, self.scenario, self.data.generator, self.data.seed, self.oracle, self.sha256)


@dataclass(frozen=True)
class _File:
    """A manifest as the file has it."""

    format: int
    reference: str
    floor: Floor
    digest: str
    cases: dict[str, _Block]


@dataclass(frozen=True)
class Manifest:
    """All goldens of a folder by id, the reference that they come from, and the fewest cases there may be."""

    reference: str
    floor: Floor
    cases: Mapping[str, Entry]

    def text(self) -> str:
        """The manifest as JSON: a short block for each case, in order."""
        blocks = [f"{json.dumps(id)}: {_block(self.cases[id])}" for id in sorted(self.cases)]
        head = "".join(f" {json.dumps(k)}: {json.dumps(v)},\n" for k, v in self._head().items())
        return f'{{\n{head} "cases": {{\n' + ",\n".join(f"  {block}" for block in blocks) + "\n }\n}\n"

    def _head(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "reference": self.reference,
            "floor": asdict(self.floor),
            "digest": self.digest(),
        }

    def digest(self) -> str:
        """The SHA-256 of all that is held to, so that a floor or a hash changed by hand is noticed.

        How well an oracle agreed is left out: it differs in the last bits from machine to machine.
        """
        held = [self.reference, str(self.floor.goldens), str(self.floor.catalogue)]
        for id in sorted(self.cases):
            entry = self.cases[id]
            held += [id, entry.file, entry.scenario, entry.generator, str(entry.seed)]
            held += [part for name in sorted(entry.sha256) for part in (name, entry.sha256[name])]
        return hashlib.sha256("\n".join(held).encode()).hexdigest()

    def write(self, folder: Path) -> None:
        """Put the manifest in its place, whole or not at all."""
        aside = folder / ".manifest.json"
        aside.write_text(self.text(), encoding="utf-8", newline="\n")
        aside.replace(folder / "manifest.json")


def _block(entry: Entry) -> str:
    oracle = None if entry.oracle is None else {k: _short(v) for k, v in asdict(entry.oracle).items()}
    fields = {
        "file": entry.file,
        "scenario": entry.scenario,
        "data": {"generator": entry.generator, "seed": entry.seed},
        "oracle": oracle,
        "sha256": entry.sha256,
    }
    return "{\n" + ",\n".join(f"   {json.dumps(k)}: {json.dumps(v)}" for k, v in fields.items()) + "\n  }"


def _short(value: Any) -> Any:
    return float(f"{value:.2g}") if isinstance(value, float) else value


def exists(folder: Path) -> bool:
    return (folder / "manifest.json").exists()


def read(folder: Path) -> Manifest:
    """Read the manifest of a folder.  Raises GoldenError where there is none, or it is damaged."""
    path = folder / "manifest.json"
    try:
        status = path.stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except FileNotFoundError:
        raise GoldenError(path, "a manifest", "no file") from None


@functools.lru_cache(maxsize=4)
def _read(path: Path, changed: int, size: int) -> Manifest:
    try:
        held = decode(_File, path.read_bytes())
    except DecodingError as error:
        raise GoldenError(path, "a manifest", f"damage: {error}") from error
    if held.format != FORMAT:
        raise GoldenError(path, f"format {FORMAT}", f"format {held.format}")
    found = Manifest(held.reference, held.floor, {id: block.entry() for id, block in held.cases.items()})
    if held.digest != found.digest():
        expected = f"digest {found.digest()} of what it holds (`golden` alone changes a manifest: restore it)"
        raise GoldenError(path, expected, held.digest)
    return found


def reference_version() -> str:
    """The package's version and the SHA-256 of the reference's source in a checkout, without its wrong readings."""
    sha = hashlib.sha256()
    for path in sorted((ROOT / "reference").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith("reference/readings/"):
            # An installed module differs from the checkout's by where it imports the reference from.
            source = path.read_bytes().replace(b"\r\n", b"\n").replace(b"from assayer.reference", b"from reference")
            sha.update(f"{name}\n".encode() + source)
    return f"{VERSION}+sha256.{sha.hexdigest()[:16]}"


def golden_ids(folder: Path = FOLDER) -> Sequence[str]:
    """The ids of the goldens, in their order."""
    return tuple(read(folder).cases)


def goldens_floor(folder: Path = FOLDER) -> int:
    """The fewest goldens that the folder may hold."""
    return read(folder).floor.goldens


def catalogue_floor(folder: Path = FOLDER) -> int:
    """The fewest cases that a whole run of the judge may have; 1 where there are no goldens."""
    return read(folder).floor.catalogue if exists(folder) else 1
