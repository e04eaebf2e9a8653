"""Sizes that are declared not to be supported: refused there, a call is set apart; anywhere else it fails as ever."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference
from conformance import operations
from conformance.candidates.exports import missing
from conformance.candidates.finding import Finding, Misdeed
from conformance.candidates.worker.outcome import Outcome
from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import CASES, REFUSALS, SEQUENCES
from conformance.catalogue.full import FULL
from conformance.commands.cli import main
from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.judging.bench import Bench
from conformance.judging.full import judge_full
from conformance.judging.probes import judge_probe
from conformance.judging.results import Result, Status, exit_code
from conformance.judging.sequences import judge_sequence
from conformance.limits import HEADER, Contract, ContractError, read_contract
from conformance.limits.supports import Condition
from conformance.report.record import Run, verdict
from conformance.report.summary import rows
from conformance.steps import FREE, RECOMPUTED, judge_step
from conformance.steps.sizes import sizes_of
from tests.compiler import compile_library
from tests.conformance.runs import InProcess

CONDITION = "hidden_dim % 8 == 0"
EIGHTS = Contract("mine", changes=(("rmsnorm", (("supports", CONDITION),)),))
INSIDE, OUTSIDE = "rmsnorm/plain/64x64x1e-06", "rmsnorm/plain/2x33x1e-06"
SOURCE = Path(__file__).with_name("sizes.c")


# ---- the condition -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "met", "missed"),
    [
        ("n % 8 == 0", {"n": 16}, {"n": 17}),
        ("n % 8 == 0 and k <= 128", {"n": 8, "k": 128}, {"n": 8, "k": 129}),
        ("n in (64, 128) or not k > 3", {"n": 5, "k": 3}, {"n": 5, "k": 4}),
        ("n not in [1, 2]", {"n": 3}, {"n": 2}),
        ("1 < n <= 2 * k + 1", {"n": 5, "k": 2}, {"n": 6, "k": 2}),
        ("n / k == 4 and n // k != 5", {"n": 9, "k": 2}, {"n": 8, "k": 1}),
        ("-n < -3", {"n": 4}, {"n": 3}),
        ("n % k == 1", {"n": 4, "k": 0}, {"n": 4, "k": 2}),  # what has no value asks for nothing
    ],
)
def test_a_condition_holds_of_some_sizes(text: str, met: Mapping[str, int], missed: Mapping[str, int]) -> None:
    condition = Condition.read(text)
    assert condition.holds(met)
    assert not condition.holds(missed)
    assert set(condition.names) == set(met)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "n",
            "n + 1",
            "8",
            "True",
            "n = 8",
            "n == 8.0",
            "n == '8'",
            "n ** 9 > 2",
            "f(n) == 1",
            "n.bit_length() > 3",
        ),
        *(
            "n[0] == 1",
            "n is 8",
            "lambda: 1",
            "n if n else n",
            "(n := 3) == 3",
            "n in 64",
            "n in range(9)",
            "n & 7 == 0",
        ),
        *("__import__('os')", "n == 8; n", "n " * 400, "(" * 400, "-" * 400 + "n > 1" * 300, "n > 1 and n"),
    ],
)
def test_anything_else_is_no_condition(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected a condition on sizes, such as .*, got "):
        Condition(text)


# ---- the file ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[operations.rmsnorm]\nsupports = "hiden_dim > 1"', "no size hiden_dim; expected one of rows, hidden_dim"),
        ('[operations."gemm*"]\nsupports = "hidden_dim > 1"', "gemm has no size hidden_dim; expected one of M, K, N"),
        ('[operations.clip_scale]\nsupports = "n > 1"', "clip_scale has no size n; expected one of none"),
        ("[operations.rmsnorm]\nsupports = 8", "supports: expected a condition on sizes as text, got 8"),
        ('[operations.rmsnorm]\nsupports = "rows"', "expected a condition on sizes, such as hidden_dim % 8 == 0"),
        ('supports = "rows > 1"', "supports: expected in a table of operations"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ContractError) as error:
        read_contract(str(path))
    assert said in str(error.value)


def test_sizes_change_no_limit(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'[operations."rmsnorm*"]\nsupports = "{CONDITION}"\n')
    mine = read_contract(str(path))
    assert mine.is_header
    assert mine.of("rmsnorm_bf16").supports == CONDITION
    assert str(mine.of("rmsnorm")) == f"supports {CONDITION}"
    assert mine.of("rmsnorm").arithmetic == HEADER.of("rmsnorm").arithmetic


def test_sizes_of_a_call_are_the_header_s() -> None:
    case = next(case for case in CASES.values() if case.operation == "attention_forward")
    found = operations.sizes("attention_forward", case.arguments())
    assert tuple(found) == operations.size_names("attention_forward")
    assert found["head_dim"] == case.arguments()["Q"].shape[3]


# ---- one call ----------------------------------------------------------------------------------------------------
class Refusing(InProcess):
    """A library that refuses calls of rmsnorm at some lengths of rows, and computes the others, rightly or not."""

    def __init__(self, refuses: Any, code: int = -4, **wrong: Any) -> None:
        super().__init__(**wrong)
        self.refuses, self.code = refuses, code
        self.findings: list[Finding] = []

    def run(self, operation: str, arguments: dict[str, Any], override: Any = None) -> Outcome:
        if operation == "rmsnorm" and self.refuses(arguments["input"].shape[1]):
            return Outcome("done", self.code, findings=list(self.findings))
        return super().run(operation, arguments, override)

    def call(self, function: Any, *arguments: Any) -> Outcome:
        assert function is missing, "a step was begun"
        return Outcome("done", value=[])


def judged(id: str, worker: Any, declared: Contract = EIGHTS) -> Result:
    return Bench(worker, declared=declared).case(CASES.get(id) or REFUSALS[id])


ODD = Refusing(lambda width: width % 8)


def test_a_call_outside_that_is_refused_is_not_supported_as_declared() -> None:
    result = judged(OUTSIDE, ODD)
    assert result.status is Status.NOT_SUPPORTED
    assert result.reason == "rmsnorm is declared to support hidden_dim % 8 == 0; here hidden_dim = 33"
    assert judged(INSIDE, ODD).status is Status.PASS


def test_it_fails_where_nothing_is_declared_and_within_what_is() -> None:
    assert judged(OUTSIDE, ODD, HEADER).reason.startswith("returned -4: ASSAYER_UNSUPPORTED")
    inside = judged(INSIDE, Refusing(lambda width: True))
    assert (inside.status, inside.reason.partition(":")[0]) == (Status.FAIL, "returned -4")


def test_another_code_is_no_such_refusal() -> None:
    assert judged(OUTSIDE, Refusing(lambda width: width % 8, code=-2)).status is Status.FAIL


def test_a_refusal_that_has_written_something_fails() -> None:
    wrote = Refusing(lambda width: width % 8)
    wrote.findings = [Finding(Misdeed.WROTE_REFUSED, "returned -4 and wrote output at [3]")]
    assert judged(OUTSIDE, wrote).status is Status.FAIL


def test_what_is_computed_outside_is_judged() -> None:
    assert judged(OUTSIDE, InProcess()).status is Status.PASS
    wrong = InProcess(rmsnorm=lambda **a: reference.rmsnorm(**a) * np.float32(1.001))
    assert judged(OUTSIDE, wrong).status is Status.FAIL


def test_probes_and_full_sizes_are_set_apart_too() -> None:
    every = Refusing(lambda width: True)
    assert judge_probe("probe/rmsnorm/output", Bench(every, declared=EIGHTS)).status is Status.NOT_SUPPORTED
    short = Contract("mine", changes=(("rmsnorm", (("supports", "rows <= 64"),)),))
    full = judge_full(
        next(id for id in FULL if id.startswith("full/rmsnorm") and "_" not in id), Bench(every, declared=short)
    )
    assert full.status is Status.NOT_SUPPORTED


# ---- training steps ----------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("step", [FREE, RECOMPUTED])
def test_a_step_that_needs_such_sizes_is_not_begun(step: str) -> None:
    declared = Contract("mine", changes=(("rmsnorm", (("supports", "hidden_dim > 4096"),)),))
    [result] = judge_step(step, Bench(ODD, declared=declared))
    assert result.status is Status.NOT_SUPPORTED
    assert result.reason.startswith(
        "needs a call that is not supported: rmsnorm is declared to support hidden_dim > 4096"
    )


def test_every_whole_step_s_sizes_are_known() -> None:
    for step in (FREE, RECOMPUTED, "steps/divided", "steps/resident", "step/envelope", "step/envelope-bf16"):
        named = {operation for operation, _ in sizes_of(step)}
        assert len(named) > 10, step
        assert all(dict(sizes) for operation, sizes in sizes_of(step) if operation.startswith("rmsnorm"))
    assert sizes_of("step1/locked") == ()


def test_of_a_locked_step_each_call_is_judged_by_itself() -> None:
    declared = Contract("mine", changes=(("rmsnorm*", (("supports", "hidden_dim > 4096"),)),))
    results = judge_step("step1/locked", Bench(Refusing(lambda width: True), declared=declared))
    beyond = [result.operation for result in results if result.status is Status.NOT_SUPPORTED]
    assert set(beyond) == {"rmsnorm"}
    others = {result.operation: result.status for result in results if result.operation != "rmsnorm"}
    assert others["gemm"] is others["swiglu"] is Status.PASS


# ---- a whole run -------------------------------------------------------------------------------------------------
def test_nothing_but_what_is_not_supported_is_no_verdict() -> None:
    beyond = Result("rmsnorm/plain/1", "rmsnorm", Status.NOT_SUPPORTED)
    right = Result("silu/plain/1", "silu", Status.PASS)
    assert exit_code([beyond]) == HARNESS
    assert exit_code([beyond, right]) == PASSED
    assert verdict(Run("lib.so", [beyond])).startswith("No verdict on lib.so: 1 case not supported, as declared")
    conforms = verdict(Run("lib.so", [beyond, right]))
    assert conforms == "lib.so conforms: 1 case passed; 1 case not supported, as declared."
    [row, _] = rows([beyond, right])
    assert (row.cases, row.passed, row.right, row.unsupported) == (0, 0, 0, 1)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_library(SOURCE.read_text(encoding="utf-8"), tmp_path_factory.mktemp("sizes"), "sizes", "-O2", "-lm")


def test_calls_in_a_row_are_set_apart(library: Path) -> None:
    found: dict[Status, int] = {}
    with Worker(library) as worker:
        for sequence in (one for one in SEQUENCES.values() if one.operation == "rmsnorm"):
            result = judge_sequence(sequence, Bench(worker, declared=EIGHTS))
            found[result.status] = found.get(result.status, 0) + 1
            if result.status is Status.NOT_SUPPORTED:
                assert "is declared to support hidden_dim % 8 == 0" in result.reason
    assert set(found) <= {Status.PASS, Status.NOT_SUPPORTED}
    assert found[Status.NOT_SUPPORTED]


def test_the_report_says_how_many(library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contract, lines = tmp_path / "mine.toml", tmp_path / "lines.jsonl"
    contract.write_text(f'[operations.rmsnorm]\nsupports = "{CONDITION}"\n')
    page, junit, summary = (tmp_path / name for name in ("page.html", "junit.xml", "summary.md"))
    given = ["run", "-n", "1", "--library", str(library), "-k", "rmsnorm/plain or rmsnorm/refused"]
    files = ["--jsonl", str(lines), "--report", str(page), "--junit", str(junit), "--summary", str(summary)]
    assert main([*given, "--contract", str(contract), *files]) == PASSED
    out = capsys.readouterr().out
    first = out.strip().splitlines()[0]
    assert "conforms as far as it was judged: " in first
    assert "cases passed; " in first
    assert " not supported, as declared" in first
    assert "NOT SUPPORTED as declared, " in out
    assert lines.read_text().count('"NOT SUPPORTED"') == junit.read_text().count('type="NOT SUPPORTED"') > 0
    assert "NOT SUPPORTED" in page.read_text()
    assert "not supported, as declared" in summary.read_text()
    assert main(given) == FAILED
