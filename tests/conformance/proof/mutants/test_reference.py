"""A mutant of the reference is killed by a golden, or by a test where no golden tells; one that is no code is none."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from conformance.proof.faults.helpers import in_every_format
from conformance.proof.mutants import Mutant, reference
from conformance.proof.mutants.record import Verdict
from conformance.proof.mutants.reference import Reference, ReferenceJudge
from conformance.proof.mutants.warm_reference import BrokenError, WarmReference

SUBJECT = Reference()
_GATED = ("swiglu", "gemm_swiglu", "grouped_gemm_swiglu")
needs_mutator = pytest.mark.skipif(find_spec("universalmutator") is None, reason="no universalmutator: `nox -s tests`")


def mutant(file: str, old: str, new: str) -> Mutant:
    lines = SUBJECT.sources[file].split("\n")
    number, line = next((number, line) for number, line in enumerate(lines, 1) if old in line)
    return Mutant(file, number, f"{old} ==> {new}", line.strip(), line.strip().replace(old, new))


@pytest.fixture(scope="module")
def judge() -> Iterator[ReferenceJudge]:
    """A judge whose tests are few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference, "_TESTS", ("tests/reference/test_random.py",))
        yield ReferenceJudge(SUBJECT)


def test_a_wrong_formula_is_killed_by_a_golden(judge: ReferenceJudge) -> None:
    found = judge.trial(mutant("ops/optimizer.py", "2**31 - 1", "2 - 1"))
    assert found.verdict is Verdict.KILLED
    # The shortest golden comes first, and which of them that is a clock says.
    assert found.by.startswith(("golden multi_nonfinite/", "golden multi_sum_squares_nonfinite/"))


def test_what_no_golden_tells_is_put_to_the_tests(judge: ReferenceJudge) -> None:
    found = judge.trial(mutant("random.py", "if not 0 < span <= 2**32:", "if not 0 < span <= 2**33:"))
    assert found.verdict is Verdict.KILLED
    assert found.by.startswith("tests/reference/test_random.py::")


def test_what_runs_as_modules_load_is_loaded_with_the_mutant(judge: ReferenceJudge) -> None:
    line = "_GOLDEN = np.uint64(0x9E3779B97F4A7C15)"
    found = judge.trial(mutant("random.py", line, line.replace("7C15", "7C16")))
    assert (found.verdict, found.by) == (Verdict.KILLED, "tests")


def test_a_mutant_that_never_ends_is_killed(judge: ReferenceJudge) -> None:
    line = "chosen = np.take_along_axis(probabilities, indices, axis=-1)"
    found = judge.trial(mutant("ops/softmax.py", line, f"{line}; all(True for _ in iter(int, 1))"))
    assert (found.verdict, found.said) == (Verdict.KILLED, "SIGALRM")


@pytest.mark.slow
def test_one_mutant_leaves_nothing_behind_for_the_next(judge: ReferenceJudge) -> None:
    line = "if not 0 < span <= 2**32:"
    assert judge.trial(mutant("random.py", line, "if 0 < span <= 2**32:")).verdict is Verdict.KILLED
    assert judge.trial(mutant("random.py", line, "if not 0 < span < 2**32 + 1:")).verdict is Verdict.SURVIVED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("def test_it() -> None:\n    assert False\n", "::test_it: .*AssertionError"),
        ("import nowhere\n", "1 errors while tests were collected"),
    ],
)
def test_what_fails_without_a_mutant_judges_none(tmp_path: Path, content: str, why: str) -> None:
    broken = tmp_path / "test_broken.py"
    broken.write_text(content)
    with pytest.raises(BrokenError, match=why):
        WarmReference((str(broken),))


@pytest.mark.slow
def test_what_nothing_tells_survives(judge: ReferenceJudge) -> None:
    found = judge.trial(mutant("generate.py", "max_new >= 0", "max_new >= -1"))
    assert (found.verdict, found.said) == (Verdict.SURVIVED, "0 goldens, tests/reference/test_random.py")


def test_a_type_is_no_code(judge: ReferenceJudge) -> None:
    found = judge.trial(mutant("ops/norm.py", "weight: Array, eps: float)", "weight: Array, eps: int)"))
    assert found.verdict is Verdict.SAME


@pytest.mark.parametrize(
    ("file", "text", "due"),
    [
        ("ops/optimizer.py", "2**31 - 1", {"multi_nonfinite", "multi_sum_squares_nonfinite"}),
        ("ops/elementwise.py", "def swiglu(", {f for name in _GATED for f in in_every_format(name)}),
        ("step.py", "def accumulate(", set()),
    ],
)
def test_a_line_affects_the_operations_that_reach_it(file: str, text: str, due: set[str]) -> None:
    source = SUBJECT.sources[file]
    assert SUBJECT.names.operations(file, source.count("\n", 0, source.index(text)) + 1) == due


@pytest.mark.slow
@needs_mutator
def test_mutants_are_of_code_that_python_takes() -> None:
    found = SUBJECT.mutants()
    assert len(found) > 5_000
    assert not any(mutant.file.startswith("readings/") for mutant in found)
    assert not any(mutant.before.startswith(("#", '"""')) for mutant in found)
    assert not any("__future__" in mutant.before for mutant in found)
    assert not any(mutant.after.endswith(" break;") and mutant.before.startswith("def ") for mutant in found)
