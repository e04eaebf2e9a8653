"""A map that cannot be used says the key, what was expected, and what came."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.kernels.entry import MapError
from conformance.kernels.functions import Defined, functions
from conformance.kernels.map import read_map
from conformance.kernels.resolve import draft, resolved
from conformance.kernels.sources import text_of

THEIRS = Path(__file__).parent / "theirs"
SOFTMAX = '[softmax]\nkernel = "softmax_kernel"\ngrid = "rows"\nblock = 64\n'


def read(tmp_path: Path, text: str) -> None:
    """Read a map, and find what it names among the functions of norms.cu."""
    path = tmp_path / "map.toml"
    path.write_text(text)
    defined: list[Defined] = functions(THEIRS / "norms.cu")
    words = frozenset(re.findall(r"\w+", text_of(THEIRS / "norms.cu")))
    for entry in read_map(path).entries.values():
        resolved(entry, defined, words)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[rmsnorm", "map.toml: Expected ']'"),
        ("", "map.toml: expected a table for each operation, such as [rmsnorm], got none"),
        ("[rmsnrom]\ncall = 'f'", "named after the header's operations, got [rmsnrom]; did you mean rmsnorm?"),
        ("[softmax]\ncall = 'f'\n[cuda_softmax]\ncall = 'g'", "one table for each operation, got [cuda_softmax]"),
        ("rmsnorm = 3", "map.toml: rmsnorm: expected a table of call, kernel, arguments,"),
        ("[rmsnorm]\ncal = 'f'", "rmsnorm.cal: expected one of call, kernel, "),
        ("[rmsnorm]\narguments = []", "either call (a function of the host) or kernel (one to launch), got neither"),
        ("[rmsnorm]\ncall = 'f'\nkernel = 'g'", "(one to launch), got both"),
        ("[rmsnorm]\ncall = 'f(x)'", "rmsnorm.call: expected a function's name, such as"),
        ("[softmax]\nkernel = 'softmax_kernel'\ngrid = 1", "softmax.block: expected it beside kernel, such as"),
        ("[rmsnorm]\ncall = 'f'\ngrid = 1", "rmsnorm.grid: expected it beside kernel only, got it beside call"),
        (SOFTMAX + 'memory = "host"', "softmax.memory: expected it beside call only"),
        ("[silu]\ncall = 'course::silu'\nmemory = 'pinned'", "silu.memory: expected device or host, got 'pinned'"),
        ("[softmax]\nkernel = 'k'\ngrid = [1, 2, 3, 4]\nblock = 1", "softmax.grid: expected 1 to 3 sizes, got 4"),
        (SOFTMAX + "arguments = 'input'", "softmax.arguments: expected a list of expressions, got 'input'"),
        (SOFTMAX + "arguments = ['input', 'output', 'rows; exit(0)', 'cols']",
         "softmax.arguments[2]: expected an expression of C++ or a number, got 'rows; exit(0)'"),
        ("[rmsnorm]\ncall = 'rms_nrom<float>'", "expected a function of the host that the files define, "
         "got 'rms_nrom': did you mean rms_norm?"),
        ("[rmsnorm]\ncall = 'rms_norm'", "expected the arguments of the template too, such as rms_norm<float>"),
        ("[softmax]\ncall = 'softmax_kernel'", "norms.cu:34), which is a kernel"),
        ("[rmsnorm]\ncall = 'rms_norm<float>'", "arguments: expected an entry for each parameter of rms_norm(T* out, "),
        (SOFTMAX + "arguments = ['input', 'output']",
         "softmax.arguments: expected an entry for each of the 4 parameters of softmax_kernel(const float* logits, "),
        (SOFTMAX + "arguments = ['inptu', 'output', 'rows', 'cols']",
         "arguments[0] (const float* logits): expected an argument of cuda_softmax(input, output, rows, cols, stream), "
         "a number, or an expression, got 'inptu'; did you mean input?"),
        (SOFTMAX.replace('"rows"', '"row_count"') + "arguments = ['input', 'output', 1, 1]", "grid: expected an"),
        (SOFTMAX + "arguments = ['transposed(rows)', 'output', 'rows', 'cols']",
         "expected transposed(NAME) of an array of two axes or more (input, output), got 'transposed(rows)'"),
        (SOFTMAX + "arguments = ['1 + transposed(input)', 'output', 1, 1]", "expected transposed(NAME) by itself"),
        ("[build]\ninclude = ['gone']", "build.include: expected a folder beside the map, got 'gone'"),
        ("[build]\ndefine = 'A'", "build.define: expected a list of words, got 'A'"),
        ("[build]\nflags = ['-O3']", "build: expected a table of include, define, link, got flags"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_map_is_said_by_its_key(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(MapError, match=re.escape(said)) as raised:
        read(tmp_path, text)
    assert str(raised.value).startswith(f"{tmp_path / 'map.toml'}: ")


def test_numbers_constants_and_words_of_their_files_are_arguments(tmp_path: Path) -> None:
    read(tmp_path, SOFTMAX + "arguments = ['nullptr', 'output', 3, 'softmax_kernel']")


def test_a_draft_names_the_function_that_is_called_most_like_an_operation() -> None:
    drafted = draft(functions(THEIRS / "norms.cu"))
    assert drafted.splitlines()[0].startswith("[rmsnorm]")
    assert '"rms_norm_kernel<float>"' in drafted
    assert draft([Defined("f", (), THEIRS / "norms.cu", 1)]) == ""
