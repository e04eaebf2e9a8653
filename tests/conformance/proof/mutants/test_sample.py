"""What was tried is not tried again, whatever killed the run; another seed draws others."""

from __future__ import annotations

import itertools
import lzma
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from conformance.proof.mutants import Mutant, sample
from conformance.proof.mutants.equivalents import Equivalents
from conformance.proof.mutants.library import Library
from conformance.proof.mutants.log import Log, LogError
from conformance.proof.mutants.record import Trial, Verdict
from conformance.proof.mutants.sample import Sample, judged, still_open
from conformance.proof.mutants.score import Score
from conformance.proof.mutants.together import Together
from conformance.proof.mutants.trial import History, Judge

MUTANTS = [Mutant("clip.c", line, "a ==> b", "a;", "b;") for line in range(1, 41)]


def no_judge(history: History, codes: Mapping[str, Verdict]) -> Judge:
    raise AssertionError("expected that the log or the test knows every trial")


def trial_of(mutant: Mutant) -> Trial:
    return Trial(mutant, Verdict.KILLED, "clip_scale/plain/1", code=str(mutant.line))


def test_another_seed_draws_others() -> None:
    drawn = {seed: Sample(seed, 10).drawn(MUTANTS) for seed in range(3)}
    assert all(len(few) == 10 for few in drawn.values())
    assert drawn[0] == Sample(0, 10).drawn(MUTANTS)
    assert all(drawn[a] != drawn[b] for a, b in itertools.combinations(drawn, 2))
    assert Sample(0).drawn(MUTANTS)[:10] == drawn[0]
    assert {mutant.id for mutant in Sample(1).drawn(MUTANTS)} == {mutant.id for mutant in MUTANTS}


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lines of the mutants that were tried, in place of trying them."""
    lines: list[int] = []

    def record(mutant: Mutant) -> Trial:
        lines.append(mutant.line)
        return trial_of(mutant)

    monkeypatch.setattr(sample, "_begin", lambda *given: None)
    monkeypatch.setattr(sample, "_trial", record)
    return lines


def test_a_run_goes_on_where_the_last_one_ended(library: Library, tmp_path: Path, tried: list[int]) -> None:
    path = tmp_path / "log.jsonl"
    begun = judged(library, no_judge, MUTANTS, Log(path, "sources", "judge"), 1)
    first = list(itertools.islice(begun, 5))
    assert tried == [1, 2, 3, 4, 5]
    rest = list(judged(library, no_judge, MUTANTS, Log(path, "sources", "judge"), 1))
    assert tried == list(range(1, 41))
    assert rest[:5] == first
    assert [trial.mutant for trial in rest] == MUTANTS


def test_a_line_that_was_not_written_to_its_end_is_tried_again(
    library: Library, tmp_path: Path, tried: list[int]
) -> None:
    path = tmp_path / "log.jsonl"
    list(judged(library, no_judge, MUTANTS[:3], Log(path, "sources", "judge"), 1))
    path.write_bytes(path.read_bytes()[:-20])
    assert len(list(judged(library, no_judge, MUTANTS[:3], Log(path, "sources", "judge"), 1))) == 3
    assert tried == [1, 2, 3, 3]
    assert len(Log(path, "sources", "judge").trials()) == 3


def test_what_awaits_a_second_look_is_tried_again(library: Library, tmp_path: Path, tried: list[int]) -> None:
    path = tmp_path / "log.jsonl"
    log = Log(path, "sources", "judge")
    log.append(Trial(MUTANTS[0], Verdict.PASSED, code="one"))
    log.append(trial_of(MUTANTS[1]))
    brief = list(judged(library, no_judge, MUTANTS[:2], log, 1, is_brief=True))
    assert ([trial.verdict for trial in brief], tried) == ([Verdict.PASSED, Verdict.KILLED], [])
    again = list(judged(library, no_judge, MUTANTS[:2], Log(path, "sources", "judge"), 1))
    assert ({trial.verdict for trial in again}, tried) == ({Verdict.KILLED}, [1])


def test_what_awaits_a_second_look_is_built_apart_from_what_is_new(
    library: Library, tmp_path: Path, tried: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    log, built = Log(tmp_path / "log.jsonl", "sources", "judge"), list[list[int]]()
    for mutant in MUTANTS[3:5]:
        log.append(Trial(mutant, Verdict.PASSED, code=mutant.id))

    def together(some: Sequence[Mutant]) -> AbstractContextManager[Together]:
        built.append([mutant.line for mutant in some])
        return nullcontext(Together(tmp_path / "all.so", dict.fromkeys(some, 1)))

    monkeypatch.setattr(sample, "BATCH", 3)
    list(judged(library, no_judge, MUTANTS[:7], log, 1, weave=together))
    assert built == [[4, 5], [1, 2, 3], [6, 7]]
    assert tried == [4, 5, 1, 2, 3, 6, 7]


def test_what_a_run_that_ended_early_did_not_reach_still_awaits_its_second_look(
    library: Library, tmp_path: Path, tried: list[int]
) -> None:
    log = Log(tmp_path / "log.jsonl", "sources", "judge")
    for mutant in MUTANTS[:2]:
        log.append(Trial(mutant, Verdict.PASSED, code=mutant.id))
    first = next(judged(library, no_judge, MUTANTS[:3], log, 1))
    left = list(still_open(MUTANTS[:3], log, {first.mutant.id}))
    assert [(trial.mutant, trial.verdict) for trial in left] == [(MUTANTS[1], Verdict.PASSED)]
    assert "1 of 2 mutants killed (50.0%); 1 of the others await a second look" in (
        Score(library, [first, *left], Equivalents([])).summary()
    )


def test_what_survived_is_tried_again_where_it_is_asked_for(library: Library, tmp_path: Path, tried: list[int]) -> None:
    log = Log(tmp_path / "log.jsonl", "sources", "judge")
    for mutant in MUTANTS[:3]:
        log.append(Trial(mutant, Verdict.SURVIVED, code=mutant.id))

    def again(trial: Trial) -> bool:
        return trial.mutant.line < 3

    first = next(trial for trial in judged(library, no_judge, MUTANTS[:4], log, 1, again=again) if again(trial))
    assert (first.verdict, tried) == (Verdict.KILLED, [1])
    left = list(still_open(MUTANTS[:4], log, {first.mutant.id, MUTANTS[2].id}, again))
    assert [(trial.mutant, trial.verdict) for trial in left] == [(MUTANTS[1], Verdict.SURVIVED)]
    assert tried == [1]


def test_what_no_machine_could_judge_is_tried_again(library: Library, tmp_path: Path, tried: list[int]) -> None:
    log = Log(tmp_path / "log.jsonl", "sources", "judge")
    log.append(Trial(MUTANTS[0], Verdict.UNJUDGED))
    brief = list(judged(library, no_judge, MUTANTS[:1], log, 1, is_brief=True))
    assert ([trial.verdict for trial in brief], tried) == ([Verdict.KILLED], [1])


def test_two_mutants_of_one_code_count_once(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "_begin", lambda *given: None)
    monkeypatch.setattr(sample, "_trial", lambda mutant: Trial(mutant, Verdict.SURVIVED, code="the same"))
    found = judged(library, no_judge, MUTANTS[:2], Log(tmp_path / "log", "sources", "judge"), 1)
    assert [trial.verdict for trial in found] == [Verdict.SURVIVED, Verdict.REPEATED]


def test_other_sources_or_another_judge_need_new_trials(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = Log(path, "sources", "judge")
    log.append(trial_of(MUTANTS[0]))
    log.append(Trial(MUTANTS[1], Verdict.REFUSED))
    assert [trial.mutant.line for trial in Log(path, "sources", "judge").trials()] == [1, 2]
    assert [trial.mutant.line for trial in Log(path, "sources", "another").trials()] == [2]
    assert Log(path, "others", "judge").trials() == []
    assert len(Log(path, "others", "judge").ever()) == 2


def test_a_file_that_is_no_log_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("some notes\n")
    with pytest.raises(LogError, match=r"notes.txt:1: expected a trial of a mutant"):
        Log(path, "sources", "judge")
    assert path.read_text() == "some notes\n"


def test_a_log_that_is_kept_can_be_taken_up(tmp_path: Path) -> None:
    for kept in sorted((Path(sample.__file__).parent / "logs").iterdir()):
        path = tmp_path / kept.stem
        path.write_bytes(lzma.decompress(kept.read_bytes()))
        trials = Log(path, "sources", "judge").ever()
        assert len({trial.mutant.id for trial in trials}) == len(trials) > 1000
        assert all(trial.by for trial in trials if trial.verdict is Verdict.KILLED)


def test_the_library_s_digest_is_that_of_its_sources(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    before: str = library.digest()
    monkeypatch.setitem(library.sources, "clip.c", library.sources["clip.c"] + "\n")
    assert library.digest() != before
