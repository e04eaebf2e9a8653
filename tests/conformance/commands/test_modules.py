"""`run --module`: a module of Python gets the verdicts that a library gets, and what it cannot be asked is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.commands.cli import main
from tests.conformance.commands.small import run, said

HEAD = "import numpy as np\n"
RIGHT = """
def silu(input):
    return input / (1 + np.exp(-input))

def add(a, b):
    if a is None or b is None:
        raise ValueError("add: expected two arrays")
    return a + b
"""
WRONG = """
def rmsnorm(input, weight, eps):
    r = 1 / (np.sqrt(np.mean(input * input, -1, keepdims=True)) + np.float32(eps))
    return input * r * weight
"""
SILENT = "def embedding(weight, indices): return weight[indices]\n"
QUICK = "plain and not designed"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a module of each kind."""
    for name, source in (("right", RIGHT), ("wrong", WRONG), ("silent", SILENT), ("both", RIGHT + WRONG)):
        (tmp_path / f"{name}.py").write_text(HEAD + source)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_right_module_conforms_in_what_it_has(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--module", "right.py", "--exported", "-k", "not designed and not thousand") == 0
    out = said(capsys)
    assert out.splitlines()[-1].startswith("right.py conforms as far as it was judged: ")
    assert "a module of Python, on arrays of numpy: guard zones are at the arrays that it is given" in out
    assert "not run: 10 calls to be refused: a function of Python is given no sizes that its arrays tell" in out


def test_a_module_may_be_named_as_it_is_imported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--module", "right", "-o", "silu", "-k", QUICK) == 0
    assert said(capsys).splitlines()[-1].startswith("right conforms")


def test_a_wrong_module_is_told_what_it_did_and_how_to_repeat_that(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--module", "mine=both.py", "--exported", "-k", QUICK) == 1
    out = said(capsys)
    assert out.splitlines()[-1].startswith("mine does not conform: 1 mistake explains")
    assert "rmsnorm: matches: eps outside the root" in out
    command = "run --module both.py --case 'rmsnorm/plain/64x64x1e-06'"
    assert command in out
    assert run(*command.split()[1:3], "--case", "rmsnorm/plain/64x64x1e-06") == 1


def test_what_it_lets_pass_stands_in_a_column_of_its_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--module", "silent.py", "-o", "embedding", "-k", "refused or plain") == 1
    out = said(capsys)
    assert "embedding: computes right, does not refuse" in out
    assert "did not raise; a call with indices = null is to be refused: by an exception" in out
    assert "calls to be refused: a function of Python is given no sizes that its arrays tell, and no outputs" in out


def test_a_refusal_that_cannot_be_asked_for_is_no_pass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--module", "right.py", "--case", "silu/refused/negative_n") == 2
    assert "no case matches" in said(capsys)


def test_a_refusal_that_cannot_be_asked_for_a_thousand_times_is_no_pass(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "freqs.py").write_text("def rope_freqs(max_seq_len, head_dim, base, alpha): raise NotImplementedError\n")
    assert run("--module", "freqs.py", "--case", "rope_freqs/sequence/refused_thousand") == 2
    assert "no case matches" in said(capsys)


def test_a_module_of_other_functions_says_what_is_near(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "other.py").write_text("def rms_norm(x): return x\ndef train(): pass\n")
    assert run("--module", "other.py", "--exported") == 2
    out = said(capsys)
    assert "other.py: has none of the header's 205 operations" in out
    assert "near to what the header has: rms_norm (rmsnorm)" in out
    assert "it has rms_norm, train" in out


def test_what_a_module_imports_is_its_own_only_where_it_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "star.py").write_text("from right import add, silu\n__all__ = ['silu']\n")
    assert run("--module", "star.py", "-o", "silu,add", "-k", QUICK, "--exported") == 0
    assert "not exported: 1 operation (add)" in said(capsys)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--module", "no_such.py"), "no_such.py: expected a file of Python, got none"),
        (("--module", "right.py", "--framework", "nothing"), "framework nothing: expected one that is installed here"),
        (("--module", "right.py", "--schedule", "reverse"), "--schedule is of a library"),
        (("--module", "right.py", "--declarations", "mine.h"), "--declarations is of a library"),
        (("--outputs", ".", "--framework", "torch"), "--framework is of a module"),
    ],
)
def test_options_that_do_not_fit(
    options: tuple[str, ...], problem: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*options) == 2
    assert problem in said(capsys)


@pytest.mark.slow
def test_probe_and_hunt_take_modules(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "--module", "both.py", "-o", "rmsnorm", "--exported"]) == 0
    assert "4 probes by the contract float32: 0 did not hold" in said(capsys)
    assert main(["hunt", "--module", "both.py", "-o", "rmsnorm", "--calls", "9", "--seed", "3", "--keep", "found"]) == 1
    out = said(capsys)
    assert "rmsnorm: matches: eps outside the root" in out
    assert "run --module both.py --inputs found/1/rmsnorm.safetensors" in out
    assert run("--module", "both.py", "--inputs", "found/1/rmsnorm.safetensors") == 1
    assert main(["probe", "--library", "libyours.so", "--framework", "torch"]) == 2
    assert "--framework is of a module" in said(capsys)


def test_honest_modules_are_counted_by_operation(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counted = ["false-alarms", "--seed", "0", "-n", "1", "-k", QUICK, "--module"]
    assert main([*counted, "right.py", "--seeds", "2"]) == 0
    out = said(capsys).splitlines()
    assert out[3:5] == ["  seed 0: 14 runs judged", "  seed 1: 28 runs judged"]
    assert [line.split()[:3] for line in out[5:-1]] == [["silu", "14", "0"], ["add", "14", "0"]]
    assert out[-1] == "right.py: 2 operations, 28 runs, 0 failed"


def test_what_fails_in_one_is_told_with_what_repeats_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counted = ["false-alarms", "--seed", "3", "-n", "1", "-k", QUICK, "--module"]
    assert main([*counted, "both.py", "--module", "right.py"]) == 1
    out = said(capsys)
    assert "FAIL matches: eps outside the root: output: rms of error / sigma is" in out
    assert "--case 'rmsnorm/plain/64x64x1e-06' --seed 3" in out
    assert out.splitlines()[-1] == "right.py: 2 operations, 14 runs, 0 failed"
    assert main([*counted, "no_such.py"]) == 2
    assert "no_such.py: expected a file of Python, got none" in said(capsys)


PARTIAL = """
import numpy as np

def softmax(input):
    if input.shape[1] > 8:
        raise NotImplementedError("rows of 8 at most")
    weights = np.exp(input - input.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)
"""


def test_what_a_module_has_not_implemented_is_as_its_contract_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("partial.py").write_text(PARTIAL, encoding="utf-8")
    Path("sizes.toml").write_text('[operations.softmax]\nsupports = "cols <= 8"\n', encoding="utf-8")
    words = ["--module", "partial.py", "-o", "softmax", "-k", QUICK]
    assert run(*words) == 1
    assert "raised NotImplementedError: rows of 8 at most (partial.py:6, in softmax)" in said(capsys)
    assert run(*words, "--contract", "sizes.toml") == 0
    assert "not supported" in said(capsys)
    Path("sizes.toml").write_text('[operations.softmax]\nsupports = "cols <= 64"\n', encoding="utf-8")
    assert run(*words, "--contract", "sizes.toml") == 1
