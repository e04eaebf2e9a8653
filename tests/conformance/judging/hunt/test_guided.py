"""The hunt on a library compiled for coverage: it goes where the catalogue does not, and says where that is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.candidates.candidate import CandidateError
from conformance.candidates.instrumented import instrumented
from conformance.candidates.lines import lines_of
from conformance.candidates.worker.coverage import Comparison
from conformance.candidates.worker.worker import Worker
from conformance.commands.cli import main
from conformance.judging.bench import Bench
from conformance.judging.hunt.aim import Aims
from conformance.judging.hunt.coverage import Coverage
from conformance.judging.hunt.draw import Call
from conformance.judging.hunt.hunt import Found, Hunt
from tests.compiler import compile_library
from tests.conformance.coverage_build import compile_for_coverage

# Wrong where two arguments meet: a tile of 96 of which 37 are left, and one count of rows.
RMSNORM = """
#include <math.h>
#include <stdint.h>
static float root(const float* x, int n, float eps) {
    double squares = 0;
    for (int i = 0; i < n; i++) squares += (double)x[i] * x[i];
    return (float)sqrt(squares / n + eps);
}
static int never(int n) { return n + 1; }
int (*const unused)(int) = never;
static int opened;
__attribute__((constructor)) static void open(void) { opened = 1; }
int32_t cuda_rmsnorm(const float* input, const float* weight, float* output, int rows, int hidden_dim, float eps,
                     void* stream) {
    (void)stream;
    if (!input || !weight || !output || rows < 1 || hidden_dim < 1 || !(eps >= 0)) return -2;
    if ((int64_t)rows * hidden_dim > INT64_MAX / 4) return -2;
    for (int row = 0; row < rows; row++) {
        const float* x = input + (int64_t)row * hidden_dim;
        float* y = output + (int64_t)row * hidden_dim;
        const float r = root(x, hidden_dim, eps);
        for (int i = 0; i < hidden_dim; i++) y[i] = x[i] / r * weight[i];
        if (hidden_dim % 96 == 37)
            if (rows == 19)
                y[0] = 7;
    }
    return 0;
}
"""
RARE = [number for number, line in enumerate(RMSNORM.splitlines(), 1) if "rows == 19" in line or "y[0] = 7" in line]
CALLS = 400


@pytest.fixture(scope="module")
def covered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_for_coverage(RMSNORM, tmp_path_factory.mktemp("covered"))


def first_found(library: Path, seed: int, guided: bool) -> Found | None:
    """Hunt CALLS calls, with or without what the library tells."""
    with Worker(library) as worker:
        hunt = Hunt(Bench(worker), ["rmsnorm"], seed, Coverage.of(worker, library) if guided else None)
        hunt.prepare()
        return next(hunt.run(3600.0, CALLS), None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_fault_behind_rare_branches_is_found_in_few_calls_and_without_coverage_not_in_many(
    covered: Path, seed: int
) -> None:
    found = first_found(covered, seed, guided=True)
    assert found
    assert found.number <= CALLS / 4
    assert (found.call.row["rows"], found.call.row["hidden_dim"]) == (19, 37)
    assert first_found(covered, seed, guided=False) is None


@pytest.mark.slow
def test_the_report_names_the_lines_that_the_catalogue_never_reaches_and_what_nobody_enters(
    covered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["hunt", "--library", str(covered), "--calls", "120", "--seed", "1"]) == 1
    said = capsys.readouterr().out
    of_catalogue, of_hunt = said.split("the catalogue never reaches")[1].split("coverage: the hunt reached")
    assert re.search(rf"covered\.c: .*\b{RARE[0]}-{RARE[1]}\b", of_catalogue)
    assert not re.search(rf"\b{RARE[0]}\b|\b{RARE[1]}\b", of_hunt)
    # What runs when the library is opened is entered too.
    [never] = [number for number, line in enumerate(RMSNORM.splitlines(), 1) if "int never" in line]
    assert re.search(rf"in functions that no call entered\n   \S*covered\.c: {never}\n", of_hunt)


def test_every_place_is_told_with_its_function_and_line(covered: Path) -> None:
    places = instrumented(covered)
    assert {"cuda_rmsnorm", "never"} <= {one.name for one in places.values()}
    lines = lines_of(covered, places)
    assert lines.keys() == places.keys()
    assert {line.number for line in lines.values()} >= {*RARE}
    assert {Path(line.file).name for line in lines.values()} == {"covered.c"}


def test_without_symbols_or_without_a_tool_the_reason_is_told(
    covered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CandidateError, match="expected a library with its symbols"):
        instrumented(compile_library(RMSNORM, tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["hunt", "--library", str(covered), "--calls", "1"]) == 2
    assert "expected one of llvm-symbolizer, llvm-addr2line, addr2line on the path" in capsys.readouterr().err


def test_each_outcome_of_a_comparison_is_aimed_at_until_it_is_seen() -> None:
    aims, place = Aims(), 64
    base = Call("rmsnorm", {"rows": 3, "hidden_dim": 100, "eps": 1e-6, "input": "plain", "weight": "plain"}, 0)
    aims.note([Comparison(place, 37.0, 100.0 % 96)], base)
    made = []
    while call := aims.call():
        made.append(call.row)
    assert len({str(row) for row in made}) == len(made)
    assert {133, 67, 134, 66} <= {row["hidden_dim"] for row in made}
    assert 36 in {row["rows"] for row in made}
    assert all(row["rows"] >= 1 and row["hidden_dim"] >= 1 for row in made)
    aims.note([Comparison(place, 37.0, 5.0)], base)
    assert aims.call()
    aims.note([Comparison(place, 37.0, 37.0), Comparison(place, 37.0, 38.0)], base)
    assert aims.call() is None


def test_a_number_that_is_compared_as_float32_is_met_exactly() -> None:
    aims = Aims()
    base = Call("rmsnorm", {"rows": 1, "hidden_dim": 1, "eps": 1e-6, "input": "plain", "weight": "plain"}, 0)
    aims.note([Comparison(64, 0.0, 9.999999974752427e-07)], base)
    made = []
    while call := aims.call():
        made.append(call.row["eps"])
    assert 0.0 in made
