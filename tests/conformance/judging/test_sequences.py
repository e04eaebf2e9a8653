"""Calls in a row: what a library keeps from call to call is found and named, and nothing is said of a right one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.candidates.worker import sequences
from conformance.candidates.worker.rounds import Held, Pace
from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import SEQUENCES
from conformance.judging.bench import Bench
from conformance.judging.growth import growth
from conformance.judging.results import Result, Status
from conformance.judging.sequences import judge_sequence
from tests.compiler import compile_library

SOURCE = Path(__file__).parents[1].joinpath("stateful.c").read_text(encoding="utf-8")
FAULTS = SOURCE[SOURCE.index("{") + 1 : SOURCE.index("}")].replace("\n", " ").split(",")
FAULT = {name.strip(): str(value) for value, name in enumerate(FAULTS)}
ALL = (
    "alternating",
    "same_sizes",
    "displaced",
    "thousand",
    "many_long",
    "threads",
    "own_threads",
    "without_memory",
    "after_refused",
    "refused_thousand",
)

# What comes of a short and of a long call while an emulated device has no memory for it.
_BY_MEMORY = {"silu": "returned 0, returned 0", "mse_forward": "returned -3, returned -3"}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_library(SOURCE, tmp_path_factory.mktemp("stateful"), "stateful", "-D_GNU_SOURCE", "-lm")


def judged(name: str, fault: str, library: Path, limit_s: float = 10.0, operation: str = "silu") -> Result:
    with Worker(library, limit_s=limit_s, environment={"FAULT": FAULT[fault]}) as worker:
        return judge_sequence(SEQUENCES[f"{operation}/sequence/{name}"], Bench(worker))


@pytest.mark.parametrize(
    ("operation", "rows"), [("softmax", "rows"), ("rmsnorm", "rows"), ("argmax", "batch"), ("expert_combine", "tokens")]
)
def test_of_two_calls_at_once_one_has_many_rows(operation: str, rows: str) -> None:
    long, other = SEQUENCES[f"{operation}/sequence/threads"].calls
    assert other.case.sizes[rows] > 4 * long.case.sizes[rows]


@pytest.mark.parametrize("name", ALL)
def test_a_right_library_passes(name: str, library: Path) -> None:
    result = judged(name, "RIGHT", library)
    assert (result.status, result.reason) == (Status.PASS, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "name", "said"),
    [
        (
            "SIZED_BY_THE_FIRST",
            "alternating",
            "keeps something .*: call 2 of 5 \\(1024 after 255\\): output: 769 of 1024",
        ),
        ("KEPT_BY_ADDRESS", "same_sizes", "keeps something .*: call 2 of 5 \\(255 with other numbers after 255\\): "),
        ("KEPT_BY_SIZE", "same_sizes", "keeps something .*: call 2 of 5 .*; alone it is right"),
        (
            "SHARED_BY_THREADS",
            "threads",
            "two calls at once disturb each other \\(20011 beside 8193\\): in round",
        ),
        (
            "ALIGNED_AS_INPUT",
            "displaced",
            r"depends on where an array begins: call 2 of 2 \([0-9]+ where output alone begins at no multiple of 16 "
            r"bytes\): output: .*; where all begin at multiples of 16 bytes it is right",
        ),
        (
            "SHARED_BY_OWN_THREADS",
            "own_threads",
            "in 4 threads of its own it gives other bits from call to call \\((20011|8193)\\)",
        ),
        # 8016 bytes with malloc's own; addresses are taken 132 kB at a time, which is 0.26 kB a call.
        ("LEAKS", "thousand", "memory grows from call to call: 8.[0-3]. kB .* each, in the last 512 calls"),
        (
            "LEAKS_UNTOUCHED",
            "thousand",
            "memory grows from call to call: 8.39 MB of address space each, in the last 512",
        ),
        ("LEAKS_MUCH", "thousand", "memory grows from call to call: by 1.26 GB; 1024 calls were not made"),
        (
            "AFTER_REFUSED",
            "after_refused",
            "keeps something .*: call 3 of .* \\(255 after .* to be refused\\): output: 1 of",
        ),
        (
            "LATE",
            "thousand",
            "gives other bits .*: call 201 of 1024 \\(255\\) is unlike the first: output: 1 of",
        ),
        (
            "LATE_CODE",
            "thousand",
            "keeps something .*: call 201 of 1024 \\(255\\): returned -3: .*; alone it is right",
        ),
        (
            "AFTER_A_LONGER_ONE",
            "own_threads",
            "keeps something from one call to the next: call 2 of 2 \\(8193 after 20011\\): output: 1 of 8193",
        ),
        ("LEAKS_PARTS", "many_long", "memory grows from call to call: 4[0-9]{2} bytes .* each, in the last 128 calls"),
        (
            "LEAKS_REFUSED",
            "refused_thousand",
            "memory grows from call to call: 1[0-9]{2} bytes .* each, in the last 512",
        ),
        (
            "RIGHT_WITHOUT_MEMORY",
            "without_memory",
            "where malloc has no memory for it \\(255\\): returned 0, and is wrong: output: 255 of 255 .*; with memory",
        ),
        (
            "WRITES_WITHOUT_MEMORY",
            "without_memory",
            "no memory for it \\(255\\): returned -3 and wrote output at \\[0\\]; with memory it is right",
        ),
        (
            "NEVER_AGAIN",
            "without_memory",
            "after a call without memory it is wrong \\(255\\): returned -3: .*; with memory it is right",
        ),
        ("DIRECTORY", "thousand", "changes of its process the working directory, from .* to /$"),
        ("LOCALE", "thousand", "changes of its process the locale, from .* to .*UTF-8"),
    ],
)
def test_what_is_kept_from_call_to_call_is_found_and_named(fault: str, name: str, said: str, library: Path) -> None:
    result = judged(name, fault, library)
    assert result.status is Status.FAIL
    assert re.search(said, result.headline), result.headline
    assert [finding.text for finding in result.findings] == [result.headline]


@pytest.mark.parametrize(
    ("fault", "name", "status", "said"),
    [
        (
            "CRASHES_LATE",
            "thousand",
            Status.CRASHED,
            "call 201 of 1024 .*SIGABRT in call 201; alone it is right",
        ),
        (
            "USES_NO_MEMORY",
            "without_memory",
            Status.CRASHED,
            "goes wrong where malloc has no memory for it \\(255\\): SIGSEGV; with memory it is right",
        ),
        ("HANGS_AFTER_REFUSED", "after_refused", Status.TIMED_OUT, "call 3 of .*: no answer in 2 s; alone it is right"),
    ],
)
def test_a_call_that_does_not_come_back(fault: str, name: str, status: Status, said: str, library: Path) -> None:
    result = judged(name, fault, library, limit_s=2.0)
    assert result.status is status
    assert re.search(said, result.headline), result.headline


def test_a_number_that_is_kept_is_found_where_it_is_changed(library: Path) -> None:
    result = judged("other_scalars", "KEPT_NUMBER", library, operation="scale")
    assert re.search(r"keeps something .*: call 2 of 3 \(.*_scale=.* after .*\): output: ", result.headline)
    assert judged("other_scalars", "RIGHT", library, operation="scale").status is Status.PASS


def test_what_needs_memory_may_say_so_or_end_its_process(library: Path) -> None:
    said = judged("without_memory", "ASKS_FOR_MEMORY", library)
    assert (said.status, said.reason, said.detail) == (Status.PASS, "", "returned -3, returned -3")
    ended = judged("without_memory", "ENDS_WITHOUT_MEMORY", library)
    assert (ended.status, ended.reason, ended.detail) == (Status.PASS, "", "ended its process, ended its process")


def test_an_emulated_device_refuses_its_memory(emulated_path: Path) -> None:
    with Worker(emulated_path) as worker:
        results = [judge_sequence(SEQUENCES[f"{name}/sequence/without_memory"], Bench(worker)) for name in _BY_MEMORY]
    assert [(one.status, one.detail) for one in results] == [(Status.PASS, said) for said in _BY_MEMORY.values()]


@pytest.mark.parametrize("name", [name for name in ALL if name != "refused_thousand"])
def test_a_call_that_is_wrong_by_itself_is_left_to_the_cases(name: str, library: Path) -> None:
    result = judged(name, "WRONG", library)
    assert (result.status, result.diagnosis, result.findings) == (Status.FAIL, None, ())
    assert result.reason.endswith("; wrong alone too")


def test_a_device_has_streams_of_its_own_for_each_thread(emulated_path: Path, device_memory: None) -> None:
    with Worker(emulated_path) as worker:
        results = [judge_sequence(SEQUENCES[f"gemm/sequence/{name}"], Bench(worker)) for name in ALL]
    assert [(result.status, result.reason) for result in results] == [(Status.PASS, "")] * len(ALL)


def test_what_is_not_exported_is_not_run(tmp_path: Path) -> None:
    library = compile_library("#include <stdint.h>\nint32_t cuda_add(void) { return 0; }", tmp_path)
    with Worker(library) as worker:
        results = [judge_sequence(SEQUENCES[f"silu/sequence/{name}"], Bench(worker)) for name in ALL]
    assert {result.status for result in results} == {Status.NOT_RUN}


MB = 1_000_000


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ([], ""),
        ([Held(MB, MB, MB)] * 17, ""),
        ([Held(MB, MB + 4096 * place, MB) for place in range(17)], "64 bytes of memory each"),
        ([Held(MB + 4096 * place, MB, MB) for place in range(17)], "64 bytes of address space each"),
        ([Held(MB, MB, MB + 1024 * place) for place in range(17)], "16 bytes of memory from malloc each"),
        ([Held(MB, MB + 4096 * min(place, 9), MB) for place in range(17)], ""),  # a pool that is full in the end
        ([Held(MB, MB + 4096 * (place // 2), MB) for place in range(17)], ""),  # now and then
        ([Held(MB, MB + 4096 * place, MB) for place in range(9)], ""),  # too few calls to tell
        ([Held(MB, MB, MB), Held(MB, MB + (2 << 30), MB)], "by 2.15 GB"),
    ],
)
def test_growth_is_told_from_what_is_taken_once(held: list[Held], said: str) -> None:
    found = growth(held, 64, 1024)
    assert (said in found) if said else found == ""


def test_pages_of_a_library_of_kernels_are_touched_over_many_calls() -> None:
    assert growth([Held(MB, MB + 4096 * place, MB) for place in range(17)], 8, 128, is_of_kernels=True) == ""
    assert growth([Held(MB + 4096 * place, MB, MB) for place in range(17)], 8, 128, is_of_kernels=True) != ""


def test_what_malloc_has_unused_hides_no_small_leak(library: Path) -> None:
    result = judged("thousand", "LEAKS_INTO_GAPS", library)
    assert re.search(
        "grows from call to call: .* bytes of memory from malloc each, in the last 512 calls", result.headline
    )


def test_of_slow_calls_a_window_has_fewer(library: Path) -> None:
    assert Pace(1024, 16, 10.0).window(0.001) == 64
    assert Pace(1024, 16, 10.0).window(0.01) == 62
    assert Pace(1024, 16, 10.0).window(10.0) == 1
    result = judged("thousand", "SLOW", library, limit_s=2.0)
    assert (result.status, result.reason) == (Status.PASS, "")
    assert re.fullmatch("made [1-9][0-9]{1,2} times", result.detail)


def test_a_leak_is_found_where_calls_take_many_requests(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequences, "_OF_TIME", 0.005)  # of 10 s: the calls, each of which sleeps, take many requests
    monkeypatch.setattr(sequences, "_TURNS", 10_000)
    assert judged("thousand", "LEAKS_SLEEPING", library).status is Status.FAIL


def test_too_few_calls_to_tell_growth_are_said(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequences, "_OF_TIME", 0.005)
    monkeypatch.setattr(sequences, "_TURNS", 1)
    result = judged("thousand", "LEAKS_SLEEPING", library)
    assert result.status is Status.NOT_JUDGED
    assert re.fullmatch("made [0-9]+ of 1024 calls .* too few to tell whether memory grows", result.reason)
