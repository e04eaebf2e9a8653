"""Mutants that compute the same as what stands there, each with the proof."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import msgspec

from .mutator import Mutant

EQUIVALENTS = Path(__file__).with_name("equivalents.toml")


_PART = "[^;{}\n]*"  # of a statement


class EquivalentsError(ValueError):
    """A list that cannot be read, or that speaks of what is no longer there."""


class Proof(Protocol):
    """Why some mutants of some files, by their paths from the root of the repository, are equivalent."""

    @property
    def file(self) -> str: ...
    @property
    def proof(self) -> str: ...
    def is_of(self, file: str, within: str, mutant: Mutant) -> bool:
        """Whether it is the proof of a mutant of this file, in this function, macro or type."""


@dataclass(frozen=True)
class Equivalent:
    """A line of a file, what a mutant writes instead, or any of several, and why nothing can tell them apart.

    within: the function, macro or type that the line belongs to.  In each of the first four "..." stands for anything,
    in `after` for what it stands for in `before`; <1> and other numbers stand for a part of a statement, the same
    wherever they are; ??? for any part of one.
    """

    file: str
    within: str
    before: str
    after: str | tuple[str, ...]
    proof: str

    def is_of(self, file: str, within: str, mutant: Mutant) -> bool:
        if not (self._file.fullmatch(file) and self._within.fullmatch(within)):
            return False
        befores = {mutant.before, " ".join(mutant.before.split())}  # `after` has one space wherever there are several
        return any(line.fullmatch(f"{before}\n{mutant.after}") for line in self._lines for before in befores)

    @cached_property
    def _file(self) -> re.Pattern[str]:
        return _pattern(self.file)

    @cached_property
    def _within(self) -> re.Pattern[str]:
        return _pattern(self.within)

    @cached_property
    def _lines(self) -> list[re.Pattern[str]]:
        several = (self.after,) if isinstance(self.after, str) else self.after
        return [_pattern(self.before, after) for after in several]


@dataclass(frozen=True)
class Unordered:
    """A function or macro whose arguments, from the one of this place on, may stand in any order."""

    file: str
    name: str
    first: int
    proof: str

    def is_of(self, file: str, within: str, mutant: Mutant) -> bool:
        if not self._file.fullmatch(file):
            return False
        return mutant.before != mutant.after and self._sorted(mutant.before) == self._sorted(mutant.after)

    @cached_property
    def _file(self) -> re.Pattern[str]:
        return _pattern(self.file)

    def _sorted(self, code: str) -> str:
        text = re.sub(r"\s*([(),])\s*", r"\1", " ".join(code.split()))
        return re.sub(rf"\b{self.name}\(((?:[^()]|\([^()]*\))*)\)", self._call, text)

    def _call(self, found: re.Match[str]) -> str:
        arguments = found[1].split(",")
        return f"{self.name}({','.join([*arguments[: self.first], *sorted(arguments[self.first :])])})"


def _pattern(*texts: str) -> re.Pattern[str]:
    """Return what lines look like, of which parts that stand for the same are the same."""
    known: set[str] = set()
    return re.compile("\n".join(_line(text, known) for text in texts))


def _line(text: str, known: set[str]) -> str:
    """The expression of one line; known: the names of the parts that stand for something already."""
    places, parts = 0, []
    for part in re.split(r"(\.\.\.|\?\?\?|<\d>)", text):
        if part == "???":
            parts.append(_PART)
        elif part == "..." or re.fullmatch(r"<\d>", part):
            name = f"any{places}" if part == "..." else f"part{part[1]}"
            places += part == "..."
            parts.append(f"(?P={name})" if name in known else f"(?P<{name}>{'.*' if part == '...' else _PART})")
            known.add(name)
        else:
            parts.append(re.escape(part))
    return "".join(parts)


class Equivalents:
    """The proofs, by mutant."""

    def __init__(self, proofs: Iterable[Proof]) -> None:
        self._proofs = tuple(proofs)

    def of(self, file: str, within: str, mutant: Mutant) -> Proof | None:
        """Return the proof that a mutant is equivalent, should there be one."""
        return next((one for one in self._proofs if one.is_of(file, within, mutant)), None)

    def check(self, folder: str, mutants: Mapping[Mutant, str]) -> None:
        """Raise EquivalentsError where a proof is of no mutant of a folder; mutants: each with what it is in."""
        for one in (one for one in self._proofs if one.file.startswith(f"{folder}/")):
            if not any(one.is_of(f"{folder}/{mutant.file}", within, mutant) for mutant, within in mutants.items()):
                raise EquivalentsError(
                    f"{EQUIVALENTS.name}: expected a mutant of which it is true that {one}, found none"
                )


@dataclass(frozen=True)
class _File:
    """What the list holds."""

    equivalent: tuple[Equivalent, ...] = ()
    unordered: tuple[Unordered, ...] = ()


def read(path: Path = EQUIVALENTS) -> Equivalents:
    """Return the committed list.  Raises EquivalentsError."""
    try:
        held = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File)
    except (OSError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise EquivalentsError(f"{path.name}: {error}") from None
    proofs: tuple[Proof, ...] = (*held.equivalent, *held.unordered)
    for one in proofs:
        if not one.proof.strip():
            raise EquivalentsError(f"{path.name}: expected a proof in {one}")
    return Equivalents(proofs)
