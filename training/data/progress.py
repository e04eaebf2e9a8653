"""How far tokenising has come: one line that is rewritten on a terminal, a line a minute in a log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from training.data.unfinished import Unfinished

_TERMINAL_SECONDS, _LOG_SECONDS = 0.1, 60.0


class Progress:
    """Takes reports as often as they come."""

    def __init__(self, documents: int, size: int, stream: TextIO) -> None:
        """Expect this many documents of this many bytes."""
        self._documents, self._size, self._stream = documents, size, stream
        self._terminal = stream.isatty()
        self._begun = self._shown = time.monotonic()
        self._before: int | None = None

    def __call__(self, work: Unfinished) -> None:
        """Show it, if the last time was long enough ago."""
        now = time.monotonic()
        if self._before is None:
            self._before = work.size
        if now - self._shown >= (_TERMINAL_SECONDS if self._terminal else _LOG_SECONDS):
            self._shown = now
            self._show(self._line(work, now))

    def close(self) -> None:
        """Leave the terminal's line empty."""
        if self._terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _line(self, work: Unfinished, now: float) -> str:
        rate = (work.size - (self._before or 0)) / 1e6 / max(now - self._begun, 1e-9)
        tokens = sum(split.tokens for split in work.splits.values())
        share = 100 * work.size / self._size if self._size else 100.0
        return f"{work.done}/{self._documents} documents ({share:.0f} %), {tokens} tokens, {rate:.1f} MB/s"

    def _show(self, line: str) -> None:
        self._stream.write(f"\r\x1b[K{line}" if self._terminal else f"{line}\n")
        self._stream.flush()
