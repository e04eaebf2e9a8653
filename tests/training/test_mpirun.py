"""Runs that mpirun starts: the same bits as ranks that take turns, and no rank is left waiting for one that died."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tests.reference.model_samples import SMALL
from tests.training.mpirun import ROOT, ranks
from tests.training.ranks_run import FOUR_EXPERTS, trained
from tests.training.runs import small_run, small_shards
from training.log import read_log
from training.ranks import taking_turns, watch
from training.ranks.start import started_as

LIMIT = 60  # seconds; a run takes one


def run(size: int, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = ranks(size, "tests/training/ranks_run.py", *arguments)
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False)


@pytest.mark.parametrize(("size", "micro_batches", "experts"), [(1, 4, 0), (2, 2, 0), (4, 1, 0), (4, 1, 4)])
def test_the_same_bits_as_ranks_that_take_turns(size: int, micro_batches: int, experts: int, tmp_path: Path) -> None:
    options = ["--micro-batches", str(micro_batches), *(["--expert-parallel"] if experts else [])]
    done = run(size, tmp_path / "left.npz", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    config = FOUR_EXPERTS if experts else SMALL
    expected = taking_turns(size, lambda ranks: trained(ranks, micro_batches, config, expert_parallel=bool(experts)))[0]
    with np.load(tmp_path / "left.npz") as results:
        assert set(results) == set(expected)
        assert all((results[what] == array).all() for what, array in expected.items())


@pytest.mark.parametrize(
    ("how", "said"),
    [("raises", "rank 1 ends the run: ValueError: "), ("exits", "rank 1 ends the run: SystemExit: ")],
)
def test_a_rank_that_ends_ends_the_run(how: str, said: str, tmp_path: Path) -> None:
    done = run(2, tmp_path / "left.npz", "--dies", "1", how)
    assert done.returncode != 0
    assert said in done.stderr
    assert not (tmp_path / "left.npz").exists()


def test_a_rank_that_is_killed_ends_the_run_and_is_named(tmp_path: Path) -> None:
    done = run(4, tmp_path / "left.npz", "--dies", "2", "killed")
    assert done.returncode != 0
    assert re.findall(r"rank (\d).* was killed by SIGKILL", done.stderr) == ["2"]


def test_a_rank_that_does_not_get_as_far_as_mpi_ends_the_run(tmp_path: Path) -> None:
    """As on a machine where mpi4py is missing."""
    done = run(2, tmp_path / "left.npz", "--without-mpi", "1")
    assert done.returncode != 0
    assert re.search(
        r"RanksError: mpirun started 2 processes, which need mpi4py .*pip install mpi4py mpich", done.stderr
    )


def test_settings_of_one_rank_that_differ_end_the_run(tmp_path: Path) -> None:
    """As from a file of settings that is another on one machine."""
    mpirun, *of_one = ranks(1, "tests/training/ranks_run.py", tmp_path / "left.npz")
    command = [mpirun, *of_one, ":", *of_one, "--micro-batches", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode != 0
    assert "RanksError: settings: micro_batches: rank 1 has 2, rank 0 1" in done.stderr


def test_the_reason_is_read_before_the_run_is_ended() -> None:
    """A launcher that is told to end the run does so at once, and forgets what still stands in the pipe."""
    reader, writer = os.pipe()
    launcher = threading.Timer(0.05, os.read, (reader, 100))
    os.write(writer, b"rank 1 ends the run")
    launcher.start()
    watch.until_read(writer)
    assert not select.select([reader], [], [], 0)[0]
    launcher.join()
    for end in (reader, writer):
        os.close(end)


def test_a_launcher_that_has_stopped_is_left_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "STOPPED", 0.01)
    reader, writer = os.pipe()
    os.write(writer, b"rank 1 ends the run")
    watch.until_read(writer)
    assert os.read(reader, 100) == b"rank 1 ends the run"
    for end in (reader, writer):
        os.close(end)


def test_a_launcher_of_another_make_is_named(tmp_path: Path) -> None:
    """Open MPI's mpirun, and MPICH under mpi4py: each process would train for itself."""
    environment = os.environ | {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "3"}
    command = [sys.executable, "tests/training/ranks_run.py", str(tmp_path / "left.npz")]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert done.returncode != 0
    assert (
        "RanksError: mpirun started 3 processes, but mpi4py's library finds 1: expected both of one make" in done.stderr
    )


@pytest.mark.slow
def test_the_command_on_device_memory_is_that_on_host_memory(
    tmp_path: Path, emulated_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards, kept = small_shards(tmp_path / "shards"), []
    for memory in ("0", "1"):
        monkeypatch.setenv("ASSAYER_EMULATED_DEVICE_MEMORY", memory)
        more = ["--steps", "2", "--compare-every", "1", "--sample-every", "0", "--backend", str(emulated_path)]
        command = ranks(2, "-m", "training")
        command += small_run(shards, tmp_path / memory, *more)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        kept.append({file.name: file.read_bytes() for file in (tmp_path / memory).rglob("*.safetensors")})
    assert kept[0] == kept[1] != {}


def test_a_run_that_is_stopped_ends_with_the_command_s_own_code(tmp_path: Path) -> None:
    """Ctrl-C reaches every rank; all stop behind the same step, with a checkpoint."""
    shards, output = small_shards(tmp_path / "shards"), tmp_path / "run"
    arguments = small_run(shards, output, "--steps", "100000", "--checkpoint-every", "100000")
    command = ranks(2, "-m", "training", *arguments)
    log, deadline = output / "log.jsonl", time.monotonic() + LIMIT
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        while not (log.exists() and len(log.read_text().splitlines()) > 3):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, said
    assert "the same command with --resume goes on from here" in said
    assert list((output / "checkpoints").iterdir()), said


def test_ranks_share_the_cores_of_their_machine() -> None:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    assert watch.threads({}, 4, 2) == dict.fromkeys(names, "1")
    assert watch.threads({"MPI_LOCALNRANKS": "2"}, 4, 16) == dict.fromkeys(names, "8")
    assert watch.threads({"OMPI_COMM_WORLD_LOCAL_SIZE": "4", "OMP_NUM_THREADS": "3"}, 8, 16) == dict.fromkeys(
        names[1:], "4"
    )


def test_what_a_launcher_says() -> None:
    assert started_as({}) == started_as({"PMI_SIZE": "4"}) == started_as({"PMI_RANK": "?", "PMI_SIZE": "4"}) == (0, 1)
    assert started_as({"PMI_RANK": "3", "PMI_SIZE": "4"}) == (3, 4)
    assert started_as({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}) == (1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--expert-parallel",)])
def test_the_command_is_the_same_run_on_every_rank_and_goes_on(options: tuple[str, ...], tmp_path: Path) -> None:
    shards, output = small_shards(tmp_path / "shards"), tmp_path / "run"
    for steps, going in (("4", "from the start"), ("6", "going on from step 4")):
        arguments = small_run(
            shards, output, "--total", "6", "--steps", steps, "--resume", "--compare-every", "1", *options
        )
        command = ranks(2, "-m", "training", *arguments)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert (done.stderr.count(going), done.stdout.count("validation loss")) == (1, 1)
    assert [record["step"] for record in read_log(output / "log.jsonl") if record["kind"] == "step"] == [*range(1, 7)]
