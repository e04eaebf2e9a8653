"""Modules of Python in a worker: arrays in, arrays out, and every fault of a function told as its own."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from bindings import LibraryError
from conformance.candidates.finding import Misdeed
from conformance.candidates.module.source import can_be_made, find
from conformance.candidates.worker.outcome import Outcome
from conformance.candidates.worker.worker import Worker
from conformance.operations import OPERATIONS

X = np.linspace(-2, 2, 37, dtype=np.float32)
HEAD = "import numpy as np\n"
GRAD = {"grad": np.array([3, 4], np.float32), "clip_norm": 1.0}


def call(folder: Path, source: str, operation: str = "scale", arguments: Mapping[str, Any] | None = None) -> Outcome:
    """What comes of one call of a module with this text."""
    (folder / "mine.py").write_text(HEAD + textwrap.dedent(source))
    with Worker(find(str(folder / "mine.py")), limit_s=2.0) as worker:
        return worker.run(operation, arguments or {"input": X, "scale": 2.0})


# ---- how a function is called -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "source",
    [
        "def scale(input, scale): return input * np.float32(scale)",
        "def scale(scale, input): return input * np.float32(scale)",
        "def scale(x, *, scale): return x * np.float32(scale)",
        "def scale(*arrays, **numbers): return arrays[0] * np.float32(numbers['scale'])",
        "def cuda_scale(input, scale): return input * np.float32(scale)",
        "def scale(input, scale): return {'output': input * np.float32(scale)}",
        "def scale(input, scale): return (input * np.float32(scale),)",
        "def scale(input, output, scale): np.multiply(input, np.float32(scale), out=output)",
        "def scale(x, output, scale): output[:] = x * np.float32(scale)",
        "def scale(input, scale): return np.repeat(input, 2)[::2] * np.float32(scale)",
        "class Scale:\n    def __call__(self, input, scale): return input * np.float32(scale)\nscale = Scale()",
        "print('a word on standard output')\ndef scale(input, scale): return input * np.float32(scale)",
    ],
)
def test_every_way_to_write_a_function_is_called(source: str, tmp_path: Path) -> None:
    outcome = call(tmp_path, source)
    assert (outcome.status, outcome.code, outcome.findings) == ("done", 0, []), outcome.detail
    np.testing.assert_array_equal(outcome.outputs["output"], 2 * X)


@pytest.mark.parametrize(
    "source",
    [
        "def grad_clip(grad, clip_norm): return grad * np.float32(0.2), np.array([5], np.float32)",
        "def grad_clip(grad, clip_norm):\n    grad *= np.float32(0.2)\n    return {'total_norm': np.full(1, 5, 'f')}",
        "def grad_clip(grad, total_norm, clip_norm):\n    grad *= np.float32(0.2)\n    total_norm[0] = 5",
    ],
)
def test_an_array_that_is_updated_may_be_returned_or_written(source: str, tmp_path: Path) -> None:
    outcome = call(tmp_path, source, "grad_clip", GRAD)
    assert (outcome.status, outcome.code, outcome.findings) == ("done", 0, []), outcome.detail
    np.testing.assert_array_equal(outcome.outputs["grad"], GRAD["grad"] * np.float32(0.2))
    np.testing.assert_array_equal(outcome.outputs["total_norm"], [5])


def test_numbers_come_in_their_types(tmp_path: Path) -> None:
    source = "def scale(input, scale):\n    assert type(scale) is float\n    return input * np.float32(scale)"
    outcome = call(tmp_path, source, arguments={"input": X, "scale": 0.0})
    assert (outcome.code, outcome.raised) == (0, "")


def test_lists_of_arrays_come_and_go_as_lists(tmp_path: Path) -> None:
    arrays = [np.ones(3, np.float32), np.full(5, 2, np.float32)]
    source = "def multi_scale(arrays, scale): return [a * scale[0] for a in arrays]"
    outcome = call(tmp_path, source, "multi_scale", {"arrays": arrays, "scale": np.array([3], np.float32)})
    assert [array.tolist() for array in outcome.outputs["arrays"]] == [[3.0] * 3, [6.0] * 5]


def test_16_bits_are_ml_dtypes(tmp_path: Path) -> None:
    source = "import ml_dtypes\ndef cast_to_bf16(input): return input.astype(ml_dtypes.bfloat16)"
    outcome = call(tmp_path, source, "cast_to_bf16", {"input": X})
    np.testing.assert_array_equal(outcome.outputs["output"], X.astype(ml_dtypes.bfloat16).astype(np.float32))


def test_arrays_lie_in_memory_with_guard_zones(tmp_path: Path) -> None:
    source = """
        def scale(input, scale):
            return np.lib.stride_tricks.as_strided(input, (input.size + 1,))[1:] * np.float32(scale)
    """
    assert call(tmp_path, source).detail.startswith("SIGSEGV in run 1")


# ---- what is wrong is told as the function's ------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("source", "line"),
    [
        (
            "def scale(input, scale): return (input * scale).astype(float)",
            "returned output as float64, expected float32",
        ),
        ("def scale(input, scale): return input[:-1]", "returned output of shape (36,), expected (37,)"),
        ("def scale(input, scale): return 2.0", "returned float for output, expected an array on the CPU"),
        ("def scale(input, scale): return [input, input]", "returned list for output, expected an array on the CPU"),
        ("def scale(input, scale): pass", "returned None, expected output"),
        ("def scale(input, scale): return {'out': input}", "returned out, expected output"),
        ("def scale(input, scale): return {}", "returned nothing, expected output"),
    ],
)
def test_a_result_that_is_none(source: str, line: str, tmp_path: Path) -> None:
    outcome = call(tmp_path, source)
    assert (outcome.status, outcome.detail.splitlines()[0]) == ("raised", line)


@pytest.mark.parametrize(
    ("returned", "line"),
    [
        ("grad", "returned one ndarray, expected 2: grad, total_norm"),
        ("grad, grad, grad", "returned 3 values, expected 2: grad, total_norm"),
        ("grad, np.float32(5)", "returned total_norm of shape (), expected (1,)"),
    ],
)
def test_a_tuple_that_is_none(returned: str, line: str, tmp_path: Path) -> None:
    outcome = call(tmp_path, f"def grad_clip(grad, clip_norm): return {returned}", "grad_clip", GRAD)
    assert (outcome.status, outcome.detail.splitlines()[0]) == ("raised", line)


def test_what_a_function_raises_is_told_with_its_place(tmp_path: Path) -> None:
    outcome = call(tmp_path, "def helper(n): return 1 / n\ndef scale(input, scale): return helper(0)")
    assert (outcome.status, outcome.code) == ("done", -2)
    assert outcome.raised == "ZeroDivisionError: division by zero (mine.py:2, in helper)"
    assert "conformance" not in outcome.detail
    assert 'mine.py", line 3, in scale' in outcome.detail


def test_a_parameter_that_is_spelled_otherwise_is_named(tmp_path: Path) -> None:
    raised = call(tmp_path, "def scale(input, factor): return input").raised
    assert raised == "TypeError: scale() got an unexpected keyword argument 'scale'"


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        (
            "def scale(input, scale):\n    input *= 2\n    return input",
            Misdeed.CHANGED_INPUT,
            "input input was changed at",
        ),
        (
            "calls = []\ndef scale(input, scale):\n    calls.append(1)\n    return input * np.float32(len(calls))",
            Misdeed.VARIES,
            "the second run differs from the first in output",
        ),
        ("def scale(input, output, scale): output[1:] = input[1:]", Misdeed.UNWRITTEN, "left output unwritten at [0]"),
    ],
)
def test_what_a_call_does_beside_is_found(source: str, kind: Misdeed, text: str, tmp_path: Path) -> None:
    [finding] = call(tmp_path, source).findings
    assert finding.kind is kind
    assert finding.text.startswith(text)


@pytest.mark.parametrize(
    ("source", "status", "detail"),
    [
        ("def scale(input, scale):\n    while True: pass", "timed out", "no answer in 2 s in run 1"),
        ("import os\ndef scale(input, scale): os._exit(3)", "crashed", "exit status 3 in run 1"),
        ("import sys\ndef scale(input, scale): sys.exit(4)", "crashed", "exit status 4 in run 1"),
        ("import os\ndef scale(input, scale): os.closerange(3, 99)", "crashed", "exit status 1 in run 1"),
    ],
)
def test_a_function_that_does_not_come_back(source: str, status: str, detail: str, tmp_path: Path) -> None:
    outcome = call(tmp_path, source)
    assert outcome.status == status
    assert outcome.detail.startswith(detail)


def test_what_it_writes_to_the_judges_connection_does_not_run(tmp_path: Path) -> None:
    source = f"""
        import os, pickle, struct
        class Opens:
            def __reduce__(self): return os.mkdir, ({str(tmp_path / "bought")!r},)
        def scale(input, scale):
            bought = pickle.dumps(("done", Opens()))
            for file in range(3, 32):
                try: os.write(file, struct.pack("!i", len(bought)) + bought)
                except OSError: pass
            return input
    """
    outcome = call(tmp_path, source)
    assert outcome.status == "crashed"
    assert outcome.detail.startswith("closed or garbled its connection to the judge")
    assert not (tmp_path / "bought").exists()


# ---- which module, and whose arrays ---------------------------------------------------------------------------------
def opened(text: str, framework: str = "") -> None:
    with Worker(find(text, framework)):
        pass


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (
            "import no_such_package",
            "got ModuleNotFoundError: No module named 'no_such_package' (mine.py:2, in <module>); it is run by "
            f"{sys.executable}: install it there",
        ),
        ("def silu(input) return input", "SyntaxError: "),
        ("FRAMEWORK = 7", "FRAMEWORK: expected a name, got 7"),
        ("FRAMEWORK = 'no_such_framework'", "expected one that is installed here, got: No module named"),
        ("FRAMEWORK = 'json'", "expected numpy, torch, jax or another whose module has from_dlpack, got json"),
        ("import os; os._exit(5)", "crashed while it was opened: exit status 5"),
    ],
)
def test_a_module_that_cannot_be_imported(source: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(HEAD + source)
    with pytest.raises(LibraryError) as error:
        opened(str(tmp_path / "mine.py"))
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no_such.py", "no_such.py: expected a file of Python, got none"),
        ("no.such.module", "no.such.module: expected a file of Python or a module, found no no"),
        ("json.no_such", "json.no_such: expected a file of Python or a module, found no json.no_such"),
        ("tests", "tests: expected a file of Python, got a folder"),
    ],
)
def test_a_module_that_is_not_there(text: str, problem: str) -> None:
    with pytest.raises(LibraryError) as error:
        find(text)
    assert str(error.value) == problem


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package below the working directory, which leaves a file behind where it is imported."""
    (tmp_path / "port").mkdir()
    (tmp_path / "port/__init__.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w').close()")
    (tmp_path / "port/base.py").write_text("FACTOR = 2")
    text = HEAD + "from .base import FACTOR\ndef scale(input, scale): return input * np.float32(FACTOR)"
    (tmp_path / "port/ops.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    return "port.ops"


def test_a_module_of_a_package_is_found_without_running_it(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAYER_TRUST", "1")  # it writes a file where it is run
    module = find(package)
    assert not (tmp_path / "imported").exists()
    with Worker(module) as worker:
        outcome = worker.run("scale", {"input": X, "scale": 2.0})
    assert (outcome.code, outcome.raised) == (0, "")
    assert (tmp_path / "imported").exists()


@pytest.mark.parametrize(
    ("operation", "override", "can_be"),
    [
        ("silu", {"input": None}, True),
        ("silu", {"output": None}, False),
        ("silu", {"n": -1}, False),
        ("rmsnorm", {"eps": -1.0}, True),
        ("rope_freqs", {"head_dim": 0}, True),
        ("rope_freqs", {"head_dim": 2**31 - 2}, False),
        ("multi_scale", {"arrays[1]": None}, True),
        ("multi_scale", {"sizes[1]": 0}, False),
    ],
)
def test_which_refusals_can_be_asked_for(operation: str, override: dict[str, Any], can_be: bool) -> None:
    assert can_be_made(OPERATIONS[operation], override) is can_be
