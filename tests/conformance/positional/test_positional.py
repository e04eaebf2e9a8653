"""What a call forgives that hands floats over in registers of their own, and a call by position does not."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from bindings import Library
from bindings.header.records import Function, Parameter
from conformance import operations
from conformance.catalogue.goldens import golden_ids
from conformance.catalogue.goldens.load import load
from conformance.commands import cli
from conformance.ids import operation_of
from conformance.judging.outputs import passes
from conformance.operations import OPERATIONS
from conformance.positional.build import NoCallerError, build_caller, compiler
from conformance.positional.calls import Caller
from conformance.positional.judged import judge_operation
from tests.tools import build_with_cmake, needs

ROOT = Path(__file__).parents[3]


def kind(parameter: Parameter) -> str:
    return parameter.ctype if parameter.is_scalar else "pointer"


def shape(function: Function) -> tuple[str, ...]:
    """What of a signature decides where its arguments lie."""
    return tuple(map(kind, function.parameters))


# One operation for each shape of a signature that the header has.
SHAPES: Mapping[tuple[str, ...], str] = {shape(f): name for name, f in reversed(OPERATIONS.items())}


def exchanged(function: Function) -> tuple[int, int]:
    """A float and a neighbour that is none, where there is a float; else a whole number and a pointer beside it."""
    kinds = shape(function)
    pairs = list(zip(range(len(kinds)), range(1, len(kinds)), strict=False))
    floats = [(i, j) for i, j in pairs if (kinds[i] == "float") != (kinds[j] == "float")]
    return floats[0] if floats else next((i, j) for i, j in pairs if kinds[i] != kinds[j])


def swapped(function: Function) -> str:
    """C of a function that declares two of its arguments in each other's place, and else does what is right."""
    due = function.parameters
    i, j = exchanged(function)
    theirs = [*due]
    theirs[i], theirs[j] = due[j], due[i]
    given = ", ".join(f"{p.ctype} {p.name}" for p in theirs)
    names, types = ", ".join(p.name for p in due), ", ".join(p.ctype for p in due)
    return (
        f"int32_t {function.symbol}({given}) {{\n"
        f'    return ((int32_t(*)({types}))right("{function.symbol}"))({names});\n}}\n'
    )


def last_scalar(function: Function) -> Parameter:
    return [parameter for parameter in function.parameters if parameter.is_scalar][-1]


def by_address(function: Function) -> str:
    """C of a function that takes its last number by address, and else does what is right."""
    due, chosen = function.parameters, last_scalar(function)
    given = ", ".join(f"{p.ctype}{'*' * (p is chosen)} {p.name}" for p in due)
    names, types = ", ".join("*" * (p is chosen) + p.name for p in due), ", ".join(p.ctype for p in due)
    return (
        f"int32_t {function.symbol}({given}) {{\n"
        f'    return ((int32_t(*)({types}))right("{function.symbol}"))({names});\n}}\n'
    )


def library(folder: Path, right: Path, *options: str, slip: Callable[[Function], str] = swapped) -> Path:
    """A library with one slip in the signature of an operation of each shape; `right` computes for it."""
    head = (
        "#include <dlfcn.h>\n#include <stdint.h>\ntypedef uint16_t assayer_fp16, assayer_bf16;\n"
        f'static void* right(const char* name) {{ return dlsym(dlopen("{right}", RTLD_NOW | RTLD_LOCAL), name); }}\n'
    )
    source, path = folder / "swapped.c", folder / "libswapped.so"
    source.write_text(head + "".join(slip(OPERATIONS[name]) for name in SHAPES.values()))
    subprocess.run(["cc", *options, "-O1", "-shared", "-fPIC", "-o", path, source, "-ldl"], check=True)
    return path


@pytest.fixture(autouse=True)
def trust(monkeypatch: pytest.MonkeyPatch) -> None:
    """The option sets a variable of the process, which no other test may find."""
    monkeypatch.setenv("ASSAYER_TRUST", "1")


@pytest.fixture(scope="session")
def caller_program() -> Path:
    try:
        return build_caller()
    except NoCallerError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def right32(caller_program: Path) -> Path:
    """The C library for 32-bit x86, whose floats are float32 as they are on other machines."""
    flags = {"CMAKE_C_FLAGS": "-m32 -msse2 -mfpmath=sse", "CMAKE_C_STANDARD_LIBRARIES": "-lm"}
    return build_with_cmake(ROOT / "build" / "stub32", "assayer_stub", **flags) / "libassayer_stub.so"


