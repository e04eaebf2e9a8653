"""Workers that are opened before they are asked for."""

from __future__ import annotations

import gc
import warnings
from pathlib import Path

from conformance.candidates.candidate import Candidate, begin_to_open, close_idle_workers, facts_of, worker_of


def test_of_a_library_opened_twice_one_worker_is_kept_and_the_other_ended(stub_path: Path) -> None:
    close_idle_workers()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)  # a process or an arena that nobody ended
        begin_to_open(stub_path)
        begin_to_open(stub_path)
        gc.collect()
    facts = facts_of(Candidate(stub_path))
    with worker_of(Candidate(stub_path), threads=1, limit_s=60) as worker:
        assert worker.facts() == facts
