"""A mutant that computes something else is killed; one that is the same code is no mutant; the others are survivors."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance import launches
from conformance.catalogue.cases import CASES, REFUSALS, SEQUENCES, Case
from conformance.catalogue.prepared import MemoryStore
from conformance.ids import is_designed
from conformance.judging.results import Result, Status
from conformance.proof.faults import FaultError
from conformance.proof.faults.recipes import CLibrary, Kernels
from conformance.proof.mutants import Mutant, failures, own_tests, trial
from conformance.proof.mutants.build import SCRATCH
from conformance.proof.mutants.equivalents import Equivalent, Equivalents
from conformance.proof.mutants.failures import AnyCase, Failures
from conformance.proof.mutants.library import Library
from conformance.proof.mutants.patience import Allowance
from conformance.proof.mutants.record import Trial, Verdict
from conformance.proof.mutants.trial import History, Judge, Looks, first_look, is_small, second_look, spread

Made = Callable[[str, str, str], Mutant]


@pytest.fixture
def judge(library: Library) -> Iterator[Judge]:
    return Judge(library, MemoryStore(), History())


def test_a_wrong_number_is_killed_by_a_case_of_its_operation(judge: Judge, mutant: Made) -> None:
    found = judge.trial(mutant("vector/elementwise.c", "y[i] = a[i] * b[i];", "y[i] = a[i] + b[i];"))
    assert found.verdict is Verdict.KILLED
    assert CASES[found.by].operation == "mul"
    assert "beyond their limit" in found.said
    assert found.counts


def test_a_call_that_is_no_longer_refused_is_killed(judge: Judge, mutant: Made) -> None:
    found = judge.trial(mutant("softmax.c", "CHECK(k >= 1 && k <= cols);", ";"))
    assert (found.verdict, found.by.split("/")[1]) == (Verdict.KILLED, "refused")


def test_a_call_that_never_ends_is_killed(library: Library, mutant: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "LIMIT_S", 1.0)
    endless = mutant("vector/elementwise.c", "y[i] = a[i] * b[i];", "for (volatile int j = 0; j < 1;) continue;")
    found = Judge(library, MemoryStore(), History()).trial(endless)
    assert found.verdict is Verdict.KILLED
    assert re.fullmatch(r"no answer in [\d.]+ s in run 1, buffers ending at guard zones", found.said)


def test_a_library_that_cannot_be_opened_is_killed(judge: Judge, mutant: Made) -> None:
    found = judge.trial(mutant("runtime.c", "*version = ASSAYER_VERSION;", "*version = ASSAYER_VERSION + 1;"))
    assert (found.verdict, found.by) == (Verdict.KILLED, "opening")


@pytest.mark.parametrize(
    ("file", "old", "new", "verdict"),
    [
        ("vector/elementwise.c", "y[i] = a[i] * b[i];", "y[i] = (a[i] * b[i]) * 1;", Verdict.SAME),
        ("vector/elementwise.c", "y[i] = a[i] * b[i];", "y[i] = a[i] * nowhere[i];", Verdict.REFUSED),
        ("vector/elementwise.c", "y[i] = a[i] * b[i];", "y[i] = nobody(a[i]);", Verdict.REFUSED),
    ],
)
def test_what_is_no_mutant_does_not_count(
    judge: Judge, mutant: Made, file: str, old: str, new: str, verdict: Verdict
) -> None:
    found = judge.trial(mutant(file, old, new))
    assert (found.verdict, found.counts) == (verdict, False)


@pytest.mark.slow
def test_what_only_an_optimiser_sees_to_be_the_same_is_no_mutant(judge: Judge, library: Library, mutant: Made) -> None:
    line = "for (int64_t i = 0; i < rows; i++) {"
    found = judge.trial(mutant("moe.c", line, f"{line} if (i < 0) break;"))
    assert (found.verdict, bool(found.code)) == (Verdict.SAME, True)


def test_the_same_code_is_judged_once(judge: Judge, mutant: Made) -> None:
    first = judge.trial(mutant("vector/elementwise.c", "y[i] = a[i] * b[i];", "y[i] = a[i] - b[i];"))
    again = judge.trial(mutant("vector/elementwise.c", "y[i] = a[i] * b[i];", "y[i] = a[i] - (b[i]);"))
    assert (first.verdict, again.verdict, again.counts) == (Verdict.KILLED, Verdict.REPEATED, False)
    assert first.code == again.code


@pytest.mark.slow
def test_what_no_case_tells_apart_survives(judge: Judge, mutant: Made) -> None:
    found = judge.trial(
        mutant("elementwise.c", "v->mul(length, a + at", "at[b] == 0.1f ? (void)0 : v->mul(length, a + at")
    )
    assert found.verdict is Verdict.SURVIVED
    cases = sum(case.operation == "mul" for case in CASES.values())
    assert int(found.said.removesuffix(" cases")) > cases


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "by"),
    [
        ("aux_loss.c", "e < n; e++) sums[e] = 0;", "e <= n; e++) sums[e] = 0;", "aux_loss_forward/"),
        ("runtime.c", "8 * (int64_t)sizeof(float)", "8 / (int64_t)sizeof(float)", "tests/c"),
        (
            "aux_loss.c",
            "return scratch.memory ? ASSAYER_OK :",
            "return true ? ASSAYER_OK :",
            "tests/c",
        ),
    ],
    ids=["past its memory", "a service", "no memory"],
)
def test_a_second_look_kills_what_no_case_tells_apart(
    judge: Judge, mutant: Made, file: str, old: str, new: str, by: str
) -> None:
    found = judge.trial(mutant(file, old, new))
    assert (found.verdict, found.by[: len(by)]) == (Verdict.KILLED, by)


def test_without_a_second_look_it_is_only_said_to_be_due(library: Library, mutant: Made) -> None:
    one = mutant("aux_loss.c", "e < n; e++) sums[e] = 0;", "e <= n; e++) sums[e] = 0;")
    found = Judge(library, MemoryStore(), History(), is_brief=True).trial(one)
    assert (found.verdict, found.counts) == (Verdict.PASSED, True)


def test_a_survivor_says_for_what_there_was_no_time(
    library: Library, mutant: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hurried(self: Failures, build: object, cases: list[AnyCase], *rest: object) -> None:
        allowance = rest[-1]
        assert isinstance(allowance, Allowance)
        allowance.left_out.add(cases[-1].id)

    monkeypatch.setattr(Failures, "of_cases", lambda *_: None)
    monkeypatch.setattr(Failures, "of_a_second_look", hurried)
    found = Judge(library, MemoryStore(), History()).trial(mutant("softmax.c", "CHECK(k >= 1 && k <= cols);", ";"))
    assert found.verdict is Verdict.SURVIVED
    assert re.search(r"\d+ cases, 1 of these not in every setting", found.said)


@pytest.mark.parametrize(
    ("of_mutant", "as_it_is", "status", "said"),
    [
        ("right", "right", None, ""),
        ("wrong", "right", Status.FAIL, "got softmax_kernel<L> <<<9, 32>>>"),
        ("wrong", "wrong", None, ""),
        ("dead", "right", Status.CRASHED, "no answer"),
    ],
    ids=["as the table says", "another grid", "another one without the mutant, too", "no answer"],
)
def test_another_kernel_or_grid_than_the_table_says_fails(
    of_mutant: str,
    as_it_is: str,
    status: Status | None,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    table, asked = launches.read(), set[str]()

    def plans(library: Path, ids: list[str], processes: int) -> launches.Plans:
        asked.update(map(launches.operation_of, ids))
        if library.name == "dead":
            raise launches.PlansError("no answer")
        wrong = {id: dict.fromkeys(table[id], ("softmax_kernel<L> <<<9, 32>>>",)) for id in ids[:1]}
        return {id: table[id] for id in ids} | (wrong if library.name == "wrong" else {})

    monkeypatch.setattr(launches, "plans", plans)
    monkeypatch.setattr(Failures, "_in_other_orders", lambda *_: None)
    kernels = Library(Kernels("fast"), tmp_path)
    build = kernels.uncompiled(Mutant("softmax.cu", 1, "", "", ""), tmp_path / "one")
    build = replace(build, operations=frozenset({"softmax"}))
    links = SimpleNamespace(link=lambda build: tmp_path / (of_mutant if build.changed else as_it_is))
    found = Failures(kernels, MemoryStore()).of_a_second_look(build, [], (), links)
    assert asked == {"softmax"}
    assert (found and found.status) is status
    assert said in (found.reason if found else "")


def test_own_tests_are_asked_of_the_sources_that_they_are_about() -> None:
    asked = {file: [tests.name for tests in own_tests.C if tests.looks_at(file)] for file in ("simd.c", "moe.c")}
    assert "tests/c/test_services.py" in asked["moe.c"]
    assert {*asked["simd.c"]} - {*asked["moe.c"]} == {"tests/c/test_first_calls.py"}
    files = {file for tests in own_tests.C for file in tests.sources}
    assert files <= CLibrary().read().keys()
    assert {file for tests in own_tests.KERNELS for file in tests.sources} <= Library(Kernels("fast")).sources.keys()
    assert own_tests.texts()


def test_kernels_are_built_file_by_file_and_looked_at_again_as_a_whole() -> None:
    kernels = Library(Kernels("fast"))
    line = kernels.sources["rows.cuh"].split("\n").index("    int cols;") + 1
    groups = kernels.groups(Mutant("rows.cuh", line, "", "int cols;", "int rows;"))
    [softmax] = [some for some in groups if "softmax" in some]
    assert {"softmax_backward", "softmax"} <= softmax
    assert "rmsnorm" not in softmax
    assert len(groups) > 3


@pytest.mark.slow
def test_what_many_include_affects_those_whose_units_change(library: Library, mutant: Made, tmp_path: Path) -> None:
    [build] = library.builds(mutant("simd.h", "scale[NORM_COLUMNS]", "scale[NORM_COLUMNS - 1]"), tmp_path)
    assert build.changed == {"batchnorm.c", "batchnorm_backward.c", "vector/batchnorm.c"}
    assert {"batchnorm_training", "batchnorm_backward"} <= build.operations
    assert "softmax" not in build.operations


@pytest.mark.slow
def test_the_library_as_it_is_passes_a_second_look(library: Library, mutant: Made, tmp_path: Path) -> None:
    one = mutant("softmax.c", "CHECK(k >= 1 && k <= cols);", ";")
    [build] = library.builds(one, tmp_path)
    whole = replace(build, changed=frozenset({*build.units} - {SCRATCH}), mutated=library.sources)
    failures = Failures(library, MemoryStore())
    cases = [case for case in CASES.values() if case.operation in {"softmax_topk", "topp_sample", "aux_loss_forward"}]
    assert failures.of_cases(whole, cases[:1]) is None
    assert failures.of_a_second_look(whole, cases) is None
    allowance = Allowance(0)
    assert failures.of_a_second_look(whole, cases, allowance=allowance) is None
    assert allowance.left_out == {case.id for case in cases}


def test_of_a_mutant_that_is_proved_equivalent_few_cases_are_asked(
    library: Library, mutant: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = mutant("elementwise.c", "v->mul(length, a + at", "at[b] == 0.1f ? (void)0 : v->mul(length, a + at")
    proof = Equivalent("cuda/src/elementwise.c", "cuda_mul", one.before, one.after, "No element of b is 0.1f.")
    asked: list[int] = []

    def of_cases(self: Failures, build: object, cases: list[object]) -> None:
        asked.append(len(cases))

    monkeypatch.setattr(trial, "ON_THE_HOST", Looks(6, 6, proved=3))
    monkeypatch.setattr(Failures, "of_cases", of_cases)
    monkeypatch.setattr(Failures, "of_a_second_look", lambda *_: pytest.fail("a second look"))
    found = Judge(library, MemoryStore(), History(), proofs=Equivalents([proof])).trial(one)
    assert (found.verdict, asked) == (Verdict.SURVIVED, [3])


@pytest.mark.parametrize("rest", ["", "0" * 64], ids=["killed", "passed, and killed in another part"])
def test_what_an_earlier_run_judged_is_not_judged_again(
    library: Library, judge: Judge, mutant: Made, rest: str
) -> None:
    one = mutant("vector/elementwise.c", "y[i] = a[i] * b[i];", "y[i] = a[i] - b[i];")
    first = judge.trial(one)
    again = Judge(library, MemoryStore(), History(), {first.code + rest: Verdict.KILLED}).trial(one)
    assert (first.verdict, again.verdict) == (Verdict.KILLED, Verdict.REPEATED)


def test_a_case_that_the_library_as_it_is_fails_kills_nothing(
    library: Library, mutant: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, wrong = Failures._judged, "mul/plain/"

    def judged(self: Failures, case: AnyCase, *rest: object) -> Result:
        return Result(case.id, "mul", Status.FAIL, "") if case.id.startswith(wrong) else right(self, case, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Failures, "_judged", judged)
    one = mutant("vector/elementwise.c", "y[i] = a[i] * b[i];", "y[i] = a[i] + b[i];")
    found = Judge(library, MemoryStore(), History()).trial(one)
    assert (found.verdict, found.by.startswith(wrong)) == (Verdict.KILLED, False)


def test_designed_cases_are_asked_too(judge: Judge, library: Library) -> None:
    number = library.sources["clip.c"].split("\n").index("    sum_squares_out[0] = (float)total;")
    line = "if (total < 0) return ASSAYER_NO_MEMORY;"
    found = judge.trial(Mutant("clip.c", number, "0 ==> 1", line, line.replace("0", "1")))
    assert (found.verdict, is_designed(found.by)) == (Verdict.KILLED, True)


def test_of_many_cases_a_second_look_takes_the_extremes_of_each_operation() -> None:
    cases = [case for case in CASES.values() if case.operation in {"mul", "softmax"}]
    plain = [case for case in cases if case.data == "plain"]
    chosen = list(spread(plain, 6))
    assert [case.operation for case in chosen] == ["mul", "softmax"] * 3
    sizes = [math.prod(case.sizes.values()) for case in chosen[::2]]
    assert sizes[0] > sizes[2] > sizes[1] == 1
    assert sorted(case.id for case in spread(cases, 10**6)) == sorted(case.id for case in cases)


def test_of_an_operation_a_second_look_takes_each_data_set() -> None:
    cases = [case for case in CASES.values() if case.operation == "gemm_bf16"]
    data_sets = {case.data for case in cases}
    chosen = list(spread(cases, len(data_sets)))
    assert {case.data for case in chosen if isinstance(case, Case)} == data_sets
    assert {"plain", "subnormal", "special"} <= data_sets


def test_of_an_operation_with_several_functions_a_second_look_takes_each() -> None:
    cases = [case for case in CASES.values() if case.operation == "zip_strided"]
    functions = {case.sizes["function"] for case in cases}
    chosen = list(spread(cases, len(functions)))
    assert {case.sizes["function"] for case in chosen if isinstance(case, Case)} == functions
    assert len(functions) > 10


def test_half_of_a_first_look_is_of_the_likeliest_and_half_of_each_operation() -> None:
    cases = History().ordered("", (case for case in CASES.values() if case.operation in {"mul", "softmax"}))
    small = {case.id for case in cases if is_small(case)}
    chosen = first_look(cases, small, 7)
    assert chosen[:4] == cases[:4]
    assert {case.operation for case in chosen[4:6]} == {"mul", "softmax"}
    assert len({case.id for case in chosen}) == 7
    assert {case.id for case in chosen[4:]} <= small < {case.id for case in cases}
    assert not any(map(is_small, SEQUENCES.values()))


def test_what_checks_arguments_is_asked_all_calls_that_are_to_be_refused() -> None:
    cases = [*CASES.of("softmax_topk").values(), *REFUSALS.of("softmax_topk").values()]
    chosen = first_look(cases, {case.id for case in cases}, 4, is_check=True)
    assert chosen[:4] == first_look(cases, {case.id for case in cases}, 4)
    assert len({case.id for case in chosen}) == len(chosen)
    assert {*REFUSALS.of("softmax_topk")} <= {case.id for case in chosen}


def test_a_second_look_is_at_every_way_in_which_strided_tensors_lie() -> None:
    cases = [*CASES.of("map_strided").values()]
    chosen = [case for case in second_look(cases, 120) if isinstance(case, Case)]
    assert len({case.id for case in chosen}) == len(chosen) <= 240
    turned = [case for case in chosen if case.sizes["shape"] == (65, 40) and case.sizes["input_strides"][0] == 1]
    assert turned


def test_cases_that_killed_come_first(mutant: Made) -> None:
    one = mutant("vector/elementwise.c", "y[i] = a[i] * b[i];", "y[i] = a[i] + b[i];")
    cases = [case for case in CASES.values() if case.operation == "mul"]
    last = History().ordered("mul", cases)[-1]
    known = History([("mul", Trial(one, Verdict.KILLED, last.id)), ("mul", Trial(one, Verdict.SURVIVED))])
    assert known.ordered("mul", cases)[0] == last
    assert known.ordered("elsewhere", cases)[0] == last


def test_a_missing_compiler_is_an_error(judge: Judge, mutant: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(FaultError, match="expected a compiler"):
        judge.trial(mutant("vector/elementwise.c", "y[i] = a[i] * b[i];", "y[i] = a[i] + b[i];"))


def test_what_killed_a_mutant_under_an_earlier_judge_is_asked_first() -> None:
    cases = list(CASES.of("mul").values())
    often, once = cases[-1].id, cases[-2].id
    one, other = (Mutant("vector/elementwise.c", line, "", "y[i] = a[i];", "y[i] = 0;") for line in (1, 2))
    history = History([("mul", Trial(one, Verdict.KILLED, once)), *[("mul", Trial(other, Verdict.KILLED, often))] * 2])
    assert [case.id for case in history.ordered("mul", cases)[:2]] == [often, once]
    assert [case.id for case in history.ordered("mul", cases, one.id)[:2]] == [once, often]
