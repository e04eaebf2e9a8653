"""Shares a job's pieces out to all cores, each piece going to whichever process is free."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

Piece = TypeVar("Piece")
Made = TypeVar("Made")


def shared(work: Callable[[Piece], Made], pieces: Sequence[Piece], processes: int) -> Iterator[Made]:
    """Yield work(piece) for every piece, in the order in which they are done."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # one thread for each process: there are as many as cores
    if min(processes, len(pieces)) <= 1:
        yield from map(work, pieces)
        return
    with ProcessPoolExecutor(min(processes, len(pieces)), multiprocessing.get_context("spawn")) as executor:
        futures = [executor.submit(work, piece) for piece in pieces]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()
