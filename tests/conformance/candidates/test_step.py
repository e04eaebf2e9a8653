"""A training step that is one function: what it is given, what it may return, and what is said of anything else."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindings import LibraryError
from conformance.candidates.module.source import find_step
from conformance.candidates.module.step import call_step
from conformance.candidates.worker.worker import Worker
from conformance.steps.function.expected import TRAINING, told
from reference.model.config import TINY

A = np.arange(6, dtype=np.float32).reshape(2, 3)
PARAMETERS = {"layers.0.w_q": A, "final_norm": A[0]}


def given() -> dict[str, Any]:
    """What a step of a model with two parameters is called with."""
    moments = {name: np.zeros_like(array) for name, array in PARAMETERS.items()}
    tokens = np.arange(8, dtype=np.int32).reshape(2, 4)
    numbers = told(TINY, TRAINING, 3)
    return {
        "parameters": PARAMETERS, "m": moments, "v": moments, "tokens": tokens, "targets": -tokens, "settings": numbers,
    }  # fmt: skip


def call(folder: Path, body: str) -> Any:
    """What comes of a step with this body."""
    source = "import numpy as np\ndef step(parameters, tokens, targets, settings):\n" + textwrap.indent(
        textwrap.dedent(body), "    "
    )
    (folder / "mine.py").write_text(source)
    with Worker(find_step(f"{folder / 'mine.py'}:step"), limit_s=10) as worker:
        return worker.call(call_step, given())


def test_a_step_is_given_arrays_and_settings_and_returns_what_it_has(tmp_path: Path) -> None:
    outcome = call(
        tmp_path,
        """
        assert {array.dtype.name for array in parameters.values()} == {"float32"}
        assert (tokens.dtype.name, tokens.shape, targets.min()) == ("int32", (2, 4), -7)
        assert (settings.hidden, settings.update, settings.m.keys()) == (64, 3, parameters.keys())
        doubled = {name: array * 2 for name, array in parameters.items()}
        return {"loss": 1.5, "norm": np.ones((1,), np.float32), "gradients": doubled, "m": settings.m}
        """,
    )
    assert outcome.status == "done", outcome.detail
    found = outcome.value["results"]
    assert {*found} == {"loss", "norm", *(f"{kind}.{name}" for kind in ("gradient", "m") for name in PARAMETERS)}
    assert (found["loss"].dtype, found["loss"].tolist()) == (np.float32, [1.5])
    np.testing.assert_array_equal(found["gradient.layers.0.w_q"], A * 2)
    assert outcome.value["changed"] == []


def test_inputs_that_it_changes_are_named(tmp_path: Path) -> None:
    body = "parameters['final_norm'][0] += 1\nsettings.v['layers.0.w_q'][...] = 2\nreturn {'loss': 0.0}"
    assert call(tmp_path, body).value["changed"] == ["parameter.final_norm", "v.layers.0.w_q"]


def test_a_member_that_is_left_out_or_none_is_known_to_lack(tmp_path: Path) -> None:
    found = call(tmp_path, "return {'gradients': {'final_norm': None}}").value["results"]
    assert found == {"gradient.layers.0.w_q": None, "gradient.final_norm": None}


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("pass", "returned nothing, expected a dict of some of loss, cross_entropy, aux_loss, norm, gradients"),
        ("return 1.0, parameters", "returned tuple, expected a dict of some of loss"),
        ("return {}", "returned an empty dict, expected some of loss"),
        ("return {'grads': parameters}", "returned grads, expected some of loss"),
        ("return {'gradient': parameters}", "m, v; did you mean gradients?"),
        ("return {'gradients': [1]}", "returned gradients as list, expected a dict by the names of the parameters"),
        (
            "return {'gradients': {'layers.0.wq': 1}}",
            "gradients: returned layers.0.wq, expected the names of the parameters (layers.0.w_q, final_norm ...); "
            "did you mean layers.0.w_q?",
        ),
        (
            "return {'gradients': {'final_norm': [1.0]}}",
            "returned list for gradients['final_norm'], expected an array on the CPU",
        ),
        ("return {'loss': tokens}", "returned loss as int32 of shape (2, 4), expected one number"),
        ("return {'m': {'final_norm': np.array([None])}}", "returned m['final_norm'] as an array of objects"),
        ("return parameters['w_k']", "KeyError: 'w_k' (mine.py:3, in step)"),
    ],
)
def test_what_is_no_result_is_told_in_a_line(body: str, line: str, tmp_path: Path) -> None:
    outcome = call(tmp_path, body)
    assert outcome.status == "raised"
    assert line in outcome.detail.splitlines()[0]
    assert "conformance" not in outcome.detail


def test_what_it_raises_comes_with_the_traceback_of_its_own_files(tmp_path: Path) -> None:
    detail = call(tmp_path, "def inner():\n    return 1 / 0\nreturn inner()").detail
    assert detail.splitlines()[0] == "ZeroDivisionError: division by zero (mine.py:4, in inner)"
    assert 'mine.py", line 5, in step' in detail


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("mine.py", "mine.py: expected FILE.py:FUNCTION or package.module:function"),
        ("mine.py:", "mine.py:: expected FILE.py:FUNCTION"),
        ("mine.py:a b", "expected FILE.py:FUNCTION"),
        ("mine.py:train", "mine.py: expected a function train, it has functions step"),
        ("none.py:step", "none.py: expected a file of Python, got none"),
    ],
)
def test_a_step_that_is_not_there(text: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text("def step(parameters, tokens, targets, settings): pass")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LibraryError) as error, Worker(find_step(text)):
        pass
    assert problem in str(error.value)
