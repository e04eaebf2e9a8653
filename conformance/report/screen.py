"""The terminal, and the one place where text that others wrote is made fit for it.

Names of files, what a library prints, and reports of elsewhere may hold anything: a terminal obeys control characters,
and half a character cannot be encoded at all.
"""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console
from rich.text import Text

_LAYOUT = "\n\t"


def escaped(text: str) -> str:
    """Return the text with every character that is not to be seen as its escape: \\x1b, \\u202e, \\udcff."""
    if text.isprintable():
        return text
    seen = (c if c.isprintable() or c in _LAYOUT else c.encode("unicode_escape").decode("ascii") for c in text)
    return "".join(seen)


class Screen(Console):
    """A console on which all text is escaped, that in tables included; colours are its own."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Make text of a string: all strings pass here, whatever they are printed as."""
        return super().render_str(escaped(text), **options)


def say(said: object, wrong: bool = False) -> None:
    """Print plain words: to standard error where something is wrong."""
    print(escaped(str(said)), file=sys.stderr if wrong else sys.stdout)
