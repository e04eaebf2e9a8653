"""Workers that start again do so as copies of a process that is ready: like any other process, and sooner."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.candidates.worker import copies
from conformance.candidates.worker.worker import Worker
from tests.conformance import for_workers

MARK = "ASSAYER_TEST_OF_COPIES"


@pytest.fixture
def mark() -> str:
    """What stands in the environment of all processes of one worker."""
    return secrets.token_hex(8)


@pytest.fixture
def worker(stub_path: Path, mark: str) -> Iterator[Worker]:
    with Worker(stub_path, environment={MARK: mark}) as worker:
        yield worker


def marked(mark: str) -> set[int]:
    """The processes, as this one sees them, that have the mark in their environment."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.add(int(folder.name))
        except OSError:  # ended meanwhile, or closed to us
            continue
    return found


def pid(worker: Worker) -> int:
    """Its number as it sees it itself."""
    found: int = worker.call(for_workers.process_id).value
    return found


def starter() -> int:
    """The process that the worker's are copies of."""
    [latest] = copies._latest
    return latest.process.pid


def test_processes_are_copies_of_one(worker: Worker) -> None:
    worker.stop()
    facts, first = worker.facts(), starter()
    worker.stop()
    assert worker.facts() == facts
    assert starter() == first


def test_a_copy_has_the_environment_asked_for_and_a_session_of_its_own(worker: Worker, mark: str) -> None:
    assert worker.call(for_workers.variable, MARK).value == mark
    assert worker.call(for_workers.session).value == pid(worker)


def test_copies_have_what_the_command_that_started_the_first_has_set(stub_path: Path) -> None:
    limited = ("sh", "-c", 'ulimit -t 1234; exec "$@"', "sh")
    with Worker(stub_path, prefix=limited) as worker:
        for _ in range(2):
            assert worker.call(for_workers.processor_seconds).value == 1234
            worker.stop()


def test_how_a_copy_ends_is_told(worker: Worker) -> None:
    assert worker.call(for_workers.leave, 7).detail == "exit status 7"
    assert worker.call(for_workers.end_by, signal.SIGUSR1).detail == "SIGUSR1"


@pytest.mark.skipif(sys.platform != "linux", reason="only there are processes in /proc")
def test_no_copy_is_left_behind(worker: Worker, mark: str) -> None:
    before = marked(mark)
    worker.stop()
    assert marked(mark) < before
    assert marked(mark) == {starter()}


def test_a_starter_that_was_killed_is_replaced(worker: Worker) -> None:
    killed = starter()
    os.kill(killed, signal.SIGKILL)
    os.waitid(os.P_PID, killed, os.WEXITED | os.WNOWAIT)  # until then it takes orders that nobody carries out
    worker.stop()
    assert worker.call(for_workers.process_id).status == "done"
    assert starter() != killed


JUDGE = """
import sys, time
from pathlib import Path
from conformance.candidates.worker import copies
from conformance.candidates.worker.worker import Worker
from tests.conformance import for_workers
worker = Worker(Path(sys.argv[1]), environment={sys.argv[2]: sys.argv[3]})
worker.facts()
print("open", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there does a process end with its parent")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_copy_ends_with_the_judge(stub_path: Path, mark: str, how: signal.Signals) -> None:
    command = [sys.executable, "-c", JUDGE, str(stub_path), MARK, mark]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as judge:
        assert judge.stdout is not None
        assert judge.stdout.readline() == "open\n"
        assert marked(mark)
        judge.send_signal(how)
    until = time.monotonic() + 10
    while marked(mark) and time.monotonic() < until:
        time.sleep(0.01)
    assert not marked(mark)
