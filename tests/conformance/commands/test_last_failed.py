"""`run --last-failed`: what it remembers."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

from conformance.commands.run import last_failed
from conformance.judging.results import Result, Status


def test_what_was_not_run_did_not_fail(right: str) -> None:
    last_failed.remember(right, [Result("a/b", "a", Status.NOT_RUN), Result("c/d", "c", Status.CRASHED)])
    assert last_failed.recall(right) == ["c/d"]


def test_what_is_kept_in_a_project_is_none_of_its_files(right: str) -> None:
    last_failed.remember(right, [])
    ignore = last_failed.FILE.with_name(".gitignore")
    assert ignore.read_text(encoding="utf-8").splitlines()[-1] == "*"
    ignore.write_text("theirs\n", encoding="utf-8")
    last_failed.remember(right, [])
    assert ignore.read_text(encoding="utf-8") == "theirs\n"


def note(file: Path, library: str, worker: int) -> None:
    last_failed.FILE = file
    for number in range(20):
        last_failed.remember(library, [Result(f"{worker}/{number}", "silu", Status.FAIL)])


def test_runs_that_end_at_once_lose_nothing_of_each_other(right: str) -> None:
    context = multiprocessing.get_context("spawn")
    several = [context.Process(target=note, args=(last_failed.FILE, right, worker)) for worker in range(3)]
    for process in several:
        process.start()
    for process in several:
        process.join()
    assert set(last_failed.recall(right)) == {f"{worker}/{number}" for worker in range(3) for number in range(20)}
