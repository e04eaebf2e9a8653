"""The readings' score, as a file that `readings` writes: what was planted, found, and said of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from conformance.decoding import DecodingError, decode

from .writing import ReportError, write_whole


@dataclass(frozen=True)
class Diagnosed:
    """Of `total` that were found, the first line of the diagnosis says of `right` what they are."""

    right: int
    total: int
    missed: Sequence[str]


@dataclass(frozen=True)
class Faults:
    """Libraries with a fault compiled in each: how many were found, and described rightly by the first line.

    known: of those that were not described rightly, the ones of which that is written down, with the reason.
    """

    found: int
    total: int
    right: int
    missed: Sequence[str]
    known: int = 0


@dataclass(frozen=True)
class Score:
    """found of total; weakest: the least visible reading, whose largest error is `margin` times its limit."""

    found: int
    total: int
    weakest: str
    margin: float
    survivors: Mapping[str, str]  # readings that no case refuses, with the proof that they are none
    diagnosis: Diagnosed
    faults: Faults | None = None


def read_score(path: Path) -> Score:
    """Read a score.  Raises ReportError."""
    try:
        return decode(Score, path.read_bytes())
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from None
    except DecodingError as error:
        raise ReportError(f"{path}: not the readings' score: {error}") from None


def write_score(path: Path, score: Score) -> None:
    """Write a score.  Raises ReportError."""
    write_whole(path, json.dumps(asdict(score), indent=1) + "\n")
