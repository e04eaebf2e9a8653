"""Calls that CUDA refuses are refused with CUDA's error; settings that mean nothing are refused too."""

from __future__ import annotations

import pytest

from tests.emulator.programs import Programs, names_in

NAMES = names_in("misuse.cu")


@pytest.mark.parametrize("name", NAMES)
def test_refused_as_cuda_refuses_it(fast: Programs, name: str) -> None:
    assert fast.run(name).lines[0].startswith(f"{name} ok ")


def test_a_refused_launch_says_why(fast: Programs) -> None:
    said = fast.run("too_many_threads").said
    assert said == (
        "CUDA emulator: cudaErrorInvalidConfiguration: kernel `fill_kernel`: a block has 1 to 1024 threads, "
        "at most (1024,1024,64); asked for (1025,1,1)\n"
    )


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("schedule", "backwards", "forward, reverse or random"),
        ("seed", "x", "a number from 0 to"),
        ("threads", "0", "a number from 1 to 1024"),
        ("arch", "sm_35", "one of sm_70"),
        ("fill", "2", "a number from 0 to 1"),
        ("multiprocessors", "0", "a number from 1 to 1024"),
        ("fail", "cudaLaunch", "CALL or CALL:TIME, CALL one of cudaDeviceGetAttribute, cudaFree,"),
        ("fail", "cudaMalloc:0", "CALL or CALL:TIME"),
    ],
)
def test_a_setting_that_means_nothing_is_refused(fast: Programs, name: str, value: str, expected: str) -> None:
    outcome = fast.run("block_sum", **{name: value})
    assert outcome.status == 2
    assert f"ASSAYER_EMULATOR_{name.upper()}: expected {expected}" in outcome.said
    assert f'got "{value}"' in outcome.said


def test_a_call_fails_each_time_or_once(fast: Programs) -> None:
    name = "one_in_three_allocations"
    assert fast.run(name, fail="cudaMalloc:2").lines == [f"{name} ok cudaSuccess"]
    assert fast.run(name, fail="cudaMalloc").lines == [f"{name} wrong cudaSuccess"]


def test_multiprocessors_are_the_device_s_and_not_the_host_s(fast: Programs) -> None:
    for settings, count in (({}, 108), ({"arch": "sm_90"}, 132), ({"multiprocessors": 7}, 7)):
        for threads in (1, 3):
            outcome = fast.run("multiprocessors", threads=threads, **settings)
            assert (outcome.status, outcome.said) == (0, f"{count} multiprocessors\n")


def test_the_limits_are_those_of_the_architecture(fast: Programs) -> None:
    assert fast.run("opted_in_shared_memory", arch="sm_75").lines == ["opted_in_shared_memory ok cudaSuccess"]
    assert fast.run("more_shared_memory_than_there_is", arch="sm_90").status == 0
    assert fast.run("block_sum", arch="sm_120").status == 0
