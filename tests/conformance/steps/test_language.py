"""The check that a model learns language: it passes honest runs, and names those that do not learn or go elsewhere."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference
from conformance.commands.cli import main
from conformance.steps.language import runs
from conformance.steps.language.perturbed import Perturbed
from conformance.steps.language.runs import Ask, pairs_loss
from training.data import Document, Tokens


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little text, a very small model, and the runs' first steps."""
    text = [Document(str(number), f"{number} apples and {number + 1} pears. " * 20) for number in range(60)]
    small = {"hidden": 8, "layers": 1, "q_heads": 2, "head_dim": 4, "ffn": 16, "batch": 2, "seq": 8, "sample_tokens": 8}
    whole = Ask.settings.fget
    assert whole
    monkeypatch.setattr(Ask, "settings", property(lambda ask: replace(whole(ask), **small)))
    monkeypatch.setattr(runs, "embedded_documents", lambda: text)
    monkeypatch.setattr("conformance.steps.language.comparison.FIRST", 20)
    monkeypatch.setattr("conformance.steps.language.comparison.LAST", 20)


def judged(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The command's exit code, and what it printed."""
    words = "language --backend reference --steps 40 --replicas 2 -n 1 --output"
    return main([*words.split(), str(folder)]), capsys.readouterr().out


@pytest.mark.usefixtures("short")
def test_a_run_on_its_course_that_learns_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("conformance.steps.language.comparison.pairs_loss", lambda _: 9.0)
    code, printed = judged(tmp_path / "kept", capsys)
    assert "\n    20  " in printed
    assert "counting pairs of bytes comes to 9.0000\nreference: " in printed
    assert "after 40 steps: PASS\n  'The " in printed
    assert code == 0
    assert (tmp_path / "kept" / "curves.svg").exists()
    assert (tmp_path / "kept" / "run-reference" / "log.jsonl").exists()


@pytest.mark.usefixtures("short")
def test_a_run_that_does_not_learn_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, printed = judged(tmp_path / "kept", capsys)
    assert "after 40 steps: FAIL it has learned no more than pairs\n" in printed
    assert code == 1


@pytest.mark.usefixtures("short")
def test_a_run_that_goes_elsewhere_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    train = runs.train

    def elsewhere(ask: Ask) -> Any:
        """A run that is a tenth off, unless it is a replica's."""
        curves = train(ask)
        return curves if isinstance(ask.backend, int) else curves._replace(validation=curves.validation + 0.1)

    monkeypatch.setattr("conformance.steps.language.comparison.train", elsewhere)
    monkeypatch.setattr("conformance.steps.language.comparison.pairs_loss", lambda _: 9.0)
    code, printed = judged(tmp_path / "kept", capsys)
    assert "after 40 steps: FAIL its course is none that honest runs take\n" in printed
    assert code == 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("--steps 319", 2, "error: language: expected at least 320 steps and 2 replicas, got 319 and 20\n"),
        ("--replicas 1", 2, "error: language: expected at least 320 steps and 2 replicas, got 600 and 1\n"),
        ("--backend else", 2, "error: --backend: expected reference, stub or the path of a library, got 'else'\n"),
    ],
)
def test_what_cannot_be_checked_is_named(
    words: str, code: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["language", "-n", "1", "--output", str(tmp_path / "kept"), *words.split()]) == code
    assert capsys.readouterr().out == message


@pytest.mark.usefixtures("short")
def test_a_library_that_breaks_off_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks_off(_: Ask) -> None:
        raise RuntimeError("rmsnorm: the library returned 7")

    monkeypatch.setattr("conformance.steps.language.comparison.train", breaks_off)
    assert judged(tmp_path / "kept", capsys) == (1, "error: RuntimeError: rmsnorm: the library returned 7\n")


def test_moved_parameters_are_off_by_at_most_one_unit_and_never_the_same() -> None:
    given = [[np.full(1000, 1.5, np.float32)] for _ in range(4)]
    numbers: dict[str, Any] = {"lr": 1e-3, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "step": 1}
    rest = np.zeros(1, np.float32), np.ones(1, np.float32)
    [exact], *moments = reference.multi_adamw(*given, *rest, **numbers)
    one, again, other = (Perturbed(seed).multi_adamw(*given, *rest, **numbers) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one[0][0], again[0][0])
    assert (one[0][0] != other[0][0]).any()
    assert np.abs(one[0][0] - exact).max() <= np.spacing(np.float32(1.5))
    assert one[0][0].dtype == np.float32
    np.testing.assert_array_equal(one[1:], moments)


def test_counting_pairs_is_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "embedded_documents", lambda: [Document(str(n), "ab" * 400 + str(n)) for n in range(60)])
    runs.write_text(tmp_path)
    ask = Ask(tmp_path, "reference", 1, 1)
    train, validation = (Tokens.open(runs.shards(tmp_path), split) for split in ("train", "validation"))
    ids = train.read(0, len(train)).tolist()
    pairs, firsts = Counter(pairwise(ids)), Counter(ids[:-1])
    seen = min(len(validation) - 1, 10 * 8 * 32) // 256 * 256
    costs = [
        -math.log((pairs[pair] + 1) / (firsts[pair[0]] + 257))
        for pair in pairwise(validation.read(0, seen + 1).tolist())
    ]
    assert pairs_loss(ask) == pytest.approx(math.fsum(costs) / len(costs), rel=1e-12)
