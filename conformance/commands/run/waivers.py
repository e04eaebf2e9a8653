"""Waivers: failures that somebody answers for, in one TOML file for each candidate.

    [[waiver]]
    case = "softmax/special/*"      # an id; * stands for anything
    owner = "Ada"
    reason = "NaN rows are filled with zeros on purpose"
    expires = 2027-01-31            # a date; from the day after it the case fails again

A waiver that no longer waives anything is an error: it would hide the next failure.
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.judging.results import JUDGES_OWN, Result, Status

_KEYS = ("case", "owner", "reason", "expires")
_NEVER = (Status.PASS, *JUDGES_OWN)  # which are the judge's own failures, and not the candidate's to waive


class WaiverError(ValueError):
    """A file of waivers that cannot be read; the message names the file and what is wrong in it."""


@dataclass(frozen=True)
class Waiver:
    """One waiver; `case` is an id in which * stands for anything."""

    case: str
    owner: str
    reason: str
    expires: datetime.date

    def __str__(self) -> str:
        return f"{self.owner}: {self.reason} (until {self.expires})"

    def covers(self, id: str) -> bool:
        """Whether the case is one that this waiver speaks of."""
        first, *pieces = self.case.split("*")
        if not pieces:
            return id == first
        at, last = len(first), pieces.pop()
        for piece in pieces:  # each as early as it can be: one pass, however many there are
            found = id.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        return id.startswith(first) and id.endswith(last) and at <= len(id) - len(last)


def read_waivers(path: Path) -> list[Waiver]:
    """Read a file of waivers.  Raises WaiverError."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise WaiverError(f"{path}: {error}") from None
    entries = content.pop("waiver", [])
    if content or not isinstance(entries, list):
        raise WaiverError(f"{path}: expected [[waiver]] tables and nothing else, got {', '.join(content) or 'waiver'}")
    return [_waiver(f"{path}, waiver {i}", entry) for i, entry in enumerate(entries, 1)]


def _waiver(where: str, entry: dict[str, Any]) -> Waiver:
    if set(entry) != set(_KEYS):
        missing, unknown = sorted(set(_KEYS) - set(entry)), sorted(set(entry) - set(_KEYS))
        wrong = [f"lacks {name}" for name in missing] + [f"has an unknown {name}" for name in unknown]
        raise WaiverError(f"{where}: {', '.join(wrong)}; each has {', '.join(_KEYS)}")
    for name in _KEYS[:3]:
        if not isinstance(entry[name], str) or not entry[name].strip():
            raise WaiverError(f"{where}: {name}: expected words, got {entry[name]!r}")
    if type(entry["expires"]) is not datetime.date:
        raise WaiverError(f"{where}: expires: expected a date such as 2027-01-31, got {entry['expires']!r}")
    return Waiver(**entry)


def waive(
    results: Sequence[Result], waivers: Sequence[Waiver], today: datetime.date, whole: bool
) -> tuple[list[Result], list[str]]:
    """Return the results with failures waived, and a sentence for each waiver that is out of date.

    whole: every case was judged, so that a waiver that met none of them names a case that does not exist.
    """
    judged, problems = list(results), []
    for waiver in waivers:
        covered = [place for place, result in enumerate(results) if waiver.covers(result.id)]
        failing = [place for place in covered if results[place].status not in _NEVER]
        if failing and waiver.expires < today:
            problems.append(f"waiver of {waiver.case}: expired on {waiver.expires} ({waiver.owner}: {waiver.reason})")
        elif failing:
            for place in failing:
                judged[place] = replace(results[place], status=Status.WAIVED, waiver=str(waiver))
        elif covered and all(results[place].status is Status.PASS for place in covered):
            problems.append(f"waiver of {waiver.case}: no longer needed, {_passed(len(covered))}")
        elif whole and not covered:
            problems.append(f"waiver of {waiver.case}: no such case")
    return judged, problems


def _passed(count: int) -> str:
    return "its case passes" if count == 1 else f"its {count} cases pass"
