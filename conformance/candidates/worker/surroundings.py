"""What belongs to a process and not to a library in it: a call leaves it as it was."""

from __future__ import annotations

import locale
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from bindings.shared_object.foreign import of_process


class Surroundings:
    """The working directory, the locale and the rounding mode of the moment in which it is made."""

    def __init__(self) -> None:
        self.held: Mapping[str, str] = MappingProxyType(
            {
                "working directory": _directory(),
                "locale": locale.setlocale(locale.LC_ALL),
                "rounding mode": str(of_process("fegetround", ())()),
            }
        )

    def changed(self) -> Iterator[str]:
        """Yield a phrase for each that is no longer as it was."""
        for name, now in Surroundings().held.items():
            if now != self.held[name]:
                yield f"the {name}, from {self.held[name]} to {now}"


def _directory() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return "one that was removed"
