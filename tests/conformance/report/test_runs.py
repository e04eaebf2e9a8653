"""Where a training run stands, in every report: within its envelope, beyond it, or ended on the way."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conformance.judging.results import Result, Status
from conformance.judging.verdict import Verdict
from conformance.report.files import read_jsonl, write_jsonl
from conformance.report.markdown import summary
from conformance.report.page import page
from conformance.report.page.pictures import BOTTOM, TOP
from conformance.report.page.runs import training_runs
from conformance.report.record import Run
from conformance.report.runs import run_steps, sentence
from conformance.report.terminal import show
from conformance.steps import runs
from tests.conformance.report.test_page import Reader
from tests.conformance.runs import steps

SPREAD = 1e-6


def after(step: int, off: float, share: float = 0.5) -> Result:
    """A run after one step: its loss so many spreads off, its furthest parameter at this share of its limit."""
    fine = abs(off) <= 8 and share <= 1
    rest: dict[str, Any] = {"elements": 1, "wrong": 0, "rms": 0.0, "rms_limit": 8.0, "bias": 0.0, "bias_limit": 9.0}
    mean = 7.0 - step
    numbers = {"expected": mean, "got": mean + off * SPREAD, "limit": 8 * SPREAD, "index": (0,)}
    verdicts = [Verdict("loss", abs(off) <= 8, "", share=abs(off) / 8, **numbers, **rest)]
    verdicts += [Verdict(f"distance.w{n}", share <= 1, "", share=share / n, **rest) for n in (3, 1, 2)]
    status = Status.PASS if fine else Status.FAIL
    return Result(f"step/envelope/{step:02d}", "training_step", status, "" if fine else "off", tuple(verdicts))


def run(*results: Result) -> Run:
    return Run("lib.so", results)


WITHIN = run(after(1, 0.5, 0.3), after(2, -3.0, 0.7), after(3, 0.0, 0.1))
LEFT = run(after(1, 0.5), after(2, -4e5, 1e3), after(3, math.inf, 1e4))
ENDED = run(after(1, 0.5), Result("step/envelope/02", "training_step", Status.CRASHED, "crashed"))
NOT_RUN = run(Result("step/envelope", "training_step", Status.NOT_RUN, "the library does not export cuda_mul"))


def test_a_run_is_placed_by_its_loss_and_its_furthest_parameter() -> None:
    first, second, third = run_steps(WITHIN.results)
    assert [p.off for p in (first, second, third)] == pytest.approx([0.5, -3.0, 0.0], abs=1e-6)
    assert (second.step, second.mean, second.furthest, second.share) == (2, 5.0, "w1", 0.7)
    assert sentence([first, second, third]) == (
        "3 steps within the envelope: the loss is at most 3 of 8 spreads off the replicas' mean, "
        "w1 uses 70% of its distance"
    )


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0, "no parameter is further from the reference's than honest rounding leads"),
        (1.5, "w1 is 1.5 times as far from the reference's as honest rounding leads"),
        (math.inf, "w3 is further from the reference's than any honest rounding leads"),
    ],
)
def test_a_run_that_left_its_envelope_by_loss_alone_says_so_of_its_parameters(share: float, words: str) -> None:
    assert runs.left_by(after(1, 20.0, share).verdicts).endswith(f"; {words}")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (WITHIN, "3 steps within the envelope"),
        (LEFT, "leaves the envelope at step 2: off"),
        (ENDED, "leaves the envelope at step 2: crashed"),
        (NOT_RUN, "the library does not export cuda_mul"),
    ],
)
def test_every_report_says_where_it_stands(made: Run, words: str, tmp_path: Path) -> None:
    console = Console(record=True, width=200, file=io.StringIO())
    show(console, [made])
    assert f"training run: {words}" in console.export_text()
    assert any(words in line.replace("\\", "") for line in summary(made))
    reader = Reader(page([made]))
    assert words in reader.text
    assert {link[1:] for link in reader.links} <= set(reader.ids)


def test_it_can_be_read_back(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "run.jsonl", LEFT)
    assert run_steps(read_jsonl(tmp_path / "run.jsonl").results) == run_steps(LEFT.results)


def test_the_picture_shows_what_lies_beyond_outside_the_band() -> None:
    [found] = training_runs(LEFT, 0)
    assert found.off
    top, height = found.off.band
    heights = [int(point.partition(" ")[2]) for point in found.off.path.removeprefix("M").split("L")]
    assert [top <= y <= top + height for y in heights] == [True, False, False]
    assert all(TOP <= y <= BOTTOM for y in heights)
    assert heights[1] > top + height  # below: the loss is less than the mean
    assert heights[2] == TOP
    assert (found.off.within.count("M"), found.off.beyond.count("M")) == (1, 2)


def test_a_run_within_fills_the_picture() -> None:
    [found] = training_runs(WITHIN, 0)
    assert found.off
    assert found.loss
    assert found.off.band[1] > (BOTTOM - TOP) / 2
    assert not found.off.beyond
    assert [label for _, label in found.loss.x] == ["1", "2", "3"]


def test_the_terminal_shows_the_tensors_about_the_first_wrong_one() -> None:
    console = Console(record=True, width=60, file=io.StringIO())
    show(console, [Run("lib.so", steps())])
    lines = [" ".join(line.split()) for line in console.export_text().splitlines()]
    at = lines.index("step 1 tensor locked free")
    assert lines[at + 1 : at + 4] == [
        "001 embedding(embedding) C 10 % 10 %",
        "> 045 cross_entropy_backward of x C 3 x wrong 3 x wrong",
        "046 gemm_tn of x gradient of lm_head 20 % 2 x wrong",
    ]
