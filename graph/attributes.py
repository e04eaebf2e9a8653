"""What a kind of record declares of its attributes: type, default and bounds; and how values are read against that."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .errors import refuse

Type = Literal["int", "float", "bool", "str", "pair", "ints"]
REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "REQUIRED"})()

_WORDS: dict[str, str] = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "a word",
    "pair": "a whole number or two of them",
    "ints": "whole numbers",
}


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a kind.

    default: what stands where none is given; REQUIRED has to be given, and None stays None: not stated.
    least: the smallest value (of each number); above, below: bounds that are excluded; choices: the words there are.
    """

    name: str
    type: Type
    default: Any = REQUIRED
    least: float | None = None
    above: float | None = None
    below: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()

    def read(self, where: str, value: Any) -> Any:
        """Return a value in its type: a pair as a 2-tuple. Raises GraphError for another type or past a bound."""
        if value is None and self.default is None:
            return None
        read = self._typed(value)
        if read is None:
            raise refuse(f"{where}: attribute {self.name}", self.expected(), repr(value))
        numbers = read if isinstance(read, tuple) else (read,)
        if (self.choices and read not in self.choices) or not all(map(self._within, numbers)):
            raise refuse(f"{where}: attribute {self.name}", self.expected(), repr(value))
        return read

    def expected(self) -> str:
        """Say what the attribute takes."""
        if self.choices:
            return " or ".join(self.choices)
        bounds = ((">=", self.least), (">", self.above), ("<", self.below), ("<=", self.most))
        said = " and ".join(f"{sign} {bound:g}" for sign, bound in bounds if bound is not None)
        return f"{_WORDS[self.type]}, {said}" if said else _WORDS[self.type]

    def _typed(self, value: Any) -> Any:
        """The value in the attribute's type; None where it is of another."""
        if self.type == "bool":
            return value if isinstance(value, bool) else None
        if self.type == "str":
            return value if isinstance(value, str) else None
        if self.type == "int":
            return value if _is_int(value) else None
        if self.type == "float":
            return _finite(value)
        if self.type == "pair" and _is_int(value):
            return (value, value)
        if not isinstance(value, list | tuple) or not all(map(_is_int, value)):
            return None
        return tuple(value) if self.type == "ints" or len(value) == 2 else None

    def _within(self, number: Any) -> bool:
        return (
            (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
            and (self.most is None or number <= self.most)
        )


def _finite(value: Any) -> float | None:
    """A number that float64 holds; None for anything else."""
    if not _is_int(value) and not isinstance(value, float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def read_attributes(where: str, declared: Sequence[Attribute], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return every declared attribute, typed, defaults filled in. Raises GraphError for one unknown or missing."""
    known = {attribute.name: attribute for attribute in declared}
    for name in given:
        if name not in known:
            raise refuse(f"{where}: attribute {name}", _known(known), "an unknown one")
    read = {}
    for name, attribute in known.items():
        value = given.get(name, attribute.default)
        if value is REQUIRED:
            raise refuse(f"{where}: attribute {name}", attribute.expected(), "nothing")
        read[name] = attribute.read(where, value)
    return read


def _known(names: Iterable[str]) -> str:
    said = ", ".join(names)
    return f"one of {said}" if said else "no attributes"
