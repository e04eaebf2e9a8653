"""Kernels that are right: right results in every order, and nothing said about them in any mode."""

from __future__ import annotations

import pytest

from tests.emulator.programs import Programs, names_in

SOURCES = ("async", "correct", "grammar", "groups", "inline_ptx", "matrix", "numbers", "pools", "runtime")
CORRECT = [name for source in SOURCES for name in names_in(f"{source}.cu") if name != "prints"]
SCHEDULES = [("forward", 1), ("reverse", 1), *(("random", seed) for seed in range(1, 6))]


def check(programs: Programs, *names: str, **settings: str | int) -> None:
    outcome = programs.run(*names, **settings)
    assert outcome.lines == [f"{name} ok cudaSuccess" for name in names]
    assert (outcome.status, outcome.said) == (0, "")


@pytest.mark.parametrize("name", names_in("hopper.cu"))
@pytest.mark.parametrize("schedule", ["forward", "random"])
def test_what_a_newer_architecture_has(fast: Programs, name: str, schedule: str) -> None:
    check(fast, name, arch="sm_90", schedule=schedule)
    assert "which sm_80 lacks" in fast.run(name).said


@pytest.mark.parametrize("name", CORRECT)
def test_alone(fast: Programs, name: str) -> None:
    check(fast, name)


@pytest.mark.parametrize(("schedule", "seed"), SCHEDULES)
def test_in_every_order(fast: Programs, schedule: str, seed: int) -> None:
    check(fast, *CORRECT, schedule=schedule, seed=seed)


def test_on_any_number_of_system_threads(fast: Programs) -> None:
    for threads in (1, 2, 5):
        check(fast, *CORRECT, threads=threads)


@pytest.mark.built
@pytest.mark.parametrize("schedule", ["forward", "reverse", "random"])
def test_the_address_sanitiser_has_nothing_to_say(address: Programs, schedule: str) -> None:
    check(address, *CORRECT, "static_shared_right", "dynamic_shared_right", "aligned_float4", schedule=schedule)


@pytest.mark.built
@pytest.mark.parametrize("schedule", ["forward", "reverse", "random"])
def test_the_race_detector_has_nothing_to_say(thread: Programs, schedule: str) -> None:
    check(thread, *CORRECT, schedule=schedule)


def test_with_a_default_stream_that_is_late(fast: Programs) -> None:
    check(fast, *CORRECT, default_stream="late")


@pytest.mark.parametrize("name", names_in("default_stream.cu"))
def test_a_default_stream_that_is_late(fast: Programs, name: str) -> None:
    late = fast.run(name, default_stream="late")
    assert (late.status, late.lines[0].split()[:2]) == (0, [name, "ok"])
    assert fast.run(name, default_stream="sideways").said == (
        'CUDA emulator: ASSAYER_EMULATOR_DEFAULT_STREAM: expected "at once" or late, got "sideways"\n'
    )


def test_kernels_print(fast: Programs) -> None:
    outcome = fast.run("prints", threads=1)
    assert outcome.lines == [*(f"printed by block {block}: 3" for block in range(2)), "prints ok cudaSuccess"]


def test_launches_are_said_where_that_is_asked_for(fast: Programs) -> None:
    outcome = fast.run("transpose", launches=1)
    assert outcome.said == (
        "CUDA emulator: launch of kernel `transpose_kernel`: (2,3,1) blocks of (32,8,1) threads, "
        "0 bytes of dynamic shared memory\n"
    )
