"""The hunt draws calls in a row: a fault that no call shows alone is found, shrunk, and kept in a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import SEQUENCES
from conformance.catalogue.cases.sequences import Way
from conformance.commands.cli import main
from conformance.judging.bench import Bench
from conformance.judging.hunt.draw import Call, Draw
from conformance.judging.hunt.files import SequenceError, read_steps, write_steps
from conformance.judging.hunt.sequence import Step, Steps, draw_steps, refusals_of
from conformance.judging.hunt.shrink import shrunk_steps
from conformance.judging.results import Status
from conformance.judging.sequences import judge_sequence
from tests.compiler import compile_library

# Two calls in a row of one size above 300: the second gives the results of the first.
SILU = """
#include <math.h>
#include <stdint.h>
#include <string.h>
static float kept[1 << 20];
static int64_t last;
int32_t cuda_silu(const float* input, float* output, int64_t n, void* stream) {
    (void)stream;
    if (!input || !output || n < 1 || n > INT64_MAX / 4) return -2;
    if (n == last && n > 300) {
        memcpy(output, kept, (size_t)n * sizeof(float));
        return 0;
    }
    for (int64_t i = 0; i < n; i++) output[i] = input[i] / (1.0f + expf(-input[i]));
    if (n <= 1 << 20) memcpy(kept, output, (size_t)n * sizeof(float)), last = n;
    return 0;
}
"""


@pytest.fixture(scope="module")
def silu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_library(SILU, tmp_path_factory.mktemp("silu"))


def call(n: int, seed: int = 5) -> Call:
    return Call("silu", {"n": n, "input": "plain"}, seed)


def test_no_sequence_of_the_catalogue_shows_what_the_hunt_is_after(silu: Path) -> None:
    in_a_row = [each for each in SEQUENCES.of("silu").values() if each.way is not Way.AT_ONCE]
    with Worker(silu) as worker:
        results = [judge_sequence(each, Bench(worker)) for each in in_a_row]
    assert {result.status for result in results} == {Status.PASS}


@pytest.mark.slow
def test_a_fault_that_the_second_of_two_calls_shows_is_found_shrunk_and_kept(
    silu: Path, stub_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    options = ("--minutes", "60", "--calls", "600", "--seed", "2", "--keep", str(kept))
    assert main(["hunt", "--library", str(silu), "-o", "silu", *options]) == 1
    said = capsys.readouterr().out
    assert "silu: keeps something from one call to the next: call 2 of 2" in said
    [file] = kept.glob("*/sequence.json")
    assert f"hunt --library {silu} --sequence {file}" in said
    first, second = read_steps(file)
    assert first.call.row == second.call.row
    assert 300 < first.call.row["n"] <= 511
    assert first.call.seed != second.call.seed
    assert main(["hunt", "--library", str(silu), "--sequence", str(file)]) == 1
    assert "silu: FAIL: keeps something" in capsys.readouterr().out
    assert main(["hunt", "--library", str(stub_path), "--sequence", str(file)]) == 0
    assert "silu: PASS" in capsys.readouterr().out


def test_a_seed_draws_the_same_sequences_of_two_sizes_that_end_with_a_good_call() -> None:
    first, second = Draw("rmsnorm", 5), Draw("rmsnorm", 5)
    drawn = [draw_steps(first) for _ in range(30)]
    assert drawn == [draw_steps(second) for _ in range(30)]
    assert all(len({str(step.call.row) for step in steps}) <= 2 for steps in drawn)
    assert not any(steps[-1].refusal for steps in drawn)
    every = [step for steps in drawn for step in steps]
    assert any(step.refusal for step in every)
    assert {step.run for step in every} == {1, 2}


def test_of_a_sequence_the_fewest_and_plainest_calls_are_kept() -> None:
    refused = next(iter(refusals_of(call(77))))
    steps = (Step(call(900)), Step(call(77), run=2), Step(call(900)), Step(call(77), 2, refused), Step(call(900, 6)))

    def fails(some: Steps) -> bool:
        return any(step.refusal for step in some) and some[-1].call.row["n"] > 500

    smallest, made = shrunk_steps(steps, fails, 100)
    assert smallest == (Step(call(1), refusal=refused), Step(call(501, 6)))
    assert made <= 100
    assert shrunk_steps(steps, lambda some: True, 2)[1] == 2


def test_a_file_that_holds_no_sequence_is_refused_with_the_reason(
    tmp_path: Path, silu: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    write_steps(good, (Step(call(400)), Step(call(400, 6), 2)))
    with pytest.raises(FileExistsError):
        write_steps(good, (Step(call(1)),))
    held = json.loads(good.read_text())
    wrong = {
        "a sequence that `hunt --keep` wrote": [],
        "one of the header's operations": {**held, "operation": "silly"},
        "a list of one call or more": {**held, "calls": []},
        "refusal, row, run, seed": {**held, "calls": [{"row": {}}]},
        "the factors n, input": {**held, "calls": [{**held["calls"][0], "row": {"n": 1}}]},
        "a call that the header allows": {**held, "calls": [{**held["calls"][0], "row": {"n": 0.5, "input": "plain"}}]},
        "as refusal": {**held, "calls": [{**held["calls"][0], "refusal": "nothing"}]},
    }
    for expected, content in wrong.items():
        bad.write_text(json.dumps(content))
        with pytest.raises(SequenceError, match=f"bad.json.*: expected .*{expected}"):
            read_steps(bad)
    assert main(["hunt", "--library", str(silu), "--sequence", str(bad)]) == 2
    assert "as refusal, got 'nothing'" in capsys.readouterr().err
