"""One training step of each candidate, in one picture."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from conformance.languages.judged import Row, judge
from conformance.languages.picture import draw, write_page
from conformance.languages.step import StepError, of_library, of_reference, reference_module, shares


def test_a_mark_beyond_the_limit_lies_right_of_it() -> None:
    picture = draw({"good": {"loss": 0.01, "norm": 0.0}, "bad": {"loss": 20.0, "norm": math.inf}})
    at = {mark.title: mark.x for mark in picture.marks}
    assert at["good: norm: 0"] < at["good: loss: 0.01"] < picture.limit < at["bad: loss: 20"] <= at["bad: norm: inf"]
    assert [name for _, name in picture.names] == ["loss", "norm"]
    assert len({mark.path for mark in picture.marks}) == 2
    assert max(at.values()) < picture.width


def test_nothing_to_draw() -> None:
    with pytest.raises(ValueError, match="expected the shares of a candidate"):
        draw({})


def test_the_page_holds_table_picture_and_speeds(tmp_path: Path) -> None:
    rows = [
        Row("rust", {"operations": "66/66"}, tensors={"loss": 0.1}),
        Row("go", wrong=["link: <gone>"]),
        Row("fortran", skipped="there is no gfortran on the path"),
    ]
    write_page(tmp_path / "page.html", rows, {"rust": 7353.2})
    text = (tmp_path / "page.html").read_text()
    for due in ("66/66", "link: &lt;gone&gt;", "there is no gfortran", "rust: loss: 0.1", "7,353 tokens/s", "<svg"):
        assert due in text
    write_page(tmp_path / "none.html", rows[1:], {})
    assert "<svg" not in (tmp_path / "none.html").read_text()


@pytest.mark.slow
def test_the_step_of_a_library_by_tensor(tmp_path: Path, stub_path: Path) -> None:
    found = shares(of_library(stub_path.resolve(), tmp_path), stub_path.resolve().parent)
    assert {"loss", "norm", "gradient.layers.0.w_o", "parameter.lm_head", "m.embedding", "v.embedding"} <= found.keys()
    assert max(found.values()) <= 1


@pytest.mark.slow
def test_a_wrong_tensor_stands_out(tmp_path: Path) -> None:
    step = of_reference(tmp_path)
    text, right = step.read_text(), "    groups = {"
    assert text.count(right) == 1
    step.write_text(text.replace(right, f'    found["gradient.layers.0.w_o"] *= 2\n{right}'))
    found = shares(step)
    assert [name for name, share in found.items() if share > 1] == ["gradient.layers.0.w_o"]


def test_a_step_that_raises(tmp_path: Path) -> None:
    step = of_reference(tmp_path)
    step.write_text("def step(parameters, tokens, targets, settings):\n    raise RuntimeError('no such thing')\n")
    with pytest.raises(StepError, match="one training step"):
        shares(step)


def test_the_reference_as_a_module_is_float32_throughout(tmp_path: Path) -> None:
    """Also what is made of numbers alone, which NumPy makes of float64."""
    row, path = Row("reference"), reference_module(tmp_path)
    judge(row, "operations", "--module", str(path), "-o", "rope_freqs,zero_grad,silu", "-k", "plain")
    assert row.wrong == []
    assert row.passed["operations"] != "none"
