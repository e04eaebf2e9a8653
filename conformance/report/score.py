"""The readings' score, as a file that `readings` writes: how many planted wrong readings the cases find."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .files import ReportError


@dataclass(frozen=True)
class Score:
    """found of total; weakest: the least visible reading, whose largest error is `margin` times its limit."""

    found: int
    total: int
    weakest: str
    margin: float
    survivors: Mapping[str, str]  # readings that no case refuses, with the proof that they are none


def read_score(path: Path) -> Score:
    """Read a score.  Raises ReportError."""
    try:
        return Score(**json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from None
    except (ValueError, TypeError) as error:
        raise ReportError(f"{path}: not the readings' score: {error}") from None
