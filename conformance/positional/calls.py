"""Calls of a 32-bit library, each in a process of its own."""

from __future__ import annotations

import itertools
import math
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np

from .stack import Stack

Returned = dict[str, "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"]
_ABSENT, _REFUSED = 3, 4  # exit codes of the caller


class NotOpenedError(RuntimeError):
    """The library cannot be opened by a 32-bit process; the message is the loader's."""


@dataclass(frozen=True)
class Answer:
    """What came of a call: its results, or why there are none; `is_absent`: the library has no such function."""

    results: Returned | None = None
    problem: str = ""
    is_absent: bool = False


class Caller:
    """Calls functions of one library by their symbols.  `seconds`: how long a call may take."""

    def __init__(self, program: Path, library: Path, seconds: float) -> None:
        self._program, self._library, self._seconds = program, library.resolve(), seconds
        self._folder = tempfile.TemporaryDirectory()

    def __enter__(self) -> Caller:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.cleanup()

    def call(
        self, symbol: str, calls: Sequence[tuple[Stack, Sequence[str]]], most: float = math.inf
    ) -> Iterator[Answer]:
        """Make calls, each with its arguments' words in an order; most: seconds.  Raises NotOpenedError."""
        seconds = math.ceil(min(self._seconds, most))
        files = [Path(self._folder.name, f"call{index}") for index in range(len(calls))]
        for file, (stack, order) in zip(files, calls, strict=True):
            file.write_bytes(stack.filled(order))
        words = [str(self._program), str(self._library), symbol, str(seconds), *map(str, files)]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode == _REFUSED:
            raise NotOpenedError(f"{self._library}: a 32-bit process cannot open it: {done.stderr.strip()}")
        for line, file, (stack, _) in itertools.zip_longest(done.stdout.splitlines(), files, calls):
            if done.returncode == _ABSENT:
                yield Answer(is_absent=True)
            else:
                yield self._answer((line or "").strip(), file, stack, seconds)
            file.unlink()

    def _answer(self, line: str, file: Path, stack: Stack, seconds: int) -> Answer:
        if line == "returned 0":
            return Answer(stack.results(file.read_bytes()))
        if line == f"signal {signal.SIGALRM.value}":
            return Answer(problem=f"did not return within {seconds} s")
        if line.startswith("returned"):
            return Answer(problem=f"{line}, expected 0")
        return Answer(problem=f"crashed ({line or 'no answer'})")
