"""One setting: its name, type, default, range and help, and its value from a flag or from a TOML file."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", Path: "a path"}


class SettingsError(ValueError):
    """A setting that cannot be meant; the message names it, what was expected and what came."""


class Range(NamedTuple):
    """Which values a setting may have, in words and as a condition."""

    description: str
    holds: Callable[[Any], bool]


NOT_NEGATIVE = Range("at least 0", lambda value: value >= 0)
POSITIVE = Range("above 0", lambda value: value > 0)
COUNT = Range("at least 1", lambda value: value >= 1)
SHARE = Range("at least 0 and below 1", lambda value: 0 <= value < 1)


def one_of(*names: str) -> Range:
    """Allow these words."""
    return Range(f"one of {', '.join(names)}", lambda value: value in names)


def setting(group: str, help: str, default: Any = MISSING, within: Range | None = None) -> Any:
    """Declare a field of a dataclass as a setting; without a default it has to be given."""
    return field(default=default, metadata={"group": group, "help": help, "within": within})


@dataclass(frozen=True)
class Setting:
    """A declared setting."""

    name: str
    kind: type
    default: Any
    group: str
    help: str
    within: Range | None

    @property
    def flag(self) -> str:
        """Its flag on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def needed(self) -> bool:
        """Whether it has no default."""
        return self.default is MISSING

    def from_text(self, text: str) -> Any:
        """Return the value of a flag. Raises SettingsError."""
        try:
            return self.checked(_truth(text) if self.kind is bool else self.kind(text), self.flag)
        except ValueError as error:
            if isinstance(error, SettingsError):
                raise
            raise SettingsError(f"{self.flag}: expected {self.expected}, got {text!r}") from None

    def from_toml(self, value: Any, file: Path) -> Any:
        """Return the value that stands in a file. Raises SettingsError."""
        place = f"{file}: {self.name}"
        allowed = {float: (int, float), Path: (str,)}.get(self.kind, (self.kind,))
        if type(value) not in allowed:
            raise SettingsError(f"{place}: expected {self.expected}, got {value!r}")
        return self.checked(self.kind(value), place)

    def checked(self, value: Any, place: str) -> Any:
        """Return the value. Raises SettingsError, naming the place, where it is out of range."""
        finite = self.kind is not float or math.isfinite(value)
        if not finite or (self.within and not self.within.holds(value)):
            raise SettingsError(f"{place}: expected {self.expected}, got {value}")
        return value

    @property
    def expected(self) -> str:
        """What a value has to be, in words."""
        kind = "a finite number" if self.kind is float else KINDS[self.kind]
        if self.within is None:
            return kind
        return self.within.description if self.kind is str else f"{kind} {self.within.description}"


def _truth(text: str) -> bool:
    return ("false", "true").index(text) == 1


def settings_of(declared: type) -> dict[str, Setting]:
    """Return the settings that a dataclass declares, by name."""
    hints = get_type_hints(declared)
    found = {}
    for each in fields(declared):
        [kind] = [t for t in get_args(hints[each.name]) or [hints[each.name]] if t is not type(None)]
        found[each.name] = Setting(each.name, kind, each.default, **each.metadata)
    return found
