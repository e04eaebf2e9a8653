"""How far tokenising has come: one line that is rewritten on a terminal, a line a minute in a log."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from .unfinished import Unfinished

_TERMINAL_SECONDS = 0.1


class Line:
    """A line that is rewritten on a terminal, and written now and then elsewhere."""

    def __init__(self, stream: TextIO, log_seconds: float, begun: float) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._seconds = _TERMINAL_SECONDS if self._terminal else log_seconds
        self._shown = begun

    @property
    def width(self) -> int:
        """How many characters fit in it."""
        return shutil.get_terminal_size().columns - 1 if self._terminal else sys.maxsize

    def due(self, now: float) -> bool:
        """Whether it was shown long enough ago; then it counts as shown now."""
        due = now - self._shown >= self._seconds
        if due:
            self._shown = now
        return due

    def show(self, text: str) -> None:
        """Show this instead."""
        self._write(f"\r\x1b[K{text}" if self._terminal else f"{text}\n")

    def keep(self, text: str) -> None:
        """Write a text that stays, where the line was."""
        self.clear()
        self._write(f"{text}\n")

    def clear(self) -> None:
        """Leave the terminal's line empty."""
        if self._terminal:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class Progress:
    """Takes reports as often as they come."""

    def __init__(self, documents: int, size: int, stream: TextIO) -> None:
        """Expect this many documents of this many bytes."""
        self._documents, self._size = documents, size
        self._begun = time.monotonic()
        self._line = Line(stream, 60.0, self._begun)
        self._before: int | None = None

    def __call__(self, work: Unfinished) -> None:
        """Show it, if the last time was long enough ago."""
        now = time.monotonic()
        if self._before is None:
            self._before = work.size
        if self._line.due(now):
            self._line.show(self._text(work, now))

    def close(self) -> None:
        """Leave the terminal's line empty."""
        self._line.clear()

    def _text(self, work: Unfinished, now: float) -> str:
        rate = (work.size - (self._before or 0)) / 1e6 / max(now - self._begun, 1e-9)
        tokens = sum(split.tokens for split in work.splits.values())
        share = 100 * work.size / self._size if self._size else 100.0
        return f"{work.done}/{self._documents} documents ({share:.0f} %), {tokens} tokens, {rate:.1f} MB/s"