@pytest.fixture(scope="module")
def swapped32(right32: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    path = library(tmp_path_factory.mktemp("swapped"), right32, *compiler()[1:])
    with Caller(build_caller(), path, 20) as caller:
        yield caller


@pytest.fixture(scope="module")
def addressed32(right32: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    path = library(tmp_path_factory.mktemp("addressed"), right32, *compiler()[1:], slip=by_address)
    with Caller(build_caller(), path, 20) as caller:
        yield caller


WITH_FLOATS = [name for kinds, name in SHAPES.items() if "float" in kinds]


def test_an_ordinary_call_forgives_what_travels_apart(tmp_path: Path, stub_path: Path) -> None:
    candidate = Library(library(tmp_path, stub_path.resolve()))
    wrong = set()
    for id in golden_ids():
        if (operation := operation_of(id)) in WITH_FLOATS and (golden := load(id)):
            function = OPERATIONS[operation]
            given = operations.as_declared(operation, {k: _copy(v) for k, v in golden.arguments.items()})
            results = getattr(candidate, operation)(*operations.ordered(function, given))
            flat = operations.flat(operations.by_name(function, results))
            got = {name: operations.widened(array) for name, array in flat.items()}
            if not passes(operation, golden.arguments, golden.expected, got):
                wrong.add(operation)
    assert WITH_FLOATS
    assert wrong == set()


def _copy(value: object) -> object:
    return [each.copy() for each in value] if isinstance(value, list) else getattr(value, "copy", lambda: value)()


@pytest.mark.built
@pytest.mark.parametrize("operation", SHAPES.values())
def test_a_call_by_position_does_not_and_names_the_two(operation: str, swapped32: Caller) -> None:
    function = OPERATIONS[operation]
    i, j = exchanged(function)
    first, second = (f"{place + 1} `{function.parameters[place].declaration}`" for place in (i, j))
    found = judge_operation(operation, swapped32)
    assert found.first
    assert found.passed < found.cases
    assert f"takes arguments {first} and {second} for each other" in found.swaps


@pytest.mark.built
@pytest.mark.parametrize("operation", SHAPES.values())
def test_a_number_taken_by_address_is_named(operation: str, addressed32: Caller) -> None:
    function = OPERATIONS[operation]
    chosen = last_scalar(function)
    place = function.parameters.index(chosen) + 1
    found = judge_operation(operation, addressed32)
    assert found.first
    assert (found.swaps, found.by_address) == ([], [f"takes {place} `{chosen.declaration}` by address"])


@needs("gfortran")
def test_what_fortran_takes_by_address(
    tmp_path: Path, caller_program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = (ROOT / "examples" / "fortran" / "rmsnorm.f90").read_text(encoding="utf-8")
    planted = source.replace("integer(c_int), value ::", "integer(c_int) ::")
    assert planted != source
    for text, code, said in (
        (source, 0, "1 of 1 operation right"),
        (planted, 1, "rmsnorm: takes 4 `int rows` and 5 `int hidden_dim` by address\n"),
    ):
        (tmp_path / "mine.f90").write_text(text, encoding="utf-8")
        path = tmp_path / f"libmine{code}.so"
        words = ["gfortran", "-m32", "-shared", "-fPIC", "-J", tmp_path, "-o", path, tmp_path / "mine.f90"]
        if subprocess.run(words, capture_output=True).returncode:
            pytest.skip("gfortran does not compile for 32-bit x86 (Debian: apt-get install gfortran-multilib)")
        assert cli.main(["positional", "--trust", "--library", str(path), "-o", "rmsnorm"]) == code
        assert said in capsys.readouterr().out


@pytest.mark.built
def test_what_is_right_is_right_by_position(right32: Path) -> None:
    with Caller(build_caller(), right32, 20) as caller:
        found = [judge_operation(operation, caller) for operation in SHAPES.values()]
    assert [each.sentence for each in found if each.first or each.is_absent] == []


@pytest.mark.built
def test_the_command(right32: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = library(tmp_path, right32, *compiler()[1:])
    assert cli.main(["positional", "--trust", "--library", str(path), "-o", "rmsnorm,silu"]) == 1
    said = capsys.readouterr().out
    assert "rmsnorm: takes arguments 5 `int hidden_dim` and 6 `float eps` for each other" in said
    assert cli.main(["positional", "--trust", "--library", str(right32), "-o", "silu"]) == 0


def test_a_library_of_this_machine(stub_path: Path, caller_program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["positional", "--trust", "--library", str(stub_path), "-o", "silu"]) == 2
    assert "a 32-bit process cannot open it" in capsys.readouterr().out


def test_without_trust_nothing_is_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ASSAYER_TRUST")
    assert cli.main(["positional", "--library", str(tmp_path / "libmine.so")]) == 2
    assert "--trust" in capsys.readouterr().out
