"""The comment for a pull request."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.judging.results import Result, Status
from conformance.operations import OPERATIONS
from conformance.report.markdown import SHOWN, summary
from conformance.report.record import Run, verdict
from tests.conformance.runs import HALF_SPLIT, judged, steps


@pytest.fixture(scope="module")
def faulty() -> Run:
    run = judged("faulty.so", rope_forward=HALF_SPLIT)
    return dataclasses.replace(run, results=[*run.results, *steps()], library="faulty.so")


def lines(run: Run) -> list[str]:
    return "\n".join(summary(run)).splitlines()


def test_it_says_what_a_reader_needs(faulty: Run) -> None:
    found = lines(faulty)
    assert found[0] == f"### {verdict(faulty)}".replace("_", "\\_")
    assert any(line.startswith("| rope |") for line in found)
    assert found[2].startswith("1. **`rope_forward`: matches: half-split pairs**")
    assert any("`python -m conformance run --library faulty.so --case 'rope_forward/" in line for line in found)


def test_tables_have_as_many_cells_in_every_row(faulty: Run) -> None:
    rows = [line for line in lines(faulty) if line.startswith("|")]
    assert len(rows) > 3
    assert {line.count("|") for line in rows} == {5}


def test_the_steps_take_two_lines(faulty: Run) -> None:
    found = lines(faulty)
    start = found.index("**Training steps**")
    assert [line.split(":")[0] for line in found[start + 2 :]] == ["- locked", "- free"]
    assert all("first wrong: `step" in line for line in found[start + 2 :])


def test_many_failures_are_cut_and_named() -> None:
    operations = list(OPERATIONS)[: SHOWN + 3]
    results = [Result(f"{operation}/x/1", operation, Status.FAIL, "a | b\n*c*") for operation in operations]
    found = lines(Run("lib.so", results))
    assert sum(line.startswith("    FAIL") for line in found) == SHOWN
    assert sum(line.startswith("... and 3 more mistakes, of ") for line in found) == 1
    assert "a \\| b \\*c\\*" in "\n".join(found)


def test_a_passing_run_is_short() -> None:
    found = lines(judged("right.so"))
    assert "right.so conforms" in found[0]
    assert not any(line.startswith("1. ") for line in found)
