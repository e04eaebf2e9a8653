"""What the tests of the goldens share."""

from __future__ import annotations

from pathlib import Path

from conformance.catalogue.goldens import profiles
from conformance.catalogue.goldens.regenerate import regenerate
from conformance.catalogue.keywords import Keywords

SILU = "silu/plain/33"


def remake(folder: Path, reason: str = "", words: str = "") -> int:
    return regenerate(folder, profiles.COMMITTED, processes=1, reason=reason, chosen=Keywords(words))


def check(folder: Path) -> int:
    return regenerate(folder, profiles.COMMITTED, processes=1, check=True)


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
