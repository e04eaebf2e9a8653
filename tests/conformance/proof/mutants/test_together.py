"""Mutants that are built together are judged as those that are built alone; what refuses to be built so is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from conformance.catalogue.prepared import MemoryStore
from conformance.judging.results import Result, Status
from conformance.proof.faults import RefusedError
from conformance.proof.mutants import Mutant, sample
from conformance.proof.mutants.build import Build, Builder
from conformance.proof.mutants.failures import Failures
from conformance.proof.mutants.library import Library
from conformance.proof.mutants.log import Log
from conformance.proof.mutants.record import Trial, Verdict
from conformance.proof.mutants.sample import judged
from conformance.proof.mutants.together import Together, built, refused_by
from conformance.proof.mutants.trial import History, Judge
from conformance.proof.mutants.weave import Woven

Made = Callable[[str, str, str], Mutant]
_MULTIPLIES = "y[i] = a[i] * b[i];"


@pytest.fixture(scope="module")
def wrong(mutant: Made) -> Mutant:
    return mutant("vector/elementwise.c", _MULTIPLIES, "y[i] = a[i] + b[i];")


@pytest.fixture(scope="module")
def right(mutant: Made) -> Mutant:
    return mutant("elementwise.c", "v->mul(length, a + at", "at[b] == 0.1f ? (void)0 : v->mul(length, a + at")


@pytest.fixture(scope="module")
def refused(mutant: Made) -> Mutant:
    return mutant("clip.c", "sum_squares_out[0] = (float)total;", "sum_squares_out[0] = (float)nowhere;")


@pytest.fixture(scope="module")
def constant(mutant: Made) -> Mutant:
    return mutant("batchnorm.c", "enum { LONG_RUN = 32", "enum { LONG_RUN = 16")


@pytest.fixture(scope="module")
def together(library: Library, wrong: Mutant, right: Mutant, refused: Mutant, constant: Mutant) -> Iterator[Together]:
    with library.together([wrong, right, refused, constant], traps=True) as made:
        yield made


def test_what_a_compiler_refuses_or_needs_is_not_among_them(
    together: Together, wrong: Mutant, right: Mutant, refused: Mutant, constant: Mutant
) -> None:
    assert [one in together for one in (wrong, right, refused, constant)] == [True, True, False, False]
    links = [together.link, together.link_watched]
    assert len({link(which) for link in links for which in (wrong, right, None)}) == 6


def test_they_are_judged_as_those_built_alone(
    library: Library, together: Together, wrong: Mutant, right: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Judge(library, MemoryStore(), History(), together=together, is_brief=True)
    monkeypatch.setattr(Builder, "link", lambda *_: pytest.fail("a library of one mutant was linked"))
    killed, passed = judge.trial(wrong), judge.trial(right)
    assert (killed.verdict, killed.by.split("/")[0], killed.code) == (Verdict.KILLED, "mul", "")
    assert (passed.verdict, bool(passed.code)) == (Verdict.PASSED, True)


def test_what_passes_together_is_built_alone_by_another_run(
    library: Library, together: Together, wrong: Mutant, right: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Judge(library, MemoryStore(), History(), together=together, is_brief=True, alone=False)
    monkeypatch.setattr(Library, "builds", lambda *_: pytest.fail("a mutant was built alone"))
    assert judge.trial(wrong).verdict is Verdict.KILLED
    assert (passed := judge.trial(right)).verdict is Verdict.PASSED
    assert (passed.counts, passed.code) == (True, "")


def test_what_survives_together_is_not_built_alone_where_nothing_is(
    library: Library, together: Together, right: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Failures, "of_a_second_look", lambda *_: None)
    monkeypatch.setattr(Library, "builds", lambda *_: pytest.fail("a mutant was built alone"))
    survivor = Judge(library, MemoryStore(), History(), together=together, alone=False).trial(right)
    assert (survivor.verdict, survivor.code) == (Verdict.SURVIVED, "")


@pytest.mark.slow
def test_a_second_look_is_at_the_library_of_many(
    library: Library, together: Together, right: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    whole = Failures.of_a_second_look

    def watched(failures: Failures, build: Build, *given: Any) -> Result | None:
        *_, links, _ = given
        seen.append(links.link_watched(build).parent.name)
        return whole(failures, build, *given)

    monkeypatch.setattr(Failures, "of_a_second_look", watched)
    survivor = Judge(library, MemoryStore(), History(), together=together).trial(right)
    assert (survivor.verdict, bool(survivor.code), seen) == (Verdict.SURVIVED, True, ["watched"])


def test_a_second_look_kills_in_the_library_of_many(
    library: Library, together: Together, right: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = Result("late", "mul", Status.FAIL, "by 3 units")
    monkeypatch.setattr(Failures, "of_a_second_look", lambda *_: failed)
    monkeypatch.setattr(Library, "builds", lambda *_: pytest.fail("a mutant was built alone"))
    killed = Judge(library, MemoryStore(), History(), together=together).trial(right)
    assert (killed.verdict, killed.by) == (Verdict.KILLED, "late")


def test_without_a_second_build_there_is_nothing_to_watch(library: Library, wrong: Mutant) -> None:
    with library.together([wrong]) as made:
        assert not made.is_watched
        with pytest.raises(ValueError, match="a second build"):
            made.link_watched(wrong)


@pytest.mark.slow
def test_what_is_not_among_them_is_built_alone(
    library: Library, together: Together, refused: Mutant, constant: Mutant
) -> None:
    judge = Judge(library, MemoryStore(), History(), together=together, is_brief=True)
    assert judge.trial(refused).verdict is Verdict.REFUSED
    assert judge.trial(constant).verdict is not Verdict.REFUSED


def test_a_source_that_is_refused_without_a_mutant_is_an_error(library: Library, wrong: Mutant, tmp_path: Path) -> None:
    sources = {**library.sources, "clip.c": "int broken(;\n"}
    with pytest.raises(RefusedError, match="expected"):
        built(library.builder, sources, [wrong], tmp_path, 1)


TEXTS = {"a.cu": Woven("", {10: Mutant("a.cu", 1, "", "", "one"), 20: Mutant("a.cu", 2, "", "", "two")})}


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("kernels/a.cu:20:3: error: no", ["two"]),
        ("kernels/a.cu:20:3: warning: unused", []),
        ("kernels/a.cu:10:7:   required from here\nkernels/b.cuh:3:1: error: no", ["one"]),
        ("check.h:3:1: error: no\nkernels/a.cu:20:9: note: in expansion of macro", ["two"]),
        ("kernels/a.cu:15:1: error: 'p' was not declared", ["one"]),
        ("kernels/a.cu:5:1: error: expected '}'", ["one", "two"]),
        ("kernels/a.cu:10:7: error: no\nkernels/a.cu:20:7: error: no", ["one", "two"]),
        ("kernels/b.cuh:3:1: error: no", []),
    ],
)
def test_whom_an_error_is_about(said: str, found: list[str]) -> None:
    assert sorted({one.after for one in refused_by(said, TEXTS)}) == found


def test_many_are_built_together_batch_by_batch(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutants = [Mutant("clip.c", line, "a ==> b", "a;", "b;") for line in range(1, 8)]
    held: list[list[int]] = []
    ended: list[object] = []

    @contextmanager
    def weave(some: list[Mutant]) -> Iterator[list[Mutant]]:
        held.append([mutant.line for mutant in some])
        yield some
        ended.append(some)

    def begin(make: object, history: History, codes: Mapping[str, Verdict], together: list[Mutant]) -> None:
        assert [mutant.line for mutant in together] == held[-1]

    monkeypatch.setattr(sample, "BATCH", 3)
    monkeypatch.setattr(sample, "_begin", begin)
    monkeypatch.setattr(sample, "_trial", lambda mutant: Trial(mutant, Verdict.KILLED, "case"))
    log = Log(tmp_path / "log", "sources", "judge")
    found = judged(library, Judge, mutants, log, 1, weave=weave)  # type: ignore[arg-type]
    assert [trial.verdict for trial in found] == [Verdict.KILLED] * 7  # although none has a code
    assert (held, len(ended)) == ([[1, 2, 3], [4, 5, 6], [7]], 3)
    assert len(Log(tmp_path / "log", "sources", "judge").trials()) == 7


def test_what_cannot_be_built_with_others_is_left_to_another_run(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutants = [Mutant("clip.c", line, "a ==> b", "a;", "b;") for line in range(1, 5)]
    monkeypatch.setattr(sample, "_begin", lambda *_: None)
    monkeypatch.setattr(sample, "_trial", lambda mutant: Trial(mutant, Verdict.KILLED, "case"))
    log = Log(tmp_path / "log", "sources", "judge")

    def weave(some: list[Mutant]) -> nullcontext[list[Mutant]]:
        return nullcontext([mutant for mutant in some if mutant.line % 2])

    def lines(alone: bool) -> list[int]:
        found = judged(library, Judge, mutants, log, 1, weave=weave, alone=alone)  # type: ignore[arg-type]
        return sorted(trial.mutant.line for trial in found)

    assert (lines(alone=False), lines(alone=True)) == ([1, 3], [1, 2, 3, 4])
