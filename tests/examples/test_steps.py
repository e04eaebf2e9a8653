"""The examples of whole steps conform; one that only seems to learn is told which gradients are right, and why not."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.commands.cli import main
from conformance.report.files import read_jsonl
from tests.conformance.commands.small import said

FOLDER = Path(__file__).parents[2] / "examples/steps"
WRONG = Path(__file__).parent / "wrong_step.py"
LINES = 40  # what an adapter of a model in PyTorch may have


@pytest.mark.slow
def test_the_example_in_numpy_conforms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--step", f"{FOLDER / 'with_numpy.py'}:step"]) == 0
    out = said(capsys)
    assert out.splitlines()[-1] == "with_numpy.py:step conforms: 11 cases passed."
    assert "training run: 10 steps within the envelope" in out


def test_the_example_in_torch_conforms_through_a_short_adapter(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="nox -s oracle installs it")
    adapter = FOLDER / "with_torch.py"
    assert len(adapter.read_text().splitlines()) <= LINES
    assert main(["run", "--step", f"{adapter}:step"]) == 0
    assert said(capsys).splitlines()[-1] == "with_torch.py:step conforms: 11 cases passed."


@pytest.mark.slow
def test_a_step_whose_losses_alone_are_right_is_told_where_backward_goes_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jsonl, junit, page = (tmp_path / name for name in ("run.jsonl", "run.xml", "page.html"))
    files = ["--jsonl", str(jsonl), "--junit", str(junit), "--report", str(page)]
    assert main(["run", "--step", f"{WRONG}:step", *files]) == 1
    out = said(capsys)
    first = "first wrong: gradient.layers.1.down, which matches: norm backward before its sublayer; then gradient"
    right = "right: cross_entropy, aux_loss, loss; gradients of lm_head, final_norm"
    for line in (first, right, "gradient.layers.1.router: zero", "wrong, too: gradients of layers.0.gate"):
        assert line in out
    lacking = "not given by the step, and not judged: norm, updated parameters, first moments (m), second moments (v)"
    assert lacking in out
    assert "tests/examples/wrong_step.py:step --case 'training_step/tiny/2x36'" in out
    [result] = read_jsonl(jsonl).results
    passed = {verdict.output for verdict in result.verdicts if verdict.passed}
    assert passed == {"cross_entropy", "aux_loss", "loss", "gradient.lm_head", "gradient.final_norm"}
    [case] = ElementTree.parse(junit).iter("testcase")
    assert right in (case[0].text or "")
    assert right in page.read_text()


@pytest.mark.slow
def test_its_training_run_follows_from_the_same_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--step", f"{WRONG}:learns", "--run-length", "2"]) == 1
    out = said(capsys)
    assert out.splitlines()[-1] == "wrong_step.py:learns does not conform: 1 mistake explains 3 failures in 3 cases."
    assert "1 case; 2 results in step/envelope" in out
