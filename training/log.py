"""The log of a run: a JSON object a line, of one of the kinds run, step, validation and sample."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .data.files import write_text

MEASURED = ("seconds", "loading_seconds")  # what two runs of the same numbers differ in


class LogError(ValueError):
    """A file that is no log of this run; the message names it, and the line."""


class Log:
    """A log that grows by whole lines, and goes on behind the step that a checkpoint is of."""

    def __init__(self, path: Path, step: int) -> None:
        """Begin, where the step is 0, or keep what was written up to it.

        Raises LogError where steps are missing, and where the file is no log at all: it would be lost.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = list(_up_to(path, step)) if step or path.exists() else []
        write_text(path, "".join(line + "\n" for line in kept))
        self._file = path.open("a", encoding="utf-8")

    def write(self, kind: str, step: int, **content: Any) -> None:
        """Add a line; a number that is not finite is written as null, which JSON knows."""
        self._file.write(json.dumps({"kind": kind, "step": step, **_known(content)}, allow_nan=False) + "\n")
        self._file.flush()

    def to_disk(self) -> None:
        """Wait until all lines are on the disk: a checkpoint must not know steps that the log does not."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Write no more."""
        self._file.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the records of a log; a last line that was cut short is left out. Raises LogError, naming the line."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise LogError(f"{path}: cannot be read ({error.strerror})") from None
    return [_record(path, number, line) for number, line in enumerate(lines[:-1], 1)]


def _record(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
        if record["kind"] and record["step"] >= 0:
            return dict(record)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    got = line[:60].decode(errors="backslashreplace")
    raise LogError(f"{path}: line {number}: expected a JSON object with a kind and a step, got {got!r}")


def _up_to(path: Path, step: int) -> Iterator[str]:
    """Yield the lines up to a step, each of which has to be there once."""
    expected = 1
    for record in read_log(path):
        if record["step"] > step or not step:
            break
        if record["kind"] == "step":
            if record["step"] != expected:
                raise LogError(f"{path}: expected step {expected}, got step {record['step']}")
            expected += 1
        yield json.dumps(record)
    if expected <= step:
        raise LogError(f"{path}: expected the steps up to the checkpoint's, {step}, got those up to {expected - 1}")


def _known(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _known(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_known(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
