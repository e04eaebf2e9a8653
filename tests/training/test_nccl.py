"""Sums between devices: with a library that has NCCL's calls, the bits of sums by way of the host."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindings import Library
from tests.compiler import compile_device, compile_library
from tests.training.mpirun import ROOT, ranks
from tests.training.runs import small_run, small_shards
from training.ranks import ALONE, Nccl, RanksError, Staged, between, devices, take_device, taking_turns
from training.ranks.between import _against, _Availability
from training.ranks.nccl import NcclLibrary

LIMIT = 60  # seconds; a run takes two
BY_HOST = "gradients are summed by way of the host: "


def compile_nccl(folder: Path, name: str = "nccl", *flags: str) -> Path:
    return compile_library((ROOT / "tests" / "nccl.c").read_text(encoding="utf-8"), folder, name, *flags)


@pytest.fixture(scope="module")
def nccl_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_nccl(tmp_path_factory.mktemp("nccl"))


@pytest.fixture
def device(tmp_path: Path) -> Library:
    return Library(compile_device(tmp_path), resident=True)


@pytest.mark.slow
def test_the_command_leaves_the_bits_of_sums_by_way_of_the_host(
    tmp_path: Path, emulated_path: Path, nccl_path: Path, device_memory: None
) -> None:
    shards, kept = small_shards(tmp_path / "shards"), []
    cases = {
        "between": ({"ASSAYER_NCCL": str(nccl_path)}, "gradients are summed between the devices, by NCCL 2.99.1\n"),
        "by-host": ({}, f"{BY_HOST}the device is emulated\n"),
    }
    for name, (named, said) in cases.items():
        environment = os.environ | {"CUDA_VISIBLE_DEVICES": "0,1"} | named
        more = ["--steps", "2", "--compare-every", "1", "--sample-every", "0", "--backend", str(emulated_path)]
        command = ranks(2, "-m", "training")
        command += small_run(shards, tmp_path / name, *more)
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stderr.count(said) == 1, done.stderr
        kept.append({file.name: file.read_bytes() for file in (tmp_path / name).rglob("*.safetensors")})
    assert kept[0] == kept[1] != {}


def test_sums_are_new_arrays(stub_path: Path, nccl_path: Path) -> None:
    library = Library(stub_path, resident=True)
    ranks = Nccl(ALONE, library, NcclLibrary(str(nccl_path)))
    part = library.array(np.arange(3000, dtype=np.float32).reshape(3, -1))
    sums = ranks.begin_sum([part, part[1]]).wait()
    assert [total.shape for total in sums] == [(3, 1000), (1000,)]
    assert (sums[0].to_host() == part.to_host()).all()
    assert (sums[1].to_host() == part.to_host()[1]).all()
    assert part.address not in {total.address for total in sums}


@pytest.mark.parametrize(
    ("kinds", "error", "message"),
    [
        (["float32", "float64"], ValueError, "expected arrays of one type, got float32 and float64"),
        ([], ValueError, "expected arrays of one type, got none"),
        (["bool"], RanksError, "NCCL: expected arrays of int32, .*, bfloat16, got bool"),
        (["float64"], RanksError, r"ncclAllReduce: invalid argument \(code 4 of NCCL\)"),
    ],
)
def test_what_is_refused(kinds: list[str], error: Any, message: str, stub_path: Path, nccl_path: Path) -> None:
    library = Library(stub_path, resident=True)
    ranks = Nccl(ALONE, library, NcclLibrary(str(nccl_path)))
    with pytest.raises(error, match=message):
        ranks.begin_sum([library.memory.empty((2,), kind) for kind in kinds])


def reasons(library: Library, *seen: str) -> list[str]:
    """How the sums of ranks cross that take turns, each seeing these devices."""

    def work(ranks: Any) -> str:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(devices.Place, "here", lambda: devices.Place("a machine", seen[ranks.rank]))
            chosen = between(ranks, library)
        assert type(chosen) is Staged
        return chosen.way

    return taking_turns(len(seen), work)


def test_ranks_that_share_a_device_sum_by_way_of_the_host(
    device: Library, nccl_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAYER_NCCL", str(nccl_path))
    said = "by way of the host: expected a device for each rank, ranks 0 and 2 see the same on a machine"
    assert reasons(device, "0", "1", "0") == [said] * 3


def test_arrays_of_the_host_have_no_device_to_cross_from(stub_path: Path) -> None:
    said = "by way of the host: the arrays lie in memory of the host"
    assert reasons(Library(stub_path, resident=True), "0", "1") == [said] * 2


def test_a_library_that_cannot_be_used_is_said_to_be_so(
    device: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, other = compile_nccl(tmp_path, "old", "-DVERSION=2804"), compile_library("int one;", tmp_path, "other")
    said = {
        tmp_path / "none.so": "NCCL cannot be opened: .*none.so",
        other: "NCCL cannot be opened: .*nccl",
        old: "old.so: expected NCCL 2.10.0 or newer, got 2.8.4",
    }
    for path, reason in said.items():
        monkeypatch.setenv("ASSAYER_NCCL", str(path))
        first, second = reasons(device, "0", "1")
        assert re.fullmatch(f"by way of the host: .*{reason}.*", first)
        assert first == second


def test_one_rank_without_nccl_is_enough() -> None:
    here, there = devices.Place("a machine", "0"), devices.Place("another", "0")
    first = _Availability(here, "2.30.1", "")
    assert _against([first, _Availability(there, "2.30.1", "")]) == ""
    assert _against([first, _Availability(there, "", "there is none")]) == "rank 1: there is none"
    assert _against([first, _Availability(there, "2.29.1", "")]) == "rank 1 has NCCL 2.29.1, rank 0 2.30.1"


def test_what_pip_has_installed_is_found(nccl_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "nvidia" / "nccl" / "lib"
    folder.mkdir(parents=True)
    (folder / "libnccl.so.2").symlink_to(nccl_path)
    monkeypatch.delenv("ASSAYER_NCCL", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert NcclLibrary().version == "2.99.1"


@pytest.mark.parametrize(
    ("given", "managed", "taken"),
    [
        (None, 0, [None, None, None]),
        (None, 2, ["0", "1", "0"]),
        ("3, 5,7", 0, ["3", "5", "7"]),
        ("GPU-a,-1,2", 0, ["GPU-a"] * 3),
        ("", 8, ["", "", ""]),
    ],
)
def test_each_rank_takes_a_device(
    given: str | None, managed: int, taken: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "_managed", lambda: managed)

    def work(ranks: Any) -> str | None:
        environment = {} if given is None else {devices.VISIBLE: given}
        take_device(ranks, environment)
        return environment.get(devices.VISIBLE)

    assert taking_turns(3, work) == taken


def test_devices_are_counted_by_the_driver(tmp_path: Path) -> None:
    source = """
    int nvmlInit_v2(void) { return 0; }
    int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 3, 0; }
    int nvmlShutdown(void) { return 0; }
    """
    assert devices._managed(str(compile_library(source, tmp_path))) == 3
    assert devices._managed(str(tmp_path / "none.so")) == 0
