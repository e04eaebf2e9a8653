"""Threads that wait for ever, and warp functions with wrong masks: reported with who waits where, and never a hang."""

from __future__ import annotations

import re

import pytest

from tests.emulator.programs import Programs, marked, names_in

NAMES = names_in("deadlocks.cu")
# What they did, where there is no place to name.
WITHOUT_LINES = {
    "failure_stays": "executed __trap()",
    "grid_barrier": "executed grid_group::sync(): blocks cannot wait for each other",
    "lock_held_forever": "spins: for 67108864 turns no thread of the block got anywhere",
    "barrier_of_no_such_number": "calls bar.sync 16, 32 in",
    "barrier_with_two_counts": "while others of its block wait there for 64 threads",
    "matrix_product_by_half_a_warp": "executed a matrix instruction without all 32 lanes of its warp",
    "matrix_rows_misaligned": "executed ldmatrix of a row that is not aligned to 16 bytes",
    "trap_ends_the_kernel": "executed __trap()",
}
WITH_LINES = [name for name in NAMES if name not in WITHOUT_LINES]


@pytest.mark.parametrize("schedule", ["forward", "random"])
@pytest.mark.parametrize("name", NAMES)
def test_it_ends_with_an_error(fast: Programs, name: str, schedule: str) -> None:
    outcome = fast.run(name, schedule=schedule)
    assert outcome.lines[0].startswith(f"{name} ok ")
    error = outcome.error_of(name) if name != "failure_stays" else "cudaErrorLaunchFailure"
    assert re.match(rf"CUDA emulator: {error}: kernel `\w+`, block \(\d,0,0\) of", outcome.said)
    assert outcome.said.count("CUDA emulator:") == 1


@pytest.mark.parametrize("name", WITH_LINES)
def test_every_place_is_named(fast: Programs, name: str) -> None:
    said = fast.run(name).said
    assert [place for place in marked("deadlocks.cu", f"WAIT {name}") if place not in said] == []


@pytest.mark.parametrize("name", WITHOUT_LINES)
def test_what_it_did_is_named(fast: Programs, name: str) -> None:
    assert WITHOUT_LINES[name] in fast.run(name).said


def test_who_waits_where(fast: Programs) -> None:
    block, waiting = marked("deadlocks.cu", "WAIT barrier_in_a_branch")
    assert fast.run("barrier_in_a_branch", threads=1).said.splitlines() == [
        "CUDA emulator: cudaErrorLaunchFailure: kernel `barrier_in_a_branch_kernel`, block (0,0,0) of (2,1,1): "
        "deadlock, none of its threads can go on",
        f"  threads (0,0,0) to (15,0,0) wait at __syncthreads in {block}",
        f"  threads (16,0,0) to (31,0,0) wait at __shfl_xor_sync in {waiting} with mask 0xffffffff",
    ]


def test_a_failed_assertion_names_the_thread(fast: Programs) -> None:
    (place,) = marked("deadlocks.cu", "WAIT assertion_fails")
    assert fast.run("assertion_fails", threads=1).said == (
        "CUDA emulator: cudaErrorAssert: kernel `assert_kernel`, block (0,0,0) of (2,1,1), thread (5,0,0) of (32,1,1) "
        f"assertion `static_cast<int>(threadIdx.x) != 5 || least > 3` failed in {place}\n"
    )


@pytest.mark.slow
def test_the_same_under_sanitisers(address: Programs, thread: Programs) -> None:
    for programs in (address, thread):
        outcome = programs.run("failure_stays", "barrier_in_a_branch")
        assert outcome.lines == ["failure_stays ok cudaSuccess", "barrier_in_a_branch ok cudaErrorLaunchFailure"]
        assert outcome.status == 0
