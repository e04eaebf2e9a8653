"""The table of steps: every record says what it is for, and what reads it shows that and nothing else."""

from __future__ import annotations

import pytest

from conformance.commands.cli import main
from conformance.commands.selection import CALLS_A_STEP, Keywords, select
from conformance.steps import ENVELOPES, STEP_CASES, STEPS, WHOLE


@pytest.mark.parametrize("name", STEPS)
def test_explain_says_what_the_record_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    case = STEP_CASES[name]
    assert main(["explain", name]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"why {case.why} data {case.data} run" in said


def test_no_two_explain_alike_but_those_of_one_kind() -> None:
    kinds = {name.partition("/")[2].partition("-")[0] for name in STEPS}
    assert len({case.why for case in STEP_CASES.values()}) == len(kinds)


def test_what_is_claimed_of_steps_as_a_whole() -> None:
    assert {name for name, case in STEP_CASES.items() if case.claim} == {*WHOLE} - ENVELOPES.keys()


def test_the_calls_of_locked_and_free_steps_are_counted() -> None:
    assert select(Keywords("steps/free or step1/locked")).expected == 4 * CALLS_A_STEP
    assert select(Keywords("steps/recomputed")).expected == 0
