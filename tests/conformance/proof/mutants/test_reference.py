"""A mutant of the reference is killed by a golden, or by a test where no golden tells; one that is no code is none."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from conformance.proof.mutants import Mutant, reference
from conformance.proof.mutants.record import Verdict
from conformance.proof.mutants.reference import BrokenError, Reference, ReferenceJudge, check_without_mutant

SUBJECT = Reference()
needs_mutator = pytest.mark.skipif(find_spec("universalmutator") is None, reason="no universalmutator: `nox -s tests`")


def mutant(file: str, old: str, new: str) -> Mutant:
    lines = SUBJECT.sources[file].split("\n")
    number, line = next((number, line) for number, line in enumerate(lines, 1) if old in line)
    return Mutant(file, number, f"{old} ==> {new}", line.strip(), line.strip().replace(old, new))


def test_a_wrong_formula_is_killed_by_a_golden() -> None:
    found = ReferenceJudge(SUBJECT).trial(mutant("ops/optimizer.py", "2**31 - 1", "2 - 1"))
    assert (found.verdict, found.by) == (Verdict.KILLED, "goldens")
    assert found.said.startswith("multi_nonfinite/")


def test_what_no_golden_tells_is_put_to_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "_TESTS", ("tests/reference/test_random.py",))
    found = ReferenceJudge(SUBJECT).trial(mutant("random.py", "if not 0 < span <= 2**32:", "if not 0 < span <= 2**33:"))
    assert (found.verdict, found.by) == (Verdict.KILLED, "tests")
    assert "FAILED" in found.said or "failed" in found.said


def test_what_fails_without_a_mutant_judges_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "test_broken.py"
    broken.write_text("def test_it() -> None:\n    assert False\n")
    monkeypatch.setattr(reference, "_TESTS", (str(broken),))
    with pytest.raises(BrokenError, match="expected that tests pass without a mutant: "):
        check_without_mutant()
    monkeypatch.setattr(reference, "_TESTS", ("tests/reference/test_random.py",))
    check_without_mutant(["silu/plain/33"])


def test_what_nothing_tells_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "_TESTS", ("tests/reference/test_random.py",))
    found = ReferenceJudge(SUBJECT).trial(mutant("generate.py", "max_new >= 0", "max_new >= -1"))
    assert (found.verdict, found.said) == (Verdict.SURVIVED, "0 goldens, tests/reference/test_random.py")


def test_a_type_is_no_code() -> None:
    found = ReferenceJudge(SUBJECT).trial(
        mutant("ops/norm.py", "weight: Array, eps: float)", "weight: Array, eps: int)")
    )
    assert found.verdict is Verdict.SAME


@pytest.mark.parametrize(
    ("file", "text", "due"),
    [
        ("ops/optimizer.py", "2**31 - 1", {"multi_nonfinite"}),
        ("ops/elementwise.py", "def swiglu(", {"swiglu", "swiglu_bf16", "swiglu_fp16"}),
        ("step.py", "def accumulate(", set()),
    ],
)
def test_a_line_affects_the_operations_that_reach_it(file: str, text: str, due: set[str]) -> None:
    source = SUBJECT.sources[file]
    assert SUBJECT.names.operations(file, source.count("\n", 0, source.index(text)) + 1) == due


@needs_mutator
def test_mutants_are_of_code_that_python_takes() -> None:
    found = SUBJECT.mutants()
    assert len(found) > 5_000
    assert not any(mutant.file.startswith("readings/") for mutant in found)
    assert not any(mutant.before.startswith(("#", '"""')) for mutant in found)
