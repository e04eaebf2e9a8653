"""Mutants that compute the same as what stands there, each with the proof."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

from .mutator import Mutant

EQUIVALENTS = Path(__file__).with_name("equivalents.toml")


class EquivalentsError(ValueError):
    """A list that cannot be read, or that speaks of what is no longer there."""


@dataclass(frozen=True)
class Equivalent:
    """A line of a file, what a mutant writes instead, and why nothing can tell them apart.

    file: from the root of the repository.  within: the function, macro or type that the line belongs to.  "..." stands
    for anything in each of the first four.
    """

    file: str
    within: str
    before: str
    after: str
    proof: str

    def is_of(self, file: str, within: str, mutant: Mutant) -> bool:
        """Whether it is the proof of a mutant of this file, in this function, macro or type."""
        return all(
            pattern.fullmatch(text)
            for pattern, text in zip(self._patterns, (file, within, mutant.before, mutant.after), strict=True)
        )

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        texts = (self.file, self.within, self.before, self.after)
        return [re.compile(".*".join(map(re.escape, text.split("...")))) for text in texts]


class Equivalents:
    """The proofs by mutant."""

    def __init__(self, proofs: Iterable[Equivalent]) -> None:
        self._proofs = tuple(proofs)

    def of(self, file: str, within: str, mutant: Mutant) -> Equivalent | None:
        """Return the proof that a mutant is equivalent, should there be one."""
        return next((one for one in self._proofs if one.is_of(file, within, mutant)), None)

    def check(self, folder: str, mutants: Mapping[Mutant, str]) -> None:
        """Raise EquivalentsError where a proof is of no mutant of a folder; mutants: each with what it is in."""
        for one in (one for one in self._proofs if one.file.startswith(f"{folder}/")):
            if not any(one.is_of(f"{folder}/{mutant.file}", within, mutant) for mutant, within in mutants.items()):
                wanted = f"a mutant {one.after!r} of {one.before!r} in {one.within!r}"
                raise EquivalentsError(f"{one.file}: expected {wanted}, found none")


def read(path: Path = EQUIVALENTS) -> Equivalents:
    """Return the committed list.  Raises EquivalentsError."""
    names = {field.name for field in fields(Equivalent)}
    found = []
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise EquivalentsError(f"{path.name}: {error}") from None
    for entry in entries:
        if entry.keys() != names or not all(isinstance(value, str) and value for value in entry.values()):
            raise EquivalentsError(f"{path.name}: expected a text for each of {', '.join(sorted(names))}, got {entry}")
        found.append(Equivalent(**entry))
    return Equivalents(found)
