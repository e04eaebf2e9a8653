"""`run --step`: options that fit, what is chosen, a step that is not the same twice, and one that goes wrong later."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conformance.commands.cli import main
from conformance.report.files import read_jsonl
from conformance.steps.function.expected import beginning, inputs
from tests.conformance.commands.small import said

EXAMPLE = Path(__file__).parents[3] / "examples/steps/with_numpy.py"
HEAD = f"""
import sys
sys.path.insert(0, {str(EXAMPLE.parent)!r})
import numpy as np, with_numpy
"""
UPDATE = "training_step/tiny/2x36"


def judged(folder: Path, body: str, *options: str) -> int:
    """The exit code of judging a step that does this with `found`, what the example returns."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    call = "def step(parameters, tokens, targets, s):\n    found = with_numpy.step(parameters, tokens, targets, s)\n"
    (folder / "mine.py").write_text(f"{HEAD}{call}{lines}    return found\n")
    return main(["run", "--step", f"{folder / 'mine.py'}:step", *options])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--repro", "failures"), "--repro is of a library; expected --library beside it, got --step"),
        (("-o", "rmsnorm"), "--operation is of a library"),
        (("--exported",), "--exported is of a library"),
    ],
)
def test_options_of_a_library_are_refused(
    options: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--step", f"{EXAMPLE}:step", *options]) == 2
    assert problem in said(capsys)


@pytest.mark.slow
def test_another_seed_draws_another_batch_and_other_moments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not np.array_equal(inputs()["input.tokens"], inputs(3)["input.tokens"])
    assert all(not np.array_equal(array, beginning(3).m[name]) for name, array in beginning().m.items())
    assert judged(tmp_path, "pass", "--case", UPDATE, "--seed", "3") == 0
    assert judged(tmp_path, "found['loss'] = found['loss'] * 2", "--case", UPDATE, "--seed", "3") == 1
    assert "--seed 3" in said(capsys), "in the command that repeats it"


@pytest.mark.slow
def test_what_a_step_has_passed_once_it_must_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratchet = tmp_path / "passed.txt"
    held = ("--ratchet", str(ratchet), "--run-length", "2")
    assert judged(tmp_path, "pass", *held, "--update-ratchet") == 0
    assert ratchet.read_text().splitlines()[1:] == ["step/envelope", UPDATE]
    assert judged(tmp_path, "found['loss'] = found['loss'] * 2", *held) == 1
    assert f"ratchet: {UPDATE} passed once, and is now FAIL" in said(capsys)


def test_the_report_says_what_a_step_was_kept_from(tmp_path: Path) -> None:
    report = tmp_path / "run.jsonl"
    assert judged(tmp_path, "pass", "--case", UPDATE, "--jsonl", str(report)) == 0
    said = read_jsonl(report).isolation
    assert said.startswith("kept from ")
    assert not said.startswith("kept from nothing")


def test_another_precision_is_too_fine_for_its_limits(capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "--step", f"{EXAMPLE}:step", "--contract", "bf16"])
    assert "2 TOO FINE" in said(capsys)


@pytest.mark.slow
def test_words_and_ids_choose_the_update_or_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    step = f"{EXAMPLE}:step"
    assert main(["run", "--step", step, "--case", "step/envelope/02", "--run-length", "2"]) == 0
    assert "1 case passed" in said(capsys)
    assert main(["run", "--step", step, "-k", "training_step"]) == 0
    assert "1 case passed" in said(capsys)
    assert main(["run", "--step", step, "-k", "rmsnorm"]) == 2
    assert "no case matches -k 'rmsnorm'" in said(capsys)


def test_a_step_that_is_not_the_same_twice_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "global calls\ncalls = globals().get('calls', 0) + 1\nfound['norm'] *= 1 + 1e-7 * calls"
    assert judged(tmp_path, body, "--case", UPDATE) == 1
    assert "the second run differs from the first in norm" in said(capsys)


def test_a_step_that_changes_what_it_is_given_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(tmp_path, "parameters['final_norm'][0] = 2", "--case", UPDATE) == 1
    out = said(capsys)
    assert "input parameter.final_norm was changed: a step leaves what it is given as it is" in out


def test_a_gradient_that_is_missing_or_transposed_is_wrong_in_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = "g = found['gradients']\ng['layers.1.w_v'] = g['layers.1.w_v'].T\ndel g['layers.0.router']"
    assert judged(tmp_path, body, "--case", UPDATE) == 1
    out = said(capsys)
    assert "first wrong: gradient.layers.1.w_v: shape (64, 16), expected (16, 64); then gradient.layers.0.router" in out
    assert "gradient.layers.0.router: none was returned" in out


@pytest.mark.slow
def test_an_update_alone_may_be_wrong_and_is_known_by_its_reading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = """
class Settings:
    def __getattr__(self, name): return 1e9 if name == "clip_norm" else getattr(s, name)
found["parameters"], found["m"], found["v"] = with_numpy.update(parameters, found["gradients"], 1.0, Settings())
"""
    assert judged(tmp_path, body, "--case", UPDATE) == 1
    out = said(capsys)
    assert "training steps: matches: not clipped" in out
    assert "all 23 gradients" in out


@pytest.mark.slow
def test_half_a_gradient_is_told_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "found = {'gradients': found['gradients']}\nfound['gradients']['layers.0.w_o'] /= 2"
    assert judged(tmp_path, body) == 1
    out = said(capsys)
    assert "first wrong: gradient.layers.0.w_o: the right values times 1/2" in out
    assert "not run: step/envelope: it goes on from loss, parameters, m, v, not given by the step" in out


def test_what_the_step_raises_is_its_failure_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(tmp_path, "found = parameters['w_k']") == 1
    out = said(capsys)
    assert "KeyError: 'w_k' (mine.py:7, in step)" in out
    assert out.splitlines()[-1].endswith("does not conform: 1 mistake explains 1 failure in 1 case.")
    assert judged(tmp_path, "found = parameters['w_k']", "--case", "step/envelope/01") == 1
    assert "FAIL step/envelope/01" in said(capsys)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ("import os; os._exit(3)", "CRASHED", "exit status 3"),
        ("while True: pass", "TIMED OUT", "no answer in 3 s"),
    ],
)
def test_a_step_that_does_not_come_back_is_no_hazard(
    body: str, status: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(f"def step(parameters, tokens, targets, settings):\n    {body}\n")
    assert main(["run", "--step", f"{tmp_path / 'mine.py'}:step", "--limit", "0.3"]) == 1
    out = said(capsys)
    assert f"{status} training_step/tiny/2x36" in out
    assert words in out


@pytest.mark.slow
def test_what_failed_the_last_time_is_judged_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert judged(tmp_path, "found['aux_loss'] *= 2", "--run-length", "2") == 1
    assert "first wrong: aux_loss: the right values times 2" in said(capsys)
    assert judged(tmp_path, "pass", "--lf") == 0
    assert "conforms as far as it was judged: 1 case passed." in said(capsys)
