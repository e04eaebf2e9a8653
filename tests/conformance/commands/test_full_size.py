"""Calls at full size and designed cases in a run: on an emulated device chosen by their name, and by nothing else."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bindings import Facts
from conformance.catalogue.full import FULL
from conformance.catalogue.keywords import Keywords
from conformance.commands.cli import main
from conformance.commands.run.judgement import Judgement
from conformance.commands.selection import Selection, is_counted, is_large_design, select
from conformance.ids import is_designed, is_full, is_many_long, is_of_many, is_without_memory, operation_of


def test_they_are_chosen_like_any_other_case() -> None:
    assert select(Keywords("full")).cases == tuple(FULL)
    assert select(Keywords(), ["full/gemm"]).cases == ("full/gemm",)
    assert "full/gemm" in select(Keywords(), (), ["gemm"]).cases
    assert not any(is_full(id) for id in select(Keywords("not full")).cases)
    assert not is_counted("full/gemm")


def _reach(selection: Selection, emulated: bool, schedule: str = "") -> tuple[Selection, list[str]]:
    judgement: Any = object.__new__(Judgement)
    judgement.absent = ()
    judgement.candidate = SimpleNamespace(module=None, compiled=None, facts=Facts(emulated=emulated), schedule=schedule)
    found: tuple[Selection, list[str]] = judgement._within_reach(selection)
    return found


def test_on_an_emulated_device_they_wait_until_they_are_asked_for() -> None:
    gemm = select(Keywords("gemm and not bf16 and not grouped"))
    rest, said = _reach(gemm, emulated=True)
    assert not any(map(is_full, rest.cases))
    small = sum(map(is_designed, rest.cases))
    full, by_design = (sum(map(kind, gemm.cases)) for kind in (is_full, is_designed))
    assert 0 < small < by_design
    full_ones = f"not run: {full} calls at full size, slow on an emulated device; -k full --limit 120 judges them"
    large = (
        f"not run: {by_design - small} large designed cases of products, slow on an emulated device; "
        "-k designed judges them"
    )
    without, long = (sum(map(kind, gemm.cases)) for kind in (is_without_memory, is_many_long))
    assert without == long > 0
    assert not any(map(is_many_long, rest.cases))
    assert sum(map(is_without_memory, rest.cases)) == without
    long_ones = f"not run: {long} long calls again and again, slow on an emulated device; -k many_long judges them"
    assert said == [full_ones, long_ones, large]
    assert _reach(gemm, emulated=True, schedule="forward") == (rest, said)
    others, said = _reach(gemm, emulated=True, schedule="random:3")
    assert not any(map(is_designed, others.cases))
    assert said == [
        full_ones,
        long_ones,
        f"not run: {by_design} designed cases in a further order of threads, slow on an emulated device; "
        "-k designed judges them",
        f"not run: {without} calls without memory in a further order of threads, slow on an emulated device; "
        "-k without_memory judges them",
    ]
    assert _reach(gemm, emulated=False) == (gemm, [])
    grouped = select(Keywords("grouped_gemm_tn/refused or embedding/refused"))
    refused = [id for id in grouped.cases if is_of_many(id)]
    assert sorted(map(operation_of, refused)) == ["embedding", "grouped_gemm_tn"]
    asked = "slow on an emulated device; -k of_many --limit 300 judges"
    rest, said = _reach(grouped, emulated=True)
    assert set(grouped.cases) - set(rest.cases) == {id for id in refused if operation_of(id) == "grouped_gemm_tn"}
    assert said == [f"not run: 1 refusal of a product of many experts, {asked} them"]
    rest, said = _reach(grouped, emulated=True, schedule="random:3")
    assert set(grouped.cases) - set(rest.cases) == set(refused)
    assert said == [f"not run: 2 refusals for one of many entries, {asked} them"]
    asked_for = [select(Keywords(words)) for words in ("full and gemm", "designed and add", "many_long and gemm")]
    for asked in (*asked_for, select(Keywords(), ["full/gemm"])):
        assert _reach(asked, emulated=True) == (asked, [])
    none = select(Keywords("rmsnorm/plain"))
    assert _reach(none, emulated=True) == (none, [])


def test_designed_cases_that_multiply_nothing_wait_for_a_sanitiser_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    softmax = select(Keywords("softmax/"))
    rest, said = _reach(softmax, emulated=True)
    assert sum(map(is_designed, rest.cases)) == sum(map(is_designed, softmax.cases)) > 0
    assert [line for line in said if "designed" in line] == []
    monkeypatch.setenv("ASSAYER_PRELOAD", "thread")
    watched, said = _reach(softmax, emulated=True)
    large = [id for id in softmax.cases if is_large_design(id)]
    assert set(rest.cases) - set(watched.cases) == set(large)
    assert large
    assert f"not run: {len(large)} large designed cases, slow on an emulated device; -k designed judges them" in said


def test_a_run_judges_them_and_says_how_long_each_took(stub_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = ["full/softmax_topk", "full/clip_scale", "full/expert_sort"]
    cases = [part for id in ids for part in ("--case", id)]
    assert main(["run", "--library", str(stub_path), *cases, "--durations", "3"]) == 0
    out = capsys.readouterr().out
    assert "3 cases" in out
    assert "0.000 s  full/softmax_topk" not in out
