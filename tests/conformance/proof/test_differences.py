"""Known differences of libraries: they are the reason of what fails by their elements alone, and of nothing else."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.commands.cli import main
from conformance.exit_codes import FAILED, HARNESS
from conformance.limits.expectation import expect
from conformance.proof.differences import Difference, DifferenceError, read_differences, those_met
from tests.conformance.commands.small import said

EXAMPLES = Path(__file__).parents[3] / "examples/modules"
THEIRS = ("mine.py",)
INF, NAN = np.inf, np.nan


def met(difference: Difference, operation: str, arguments: dict[str, Any], **got: Any) -> bool:
    """Whether a call that gave these outputs fails by this difference."""
    expected = expect(operation, arguments)
    found = those_met([difference], operation, arguments, expected, {n: np.asarray(v) for n, v in got.items()})
    return found == [difference]


def of(operation: str, **said: Any) -> Difference:
    """A difference of one operation."""
    return Difference(THEIRS, (operation,), "because", **said)


def floats(*values: Any) -> Any:
    return np.array(values, np.float32)


ADDED = {"a": floats(1, INF, 3), "b": floats(1, 1, 1)}


def test_the_elements_of_its_kind_are_set_right_and_the_others_judged() -> None:
    nan = of("add", due="infinity", got="NaN")
    assert met(nan, "add", ADDED, output=floats(2, NAN, 4))
    assert not met(nan, "add", ADDED, output=floats(NAN, NAN, 4))
    assert not met(nan, "add", ADDED, output=floats(2, 0, 4))
    assert not met(nan, "add", ADDED, output=floats(2, NAN, 5))
    assert not met(nan, "mul", ADDED, output=floats(1, NAN, 3))
    assert not met(nan, "add", ADDED, output=floats([2, NAN, 4]))


def test_what_is_off_by_more_than_is_said_is_unknown() -> None:
    near = of("add", due="number", got="number", within=1e-3, times=("a",))
    arguments = {"a": floats(1, 100), "b": floats(1, 1)}
    assert met(near, "add", arguments, output=floats(2.0009, 101.09))
    assert not met(near, "add", arguments, output=floats(2.002, 101))
    assert not met(near, "add", arguments, output=floats(2, 101.2))


def test_a_row_or_a_tie_says_which_indices_are_meant() -> None:
    arguments = {"logits": floats([NAN, 1, 2], [5, 5, 1], [1, 2, 3])}
    row = of("argmax", due="any", got="any", row="NaN")
    ties = of("argmax", due="any", got="any", ties="logits")
    assert met(row, "argmax", arguments, output=np.array([2, 0, 2], np.int32))
    assert not met(row, "argmax", arguments, output=np.array([0, 1, 2], np.int32))
    assert met(ties, "argmax", arguments, output=np.array([0, 1, 2], np.int32))
    assert not met(ties, "argmax", arguments, output=np.array([0, 2, 2], np.int32))
    assert not met(ties, "argmax", arguments, output=np.array([0, 3, 2], np.int32))
    assert not met(ties, "argmax", arguments, output=np.array([0, 1, 1], np.int32))


def test_ties_are_of_each_place_that_a_row_names() -> None:
    arguments = {"input": floats([1, 1, 0, -1]), "k": 2}
    ties = of("softmax_topk", due="any", got="any", ties="input")
    weights = floats([0.5, 0.5])
    assert met(ties, "softmax_topk", arguments, weights=weights, indices=np.array([[1, 0]], np.int32))
    assert not met(ties, "softmax_topk", arguments, weights=weights, indices=np.array([[2, 0]], np.int32))


SAID = {"modules": '["mine.py"]', "operations": '["add"]', "why": '"because"', "due": '"NaN"', "got": '"zero"'}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"why": None}, "lacks why"),
        ({"got": None}, "lacks got"),
        ({"reading": '"swapped"'}, "has an unknown due, has an unknown got"),
        ({"size": "3"}, "has an unknown size"),
        ({"due": '"nan"'}, "due: expected one of NaN, infinity, zero, subnormal, number, any, got 'nan'"),
        ({"row": '"odd"'}, "row: expected one of"),
        ({"within": "0.0"}, "within: expected a number above 0, such as 6e-8, got 0.0"),
        ({"operations": '["addd"]'}, "operations: expected operations of the header, got ['addd']"),
        ({"modules": '"mine.py"'}, "modules: expected a list of names, got 'mine.py'"),
        ({"why": '" "'}, "why: expected words"),
        ({"ties": '"logits"'}, "expected arrays of add (a, b), got logits"),
        ({"times": '["a", "c"]'}, "expected arrays of add (a, b), got c"),
    ],
)
def test_a_file_that_is_wrong_is_refused(changed: dict[str, str | None], words: str, tmp_path: Path) -> None:
    path = tmp_path / "differences.toml"
    lines = [f"{name} = {value}" for name, value in (SAID | changed).items() if value is not None]
    path.write_text("\n".join(["[[difference]]", *lines]), encoding="utf-8")
    with pytest.raises(DifferenceError) as raised:
        read_differences(path)
    assert str(raised.value).startswith(f"{path}, difference 1: ")
    assert words in str(raised.value)


@pytest.mark.parametrize("text", ["difference = 1", "difference = [1]", "[other]", "[[difference"])
def test_what_is_no_table_of_differences_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "differences.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DifferenceError, match=r"differences\.toml: "):
        read_differences(path)


def test_those_of_the_examples_are_of_libraries_that_are_judged() -> None:
    judged = tomllib.loads((EXAMPLES / "libraries.toml").read_text(encoding="utf-8")).values()
    for difference in read_differences(EXAMPLES / "differences.toml"):
        assert set(difference.modules) <= {library["module"] for library in judged}, difference.why


MODULE = """
import numpy as np

def add(a, b):
    return np.where(np.isinf(a + b), np.float32(np.nan), a + b)

def mul(a, b):
    return {mul}
"""


@pytest.mark.parametrize(("mul", "code", "known"), [("a * b", 0, 2), ("a * b + 1", FAILED, 2)])
def test_the_command_counts_known_failures_and_fails_by_others(
    mul: str, code: int, known: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module, differences, table = tmp_path / "mine.py", tmp_path / "differences.toml", tmp_path / "wild.tsv"
    module.write_text(MODULE.format(mul=mul), encoding="utf-8")
    said_of = SAID | {"due": '"infinity"', "got": '"NaN"'}
    of_mul = said_of | {"operations": '["mul"]', "why": '"never"'}
    text = "\n".join(
        "\n".join(["[[difference]]", *(f"{n} = {v}" for n, v in each.items())]) for each in (said_of, of_mul)
    )
    differences.write_text(text, encoding="utf-8")
    words = ["false-alarms", "--module", str(module), "--seed", "0", "-n", "1", "-k", "special and not designed"]
    assert main([*words, "--known", str(differences), "--table", str(table)]) == code
    out = said(capsys)
    assert "    known: because" in out
    assert "    not met here: mul: never" in out
    assert out.splitlines()[-1].endswith(f"; {known} by known differences")
    assert main([*words, "--known", str(tmp_path / "none.toml")]) == HARNESS
