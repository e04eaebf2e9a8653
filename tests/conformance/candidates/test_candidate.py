"""Workers that are opened before they are asked for."""

from __future__ import annotations

import gc
import warnings
from pathlib import Path

from conformance.candidates.candidate import Candidate, close_idle_workers, facts_of, worker_of
from conformance.candidates.worker import begun


def test_the_process_that_was_begun_is_the_one_that_serves_first(stub_path: Path) -> None:
    close_idle_workers()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)  # a process or an arena that nobody ended
        begun.begin(stub_path)
        begun.begin(stub_path)
        gc.collect()
    taken = begun.take_over(stub_path)
    assert taken
    arena, process = taken
    assert begun.take_over(stub_path) is None
    begun.begin(stub_path)
    facts = facts_of(Candidate(stub_path))
    assert begun.take_over(stub_path) is None
    assert process.facts == facts
    process.close()
    arena.close()
    with worker_of(Candidate(stub_path), threads=begun.THREADS, limit_s=60) as worker:
        assert worker.facts() == facts


def test_what_was_begun_for_nobody_ends_with_the_idle_workers(stub_path: Path) -> None:
    begun.begin(stub_path)
    close_idle_workers()
    assert begun.take_over(stub_path) is None


def test_of_a_file_that_is_no_library_nothing_is_begun(tmp_path: Path) -> None:
    (tmp_path / "empty.so").write_bytes(b"")
    begun.begin(tmp_path / "empty.so")
    begun.begin(tmp_path / "none.so")
    assert begun.take_over(tmp_path / "empty.so") is None
    assert begun.take_over(tmp_path / "none.so") is None
