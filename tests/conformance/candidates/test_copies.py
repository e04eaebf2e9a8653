"""Workers that start again do so as copies of a process that is ready: like any other process, and sooner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.candidates.worker.worker import Worker
from tests.conformance import for_workers


@pytest.fixture
def worker(stub_path: Path) -> Iterator[Worker]:
    with Worker(stub_path, environment={"ASSAYER_TEST_OF_COPIES": "told"}) as worker:
        worker.stop()
        yield worker


def pid(worker: Worker) -> int:
    found: int = worker.call(for_workers.process_id).value
    return found


def test_a_worker_that_starts_again_is_a_copy(worker: Worker) -> None:
    facts = worker.facts()
    first = pid(worker)
    worker.stop()
    assert worker.facts() == facts
    assert pid(worker) != first
    assert worker.call(for_workers.parent).value != os.getpid()


def test_a_copy_has_the_environment_asked_for_and_a_session_of_its_own(worker: Worker) -> None:
    assert worker.call(for_workers.variable, "ASSAYER_TEST_OF_COPIES").value == "told"
    assert os.getsid(pid(worker)) == pid(worker)


def test_copies_have_what_the_command_that_started_the_first_has_set(stub_path: Path) -> None:
    limited = ("sh", "-c", 'ulimit -t 1234; exec "$@"', "sh")
    with Worker(stub_path, prefix=limited, copied=True) as worker:
        parent = worker.call(for_workers.parent).value
        for _ in range(2):
            assert worker.call(for_workers.processor_seconds).value == 1234
            assert worker.call(for_workers.parent).value == parent != os.getpid()
            worker.stop()


def test_how_a_copy_ends_is_told(worker: Worker) -> None:
    assert worker.call(for_workers.leave, 7).detail == "exit status 7"
    os.kill(pid(worker), signal.SIGUSR1)
    assert worker.call(for_workers.process_id).detail == "SIGUSR1"


def test_no_copy_is_left_behind(worker: Worker) -> None:
    gone = pid(worker)
    worker.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(gone, 0)


def test_a_starter_that_was_killed_is_replaced(worker: Worker) -> None:
    parent: int = worker.call(for_workers.parent).value
    os.kill(parent, signal.SIGKILL)
    worker.stop()
    assert worker.call(for_workers.parent).value != parent


JUDGE = """
import sys, time
from pathlib import Path
from conformance.candidates.worker.worker import Worker
from tests.conformance import for_workers
worker = Worker(Path(sys.argv[1]))
worker.facts()
worker.stop()
print(worker.call(for_workers.process_id).value, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there does a process end with its parent")
def test_a_copy_ends_with_the_judge(stub_path: Path) -> None:
    command = [sys.executable, "-c", JUDGE, str(stub_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as judge:
        assert judge.stdout is not None
        copy = int(judge.stdout.readline())
        judge.kill()
    until = time.monotonic() + 10
    while Path(f"/proc/{copy}/cmdline").exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not Path(f"/proc/{copy}/cmdline").exists()
