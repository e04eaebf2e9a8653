"""What is known of planted faults from run to run: JSON lines, one for each that was hunted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from conformance.catalogue.prepared import made_by
from conformance.decoding import DecodingError, decode
from conformance.pool import shared

from .trial import Hunter, Trial


class LogError(ValueError):
    """A file that is no log; the message names the line."""


@dataclass(frozen=True)
class _Line:
    """A trial, and a digest of all that has a part in it."""

    made_by: str
    trial: Trial


def digest_of(hunter: Hunter) -> str:
    """Return a digest of what decides how a hunt ends: the judge, what is planted, the library, seed and time."""
    digest = hashlib.blake2b(repr((made_by(), hunter.seed, hunter.seconds, hunter.calls)).encode(), digest_size=16)
    for path in (*sorted(Path(__file__).parent.glob("*.py")), hunter.library):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def trials(hunter: Hunter, operations: Sequence[str], log: Path, processes: int) -> Iterator[Trial]:
    """Yield what comes of a fault in each operation: first what the log knows, then the others, each written to it.

    Whoever stops to ask for more ends the work.  Raises LogError and OSError.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    made_by = digest_of(hunter)
    known = {line.trial.operation: line.trial for line in _read(log) if line.made_by == made_by}
    yield from (known[operation] for operation in operations if operation in known)
    due = [operation for operation in operations if operation not in known]
    for trial in shared(partial(_trial, hunter), due, processes):
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(_Line(made_by, trial))) + "\n")
        yield trial


def _trial(hunter: Hunter, operation: str) -> Trial:
    return hunter.trial(operation)


def _read(path: Path) -> Iterator[_Line]:
    """The lines of a log; a last one that is not whole is cut off."""
    content = path.read_bytes() if path.exists() else b""
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        path.write_bytes(whole)
    for number, text in enumerate(whole.splitlines(), 1):
        try:
            yield decode(_Line, text)
        except DecodingError as error:
            raise LogError(f"{path}:{number}: expected a hunt for a planted fault: {error}") from None
