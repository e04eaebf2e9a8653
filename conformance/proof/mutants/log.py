"""What is known of mutants from run to run: JSON lines, one for each mutant that was tried."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from conformance.decoding import DecodingError, decode

from .record import Trial, Verdict

_OF_THE_CODE = (Verdict.REFUSED, Verdict.SAME)  # verdicts that no case has a part in


class LogError(ValueError):
    """A file that is no log; the message names the line."""


@dataclass(frozen=True)
class _Line:
    """A trial, of which sources, and by which judge: a digest of each."""

    sources: str
    judge: str
    trial: Trial


class Log:
    """Trials in a file; one that is killed while it writes loses that line alone.

    sources, judge: digests of what is mutated, and of all that decides about a case.  Raises LogError.
    """

    def __init__(self, path: Path, sources: str, judge: str) -> None:
        self._path, self._sources, self._judge = path, sources, judge
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lines = list(_read(path)) if path.exists() else []

    def trials(self) -> list[Trial]:
        """Return what still holds: of these sources, and where cases have decided, by this judge."""
        own = [line for line in self._lines if line.sources == self._sources]
        return [line.trial for line in own if line.judge == self._judge or line.trial.verdict in _OF_THE_CODE]

    def ever(self) -> list[Trial]:
        """Return all that was tried, of whatever sources and by whatever judge."""
        return [line.trial for line in self._lines]

    def append(self, trial: Trial) -> None:
        """Write a trial before the next one begins."""
        line = _Line(self._sources, self._judge, trial)
        self._lines.append(line)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(line)) + "\n")


def _read(path: Path) -> Iterator[_Line]:
    """The lines of a log; a last one that is not whole is cut off."""
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    for number, text in enumerate(whole.splitlines(), 1):
        try:
            yield decode(_Line, text)
        except DecodingError as error:
            raise LogError(f"{path}:{number}: expected a trial of a mutant: {error}") from None
    if whole != content:
        path.write_bytes(whole)
