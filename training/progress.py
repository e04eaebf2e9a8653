"""How far a run has come: one line that is rewritten on a terminal, a line now and then in a log."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any

from .data.progress import Line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TextIO

_BARS = "▁▂▃▄▅▆▇█"
_RECENT = 50  # steps that the speed is taken over


class Progress:
    """Takes a report after every step, as the log has it."""

    def __init__(self, steps: int, tokens: int, stream: TextIO) -> None:
        """Expect so many steps of so many tokens each."""
        self._steps, self._tokens = steps, tokens
        self._line = Line(stream, 10.0, time.monotonic())
        self._seconds: deque[float] = deque(maxlen=_RECENT)

    def __call__(self, step: int, report: Mapping[str, Any]) -> None:
        """Show it, if the last time was long enough ago."""
        self._seconds.append(report["seconds"])
        if self._line.due(time.monotonic()) or step == self._steps:
            self._line.show(self._text(step, report))

    def print(self, text: str) -> None:
        """Show a text that stays."""
        self._line.keep(text)

    def close(self) -> None:
        """Leave the terminal's line empty."""
        self._line.clear()

    def _text(self, step: int, report: Mapping[str, Any]) -> str:
        mean = sum(self._seconds) / len(self._seconds)
        left = time.strftime("%H:%M:%S", time.gmtime(mean * (self._steps - step)))
        said = f"step {step}/{self._steps}  loss {report['loss']:.4f}  norm {report['norm']:.3f}  "
        said += f"lr {report['learning_rate']:.2e}  {self._tokens / mean:,.0f} tokens/s  {left} left  "
        return said + loads(report["loads"], self._line.width - len(said))


def loads(shares: Sequence[Sequence[float]], width: int) -> str:
    """Draw the share of each expert, layer by layer, a full bar being twice an even share; as far as there is room.

    Before it stands the largest share of all, in even shares.
    """
    drawn = [[share * len(layer) for share in layer] for layer in shares]
    most = max(max(layer) for layer in drawn)
    bars = " ".join("".join(_BARS[min(7, int(share * 4))] for share in layer) for layer in drawn)
    return f"load {most:.2f} {bars}"[: max(width, 0)]
