"""Curves of runs as SVG."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from training import plot
from training.log import Log, LogError

pytest.importorskip("matplotlib", reason="matplotlib is an optional extra")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Three steps of two layers, one without a loss, one validation."""
    written = Log(tmp_path / "log.jsonl", 0)
    written.write("run", 0)
    for step, loss in ((1, 4.0), (2, float("nan")), (3, 2.0)):
        written.write("step", step, loss=loss, loads=[[0.5, 0.5], [0.25, 0.75]])
    written.write("validation", 3, loss=3.0)
    written.close()
    return tmp_path / "log.jsonl"


def texts(path: Path) -> list[str]:
    return ["".join(e.itertext()).strip() for e in ElementTree.parse(path).iter() if e.tag.endswith("}text")]


def test_the_curves_are_those_of_the_log(log: Path) -> None:
    read = plot.curves(log)
    assert read.steps.tolist() == [1, 2, 3]
    np.testing.assert_array_equal(read.losses, [4.0, np.nan, 2.0])
    assert (read.validated.tolist(), read.validation.tolist()) == ([3], [3.0])
    np.testing.assert_array_equal(read.balance, [[1.0, 1.5]] * 3)


def test_one_run_and_several_are_drawn_with_their_names(log: Path, tmp_path: Path) -> None:
    plot.main([str(log), "--output", str(tmp_path / "one.svg")])
    shown = texts(tmp_path / "one.svg")
    assert {"loss", "step", "training", "validation", "layer 0", "layer 1"} <= set(shown)
    plot.main([f"a={log}", f"b={log}", "--output", str(tmp_path / "two.svg")])
    shown = texts(tmp_path / "two.svg")
    assert {"a: training", "a: validation", "b: training", "b: validation"} <= set(shown)


def test_the_same_curves_are_the_same_bytes(log: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        plot.draw({"": plot.curves(log)}, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_smoothing_keeps_the_mean_and_the_length() -> None:
    assert plot._smoothed(np.array([1.0, 4.0, 7.0])).tolist() == [2.5, 4.0, 5.5]
    assert plot._smoothed(np.array([1.0, np.nan, 7.0])).tolist() == [1.0, 4.0, 7.0]
    np.testing.assert_array_equal(plot._smoothed(np.full(3, np.nan)), np.full(3, np.nan))


def test_a_log_without_steps_is_named(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").touch()
    with pytest.raises(LogError, match=r"log\.jsonl: expected the log of a run, got no step"):
        plot.curves(tmp_path / "log.jsonl")
    with pytest.raises(SystemExit, match=r"error: .*nowhere: cannot be read"):
        plot.main([str(tmp_path / "nowhere")])


def test_a_missing_package_is_named_with_its_extra(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit, match=r"plots need the matplotlib package: pip install matplotlib"):
        plot.main([str(log), "--output", str(tmp_path / "none.svg")])
