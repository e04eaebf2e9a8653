"""The examples in Python hold operations of the header; those in NumPy and PyTorch, where that is there, are judged."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from conformance.commands.cli import main
from conformance.operations import OPERATIONS, signature

FOLDER = Path(__file__).parents[2] / "examples/modules"
# Of each operation the cases of every kind of data, not those by design: a module of PyTorch takes minutes for them.
CHOSEN = "not designed and not full/ and not refused and not sequence"


WILD = tomllib.loads((FOLDER / "libraries.toml").read_text(encoding="utf-8"))
IN_ONNX = "in_onnx"  # a port that modules import
OWN = {"compile_by", "node", "run"}  # its functions that are no operations


def functions_of(path: Path) -> list[ast.FunctionDef]:
    """What a module defines, and what it imports of the port in ONNX."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    functions = [node for node in body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    imported = {
        name.name for node in body if isinstance(node, ast.ImportFrom) and node.module == IN_ONNX for name in node.names
    }
    there = functions_of(FOLDER / f"{IN_ONNX}.py") if imported else []
    return [*functions, *(function for function in there if function.name in imported)]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("with_*.py")), ids=lambda path: path.stem)
def test_every_function_has_the_names_of_an_operation_and_of_its_arguments(path: Path) -> None:
    functions = functions_of(path)
    assert functions
    assert OWN.isdisjoint(function.name for function in functions)
    for function in functions:
        due = signature(OPERATIONS[function.name]).names
        assert [argument.arg for argument in function.args.args] == list(due), function.name


def test_every_module_is_judged_among_the_libraries_of_others() -> None:
    assert {library["module"] for library in WILD.values()} == {path.name for path in FOLDER.glob("with_*.py")}
    assert len({library["name"] for library in WILD.values()}) == len(WILD)


@pytest.mark.slow
def test_the_example_in_numpy_conforms_in_what_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-n", "1", "--module", str(FOLDER / "with_numpy.py"), "--exported", "-k", "not designed"]) == 0
    out = capsys.readouterr().out.strip()
    assert out.splitlines()[-1].startswith("with_numpy.py conforms as far as it was judged: ")
    assert "198 operations not exported" in out.splitlines()[-1]


@pytest.mark.slow
def test_the_example_in_torch_computes_right_in_whole_training_steps_too(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="nox -s oracle installs it")
    module = str(FOLDER / "with_torch.py")
    # Where the processor has units for bfloat16, PyTorch multiplies by them: sums that are subnormal become zero.
    words = ["run", "-n", "1", "--module", module, "--exported", "-k"]
    contract = ["--contract", str(FOLDER / "bf16_units.toml")]
    assert main([*words, "gemm_bf16/subnormal", *contract]) == 0, capsys.readouterr().out
    code = main([*words, f"({CHOSEN}) and not gemm_bf16/subnormal"])
    out = capsys.readouterr().out
    assert code == 0, out
    assert "a module of Python, on arrays of torch" in out
    assert "training run: 10 steps within the envelope" in out
