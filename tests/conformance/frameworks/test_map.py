"""A framework's map that cannot be used says the key, what was expected, and what came."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.frameworks import is_of_framework, read_map
from conformance.kernels import MapError
from conformance.paths import EXAMPLES

MAP = '[framework]\n[map_strided]\ncall = "f"\nfunctions = { exp = 3 }\narguments = ["float* input", "float* output"]\n'
REDUCE = '[framework]\n[reduce_strided]\ncall = "f"\nfunctions = { sum = 0 }\n'
MATMUL = '[framework]\n[matmul_strided]\ncall = "f"\narguments = ["float* a", "float* b", "float* output"]\n'
ARGUMENTS = "map_strided.arguments"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[map_strided", "map.toml: Expected ']'"),
        ("[map_strided]", "map.toml: expected a table [framework], which says what its tensors can be, got none"),
        ("framework = 3", "map.toml: framework: expected a table, got 3"),
        ("[framework]", "map.toml: expected a table for each operation, such as [map_strided], got none"),
        ("[framework]\nleast_axis = 1\n[map_strided]", "framework.least_axis: expected one of least_axes, most_axes, "),
        ("[framework]\nleast_axis = 1\n[map_strided]", "got 'least_axis'; did you mean least_axes?"),
        ("[framework]\nmost_axes = 33\n[map_strided]", "framework.most_axes: expected a number from 0 to 32, got 33"),
        ("[framework]\nempty = 1\n[map_strided]", "framework.empty: expected true or false, got 1"),
        ("[framework]\nrepeats = 'no'\n[map_strided]", "repeats: expected one of stride 0, length 1, got 'no'"),
        ("[framework]\nleast_axes = 3\nmost_axes = 2\n[map_strided]", "expected least_axes <= most_axes, got 3 and 2"),
        ("[framework]\n[map_stride]", "map_stride: expected one of map_strided, zip_strided, reduce_strided, "),
        ("[framework]\n[silu]", "silu: expected one of map_strided, zip_strided, reduce_strided, matmul_strided"),
        ("map_strided = 3\n[framework]", "map_strided: expected a table of call, arguments, functions, got 3"),
        (MAP + "[cuda_map_strided]\n" + MAP.partition("d]\n")[2], "got [cuda_map_strided] beside another"),
        (MAP.replace("call", "cal"), "map_strided.cal: expected one of call, arguments, functions, "),
        (MAP + "keeps_axis = true", "map_strided.keeps_axis: expected one of "),
        (MAP.replace('"f"', '"a.b"'), "map_strided.call: expected the name of an exported function, got 'a.b'"),
        (MAP.replace("{ exp = 3 }", "3"), "map_strided.functions: expected a table such as { identity = 0 }, got 3"),
        (MAP.replace("exp = 3", "ex = 3"), "map_strided.functions.ex: expected one of identity, negative, "),
        (MAP.replace("exp = 3", "exp = -3"), "functions.exp: expected the number that exp has there, got -3"),
        (MAP.replace("exp = 3", "exp = 3, log = 4"), f'{ARGUMENTS}: expected "int function", got f without it'),
        (MAP.replace('"float* output"', ""), f'{ARGUMENTS}: expected "float* output" once, got it 0 times'),
        (MAP.replace("output", "input"), f'{ARGUMENTS}: expected "float* input" once, got it 2 times'),
        (MAP.replace("float* input", "double* input"), f"{ARGUMENTS}[0]: expected float* for input, got double*"),
        (MAP.replace("float* input", "float input"), f"{ARGUMENTS}[0]: expected a type of whole numbers ("),
        (MAP.replace("float* input", "int* shape"), "strides, got 'int* shape'"),
        (MAP.replace("float* input", "real* input"), f"{ARGUMENTS}[0]: expected a type of C (int, int32_t, "),
        (MAP.replace("float* input", "int input_sise"), "got 'input_sise'; did you mean input_size?"),
        (MAP.replace("float* input", "int 2 * axes * input_size"), "expected products of at most 2, got '2 * axes * "),
        (MAP.replace("float* input", "int start"), "got 'start'"),
        (REDUCE + 'arguments = ["float* input", "float* output"]', 'expected "float start", got f without it'),
        (REDUCE + 'arguments = ["float* input", "float* output", "int start"]', "expected float or double for start"),
        (MATMUL + "functions = {}", "matmul_strided.functions: expected none, for matmul_strided is one function"),
    ],
)
def test_a_wrong_map_says_what_was_expected(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "map.toml"
    path.write_text(text)
    with pytest.raises(MapError) as raised:
        read_map(path)
    assert said in str(raised.value)


def test_maps_of_both_kinds_are_told_apart(tmp_path: Path) -> None:
    assert is_of_framework(EXAMPLES / "framework" / "tensors.toml")
    assert not is_of_framework(EXAMPLES / "cuda" / "rmsnorm.toml")
    assert not is_of_framework(tmp_path / "gone.toml")


def test_a_table_changes_what_is_said_of_all() -> None:
    entries = read_map(EXAMPLES / "framework" / "tensors.toml").entries
    assert [entry.settings.most_axes for entry in entries.values()] == [8, 8, 8, 3]
    assert entries["zip_strided"].functions == {0: 0, 1: 1, 2: 2, 3: 3, 7: 4, 9: 5, 5: 6, 11: 7}


def test_what_is_not_supported_is_said_by_operation() -> None:
    said = [*read_map(EXAMPLES / "framework" / "tensors.toml").sentences({"reduce_strided", "silu"})]
    start = "not supported of reduce_strided, which is tensorReduce: "
    assert said == [f"{start}mean, offsets of input and output, numbers past int, more than 8 axes"]
