"""Documents to ids in the type they are stored in, by one process or by several, always in the same order."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .documents import DataError
from .manifest import SPLITS, storage
from .tokenizers import load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from numpy.typing import NDArray

    from .documents import Source
    from .tokenizers import Tokenizer

_UNIT_BYTES, _UNIT_DOCUMENTS = 1 << 20, 1024


@dataclass(frozen=True)
class Encoded:
    """Several documents: by split their ids, one behind the other, and the length of each."""

    sources: int
    size: int
    ids: dict[str, NDArray[Any]]
    lengths: dict[str, list[int]]


class Encoder:
    """Puts the mark before each document, and each document into its split."""

    def __init__(self, tokenizer: Tokenizer, validation: float) -> None:
        self._tokenizer = tokenizer
        self._validation = validation
        self._dtype = storage(tokenizer.vocab_size)

    def ids(self, text: str) -> NDArray[Any]:
        """Return the mark and the text's ids."""
        ids = self._tokenizer.encode(text)
        return np.concatenate(([self._tokenizer.eot], ids), dtype=self._dtype, casting="unsafe")

    def encode(self, sources: Sequence[Source]) -> Encoded:
        """Return the documents that hold text."""
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name in SPLITS}
        for source in sources:
            if text := source.text:
                parts[split_of(text, self._validation)].append(self.ids(text))
        joined = {name: np.concatenate(found) if found else np.empty(0, self._dtype) for name, found in parts.items()}
        lengths = {name: [part.size for part in found] for name, found in parts.items()}
        return Encoded(len(sources), sum(source.size for source in sources), joined, lengths)


def split_of(text: str, validation: float) -> str:
    """Return the text's split, by its content alone: others may come or go, and copies of it stay on one side."""
    drawn = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
    return "validation" if drawn < validation * 2**64 else "train"


def units(sources: Iterable[Source]) -> Iterator[list[Source]]:
    """Cut the documents into portions of work."""
    unit: list[Source] = []
    size = 0
    for source in sources:
        unit.append(source)
        size += source.size
        if size >= _UNIT_BYTES or len(unit) == _UNIT_DOCUMENTS:
            yield unit
            unit, size = [], 0
    if unit:
        yield unit


def encode_all(
    sources: Sequence[Source], tokenizer: Tokenizer, saved: Path, validation: float, workers: int
) -> Iterator[Encoded]:
    """Yield all documents in order; worker processes read the tokeniser from where it is saved.

    Raises DataError for the first document that is not text, and for a worker that died.
    """
    if workers == 1:
        yield from map(Encoder(tokenizer, validation).encode, units(sources))
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, _start_worker, (saved, validation))
    try:
        yield from _in_order(pool, units(sources), ahead=2 * workers)
    except BrokenProcessPool as error:
        raise DataError("a worker process died (out of memory?): resume with fewer workers") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _in_order(pool: ProcessPoolExecutor, work: Iterator[list[Source]], ahead: int) -> Iterator[Encoded]:
    """Keep the workers busy, but no further ahead than memory allows."""
    waiting: deque[Future[Encoded]] = deque()
    for unit in work:
        waiting.append(pool.submit(_encode_in_worker, unit))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


_encoder: Encoder | None = None  # a worker process has one


def _start_worker(saved: Path, validation: float) -> None:
    global _encoder
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    _encoder = Encoder(load_tokenizer(saved), validation)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this worker when its parent was killed: nothing else would tell it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _encode_in_worker(unit: Sequence[Source]) -> Encoded:
    assert _encoder is not None
    return _encoder.encode(unit)
