"""Lines and brackets of a text, found once: every question about a place is then answered without reading it again."""

from __future__ import annotations

import re
from bisect import bisect_left

_BRACKET = re.compile(r"[()\[\]{}]")
_NEWLINE = re.compile(r"\n")


class Places:
    """Where the lines of a text begin, and where its brackets close; what stands in quotes counts too."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._newlines = [match.start() for match in _NEWLINE.finditer(text)]
        self._closing: dict[int, int] = {}
        opened: list[int] = []
        for match in _BRACKET.finditer(text):
            if match[0] in "([{":
                opened.append(match.start())
            elif opened:
                self._closing[opened.pop()] = match.start()

    def line(self, position: int) -> int:
        """Return the number of the line that a position is in, from 1."""
        return bisect_left(self._newlines, position) + 1

    def closing(self, opening: int) -> int:
        """Return where the bracket that opens at this place closes; the end of the text where it does not."""
        return self._closing.get(opening, len(self.text))
