"""Every proof is of a mutant that there is, and a score says what was proved and what was not."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from conformance.proof.faults.recipes import Kernels
from conformance.proof.mutants import Mutant
from conformance.proof.mutants.equivalents import Equivalent, Equivalents, EquivalentsError, Unordered, read
from conformance.proof.mutants.library import Library
from conformance.proof.mutants.record import Trial, Verdict
from conformance.proof.mutants.reference import Reference
from conformance.proof.mutants.sample import Subject
from conformance.proof.mutants.score import Score

needs_mutator = pytest.mark.skipif(find_spec("universalmutator") is None, reason="no universalmutator: `nox -s tests`")
AT = 27  # a line of cuda_softmax
LINE = Mutant("softmax.c", AT, "* ==> /", "y = x * 1;", "y = x / 1;")
OTHER = Mutant("softmax.c", AT, "* ==> -", "y = x * 1;", "y = x - 1;")
PROOF = Equivalent("cuda/src/softmax.c", "cuda_softmax", LINE.before, LINE.after, "x / 1 is x * 1.")


@pytest.mark.slow
@needs_mutator
@pytest.mark.parametrize("subject", [None, Library(Kernels("fast")), Reference()], ids=["c", "kernels", "reference"])
def test_every_committed_proof_is_of_a_mutant(library: Library, subject: Subject | None) -> None:
    subject = subject or library
    made = {mutant: subject.place(mutant) for mutant in subject.mutants()}
    read().check(subject.folder, made)


def test_a_proof_of_a_line_that_is_no_more_is_an_error() -> None:
    stale = Equivalents([PROOF])
    stale.check("cuda/kernels", {})
    stale.check("cuda/src", {LINE: "cuda_softmax"})
    for mutants in ({}, {LINE: "elsewhere"}, {OTHER: "cuda_softmax"}):
        with pytest.raises(EquivalentsError, match=r"equivalents.toml: expected a mutant of .*y = x / 1;.* found none"):
            stale.check("cuda/src", mutants)


def test_dots_stand_for_anything() -> None:
    wide = Equivalents([Equivalent("cuda/src/...", "...", "y = x * ...;", "y = x / ...;", "why")])
    assert wide.of("cuda/src/softmax.c", "cuda_softmax", LINE)
    assert not wide.of("cuda/src/softmax.c", "cuda_softmax", OTHER)
    assert not wide.of("cuda/kernels/softmax.cu", "cuda_softmax", LINE)


def test_dots_stand_for_a_comment_behind_two_spaces() -> None:
    proofs = Equivalents([Equivalent("reference/ops/norm.py", "mean", "...axis=-1...", "...axis=1...", "two axes")])
    line = Mutant("ops/norm.py", 4, "-1 ==> 1", "y = mean(x, axis=-1)  # by row", "y = mean(x, axis=1) # by row")
    assert proofs.of("reference/ops/norm.py", "mean", line)
    other = Mutant("ops/norm.py", 4, "-1 ==> 1", line.before, "y = sum(x, axis=1) # by row")
    assert not proofs.of("reference/ops/norm.py", "mean", other)


LOOPS = ("...for (<1> = 0; <2> < <3>; <4>++)...", "...for (<1> = 0; <2> != <3>; <4>++)...")
CHECKS = ("CHECK_ARRAY(<1>); CHECK_ARRAY(<2>);", "CHECK_ARRAY(<2>); CHECK_ARRAY(<1>);")
LOOP = "for (int i = 0; i < n; i++) if (x[i] < 0) for (int j = 0; j < k; j++) y[j] = 0;"


@pytest.mark.parametrize(
    ("proof", "before", "after", "is_equal"),
    [
        (LOOPS, LOOP, LOOP.replace("i < n", "i != n"), True),
        (LOOPS, LOOP, LOOP.replace("j < k", "j != k"), True),
        (LOOPS, LOOP, LOOP.replace("x[i] < 0", "x[i] != 0"), False),
        (LOOPS, LOOP, LOOP.replace("i < n", "i != n").replace("y[j]", "y[i]"), False),
        (CHECKS, "CHECK_ARRAY(a, n); CHECK_ARRAY(b, k);", "CHECK_ARRAY(b, k); CHECK_ARRAY(a, n);", True),
        (CHECKS, "CHECK_ARRAY(a, n); CHECK_ARRAY(b, k);", "CHECK_ARRAY(a, n); CHECK_ARRAY(a, n);", False),
        (("FOR(???)", "FOR(???)"), "FOR(n >= 8)", "FOR(n < 8)", True),
        (("FOR(???)", "FOR(???)"), "FOR(n >= 8)", "FOR(n >= 8) { return; }", False),
    ],
)
def test_what_stands_for_a_part_stands_for_the_same_one(
    proof: tuple[str, str], before: str, after: str, is_equal: bool
) -> None:
    proofs = Equivalents([Equivalent("cuda/src/...", "...", *proof, "why")])
    assert bool(proofs.of("cuda/src/softmax.c", "f", Mutant("softmax.c", 1, "", before, after))) == is_equal


@pytest.mark.parametrize(
    ("before", "after", "is_equal"),
    [
        ("SIZES(x, a, b);", "SIZES(x , b, a);", True),
        ("if not SIZES(x, a, b):", "if not SIZES ( x,b, a):", True),
        ("SIZES(x, a, b);", "SIZES(a, x, b);", False),
        ("SIZES(x, a, b);", "SIZES(x, a, a);", False),
        ("y = SIZES(x, a, b) + a;", "y = SIZES(x, a, b) - a;", False),
        ("f(a, b);", "f(b, a);", False),
        ("SIZES(x, f(a), b);", "SIZES(x , b, f(a));", True),
        ("SIZES(x, f(a, b), c);", "SIZES(x, f(b, a), c);", False),
    ],
)
def test_arguments_may_stand_in_any_order(before: str, after: str, is_equal: bool) -> None:
    unordered = Equivalents([Unordered("cuda/src/...", "SIZES", 1, "a product")])
    mutant = Mutant("softmax.c", 1, "a,b ==> b,a", before, after)
    assert bool(unordered.of("cuda/src/softmax.c", "f", mutant)) == is_equal


@pytest.mark.parametrize(
    "text",
    [
        "[[equivalent]\n",
        '[[equivalent]]\nfile = "a"\n',
        '[[equivalent]]\nfile = "a"\nwithin = 1\n',
        '[[unordered]]\nfile = "a"\nname = "f"\nfirst = 0\nproof = " "\n',
    ],
)
def test_a_list_that_cannot_be_read_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "equivalents.toml"
    path.write_text(text)
    with pytest.raises(EquivalentsError, match=r"equivalents.toml: "):
        read(path)


def scored(library: Library, *trials: Trial) -> Score:
    return Score(library, trials, Equivalents([PROOF]))


@pytest.mark.slow
def test_a_survivor_with_a_proof_is_right(library: Library) -> None:
    score = scored(library, Trial(LINE, Verdict.SURVIVED), Trial(OTHER, Verdict.KILLED, "softmax/plain/1x1"))
    assert score.is_right
    assert f"EQUAL cuda/src/softmax.c:{AT}: y = x / 1;: x / 1 is x * 1." in list(score.lines())
    assert score.summary().startswith("1 of 1 mutants killed (100.0%); not counted: 0 do not compile")
    assert "1 are proved equivalent" in score.summary()


def test_a_survivor_without_a_proof_is_wrong(library: Library) -> None:
    score = scored(library, Trial(OTHER, Verdict.SURVIVED, said="7 cases"), Trial(LINE, Verdict.SAME))
    assert not score.is_right
    text = "\n".join(score.lines())
    assert f"SURVIVES cuda/src/softmax.c:{AT}: y = x - 1;\n    in place of y = x * 1;; 7 cases" in text
    assert "0 of 1 mutants killed (0.0%)" in text
    assert "cuda/src/softmax.c       0         1    0.0%" in text


def test_a_proof_of_what_is_killed_is_wrong(library: Library) -> None:
    score = scored(library, Trial(LINE, Verdict.KILLED, "softmax/plain/1x1"))
    assert not score.is_right
    assert (
        f"KILLED although it carries a proof: cuda/src/softmax.c:{AT}: y = x / 1;, by softmax/plain/1x1"
        in score.lines()
    )
