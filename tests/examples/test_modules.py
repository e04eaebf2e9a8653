"""The examples in Python: those whose package is installed are judged, and conform."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.commands.cli import main

FOLDER = Path(__file__).parents[2] / "examples/modules"
PACKAGES = {"with_jax": "jax", "with_onnxruntime": "onnxruntime", "with_blis": "blis"}
# Of each operation the cases of every kind of data, not those by design: a module of PyTorch takes minutes for them.
CHOSEN = "not designed and not full/ and not refused and not sequence"


def test_the_example_in_numpy_conforms_in_what_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-n", "1", "--module", str(FOLDER / "with_numpy.py"), "--exported", "-k", "not designed"]) == 0
    out = capsys.readouterr().out.strip()
    assert out.splitlines()[-1].startswith("with_numpy.py conforms as far as it was judged: ")
    assert "113 operations not exported" in out.splitlines()[-1]


def test_the_example_in_torch_computes_right_in_whole_training_steps_too(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    module = str(FOLDER / "with_torch.py")
    assert main(["run", "-n", "1", "--module", module, "--exported", "-k", CHOSEN]) == 0, capsys.readouterr().out
    out = capsys.readouterr().out
    assert "a module of Python, on arrays of torch" in out
    assert "training run: 10 steps within the envelope" in out


@pytest.mark.parametrize("name", PACKAGES)
def test_the_examples_of_other_packages_compute_right(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip(PACKAGES[name])
    assert main(["false-alarms", "--module", str(FOLDER / f"{name}.py"), "--seed", "0", "-k", CHOSEN, "-n", "1"]) == 0
    assert ", 0 failed" in capsys.readouterr().out.splitlines()[-1]


def test_every_example_is_judged_here_but_what_differs_on_purpose() -> None:
    judged = {*PACKAGES, "with_numpy", "with_torch", "with_torch_functions"}
    assert {path.stem for path in FOLDER.glob("*.py")} == judged
