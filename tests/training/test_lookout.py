"""A rank that does not go on is named: one that is stopped ends the run, one that computes for long does not."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.training.mpirun import ROOT, ranks
from training.ranks import RanksError, taking_turns
from training.ranks.diary import Diary
from training.ranks.lookout import SAY_AFTER, STOPPED_TICKS, Lookout, say_after
from training.ranks.page import At, Page, Place

LIMIT = 120  # seconds; a rank that is stopped is named after ten
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other ranks' pages are opened by /proc")


def at(step: int, phase: str, *, ago: float = 0.0, waits: int = 0, waiting: bool = False) -> At:
    return At(step, time.monotonic() - ago, waits, waiting, phase)


def page_of(at: At, size: int = 4) -> Page:
    page = Page.new(size)
    page.write(at)
    return page


def said(pages: list[Page], rank: int) -> list[str]:
    """What is said of a rank at one look, among ranks with these pages."""
    places = {number: Place(100 + number, os.getpid(), page.file) for number, page in enumerate(pages)}
    pages[rank].introduce(places)
    lines: list[str] = []
    Lookout(rank, 100 + rank, pages[rank], 60, lines.append).tick()
    return [re.sub(r" on \S+\)", ")", line) for line in lines]


def test_a_page_is_the_same_for_all_that_open_its_file() -> None:
    page = page_of(at(3, "forward"), size=2)
    assert str(Page(page.file, 2).read()) == "step 3, forward"
    assert str(at(0, "beginning")) == "beginning"
    page.introduce({1: Place(5, 6, 7)})
    assert Page(page.file, 2).places() == {1: Place(5, 6, 7)}


def test_a_phase_of_any_length_and_letters_fits() -> None:
    assert page_of(at(1, "é" * 200)).read().phase.startswith("é" * 48)


def test_a_diary_says_what_it_waits_for_and_then_what_it_goes_on_with() -> None:
    diary, page = Diary(), Page.new(1)
    diary.now_at("nobody reads this")
    diary.open(page)
    diary.now_at("update", 7)
    with diary.waiting("a sum"):
        assert str(page.read()) == "step 7, update (a sum)"
        assert page.read().waiting
    assert (str(page.read()), page.read().waiting, page.read().waits) == ("step 7, update", False, 1)
    before = page.read()
    diary.now_at("update")
    assert page.read().since > before.since


def test_ranks_of_one_machine_know_each_other() -> None:
    def work(ranks: object) -> dict[int, Place]:
        diary, page = Diary(), Page.new(3)
        diary.open(page)
        diary.meet(ranks)  # type: ignore[arg-type]
        return page.places()

    places, *others = taking_turns(3, work)
    assert sorted(places) == [0, 1, 2]
    assert others == [places, places]
    assert {place.process for place in places.values()} == {os.getpid()}


def test_nothing_is_said_of_a_rank_that_goes_on() -> None:
    assert said([page_of(at(1, "forward", ago=50))], 0) == []


def test_a_rank_that_computes_for_long_is_named_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    page, lines, times = page_of(At(2, 1000.0, 0, False, "forward")), list[str](), list[int]()
    lookout = Lookout(1, 5, page, 60, lines.append)
    for now in range(1000, 1500):
        monkeypatch.setattr(time, "monotonic", lambda now=now: float(now))
        lookout.tick()
        times += [now] * (len(lines) - len(times))
    assert times == [1060, 1120, 1240, 1480]
    assert re.fullmatch(r"rank 1 \(process 5 on .+\) has been at step 2, forward, for 60 s; the run goes on", lines[0])


@on_linux
def test_who_waits_says_for_whom() -> None:
    waits = at(2, "update (a sum)", ago=61, waits=9, waiting=True)
    earlier = at(2, "forward (a trade)", ago=1, waits=8, waiting=True)
    pages = [page_of(waits), page_of(waits), page_of(at(2, "forward", ago=70)), page_of(earlier)]
    assert said(pages, 0) == [
        "rank 0 (process 100) has waited at step 2, update (a sum), for 61 s, for "
        "rank 2 (process 102: step 2, forward), rank 3 (process 103: step 2, forward (a trade)); the run goes on"
    ]
    assert said(pages, 1) == []  # rank 0 speaks for both
    assert said([page_of(waits)], 0)[0].endswith("for 61 s, for ranks that are not seen from here; the run goes on")


@on_linux
def test_of_many_ranks_four_are_named() -> None:
    waits = at(2, "update (a sum)", ago=61, waits=9, waiting=True)
    [line] = said([page_of(waits, 7), *(page_of(at(2, "forward"), 7) for _ in range(6))], 0)
    assert line.endswith("rank 4 (process 104: step 2, forward), 2 more; the run goes on")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "1000"]) as process:
        yield process
        process.kill()


def test_a_rank_that_stays_stopped_is_given_up(sleeper: subprocess.Popen[bytes]) -> None:
    lines: list[str] = []
    lookout = Lookout(1, sleeper.pid, page_of(at(2, "forward")), 60, lines.append)
    for _ in range(3):  # it goes on in time
        lookout.note(stopped_by=signal.SIGSTOP)
        for _ in range(STOPPED_TICKS - 1):
            lookout.tick()
    assert (lines, lookout.gave_up, sleeper.poll()) == ([], False, None)
    lookout.tick()
    expected = (
        rf"rank 1 \(process {sleeper.pid} on .+\) was stopped by SIGSTOP 10 s ago at step 2, forward: the run ends"
    )
    assert lookout.gave_up
    assert re.fullmatch(expected, lines[0])
    assert sleeper.wait(LIMIT) == -signal.SIGKILL


@pytest.mark.parametrize("text", ["", "soon", "0", "-1", "nan"])
def test_after_how_long_it_is_said(text: str) -> None:
    assert (say_after({}), say_after({SAY_AFTER: "0.5"})) == (60, 0.5)
    with pytest.raises(RanksError, match=f"ASSAYER_SAY_AFTER: expected seconds, more than 0, got '{text}'"):
        say_after({SAY_AFTER: text})


def command(size: int, *arguments: str | Path) -> list[str]:
    return ranks(size, "tests/training/ranks_run.py", *arguments)


@pytest.mark.slow
def test_a_rank_that_is_stopped_ends_the_run_and_is_named(tmp_path: Path) -> None:
    called = command(4, tmp_path / "left.npz", "--dies", "1", "stops")
    done = subprocess.run(called, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == signal.SIGKILL, done.stderr  # MPICH's code for a rank that was killed
    named = re.findall(r"rank (\d) \(process (\d+) on .*\) was stopped by SIGSTOP .* at step 1, forward", done.stderr)
    assert [rank for rank, _ in named] == ["1"]
    assert "was killed by" not in done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(named[0][1]), 0)


@on_linux
def test_a_rank_that_computes_for_long_is_named_with_who_waits_for_it_and_the_run_goes_on(tmp_path: Path) -> None:
    called = command(4, tmp_path / "left.npz", "--late", "1")
    environment, lines = {**os.environ, SAY_AFTER: "1"}, list[str]()
    expected = [r"rank 1 .* has been at step 1, forward, for", r"rank 0 .* has waited at .*, for rank 1 \(process"]

    def missing() -> list[str]:
        return [one for one in expected if not any(re.match(one, line) for line in lines)]

    with subprocess.Popen(called, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        for line in process.stderr:
            lines.append(line)
            if not missing():
                (tmp_path / "left.go").touch()
    assert (missing(), process.returncode) == ([], 0), lines
    assert (tmp_path / "left.npz").exists()


def test_a_setting_that_is_none_ends_the_run(tmp_path: Path) -> None:
    called, environment = command(2, tmp_path / "left.npz"), {**os.environ, SAY_AFTER: "soon"}
    done = subprocess.run(called, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode != 0
    assert "RanksError: ASSAYER_SAY_AFTER: expected seconds, more than 0, got 'soon'" in done.stderr
