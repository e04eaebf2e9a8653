"""The table of launches: what it holds of all calls, how it is written and read, what it says of a difference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.commands.cli import main
from conformance.launches import ARCHITECTURES, TableError, calls, chosen, differences, read, text_of, written

Plan = tuple[str, ...]


def everywhere(*plan: str) -> dict[str, Plan]:
    return dict.fromkeys(ARCHITECTURES, plan)


def test_a_launch_is_written_as_in_a_source() -> None:
    said = (
        "CUDA emulator: launch of kernel `fill<T, 4>`: ({}) blocks of ({}) threads, {} bytes of dynamic shared memory"
    )
    assert text_of(said.format("8,1,1", "128,1,1", 0)) == "fill<T, 4> <<<8, 128>>>"
    assert text_of(said.format("8,2,1", "32,1,4", 4096)) == "fill<T, 4> <<<8x2, 32x1x4, 4096>>>"
    assert text_of("CUDA emulator: something else") is None


def test_what_is_written_is_read(tmp_path: Path) -> None:
    plans = {
        "mul/plain/1": everywhere("map<A> <<<1, 32>>>"),
        "gemm/plain/1x1x1": everywhere("wide <<<2, 32>>>", "wide <<<2, 32>>>", "wide <<<3, 32>>>")
        | {"sm_90": ("matrix <<<2, 32, 64>>>",)},
        "silu/plain/0": everywhere(),
    }
    path = tmp_path / "launches.tsv"
    path.write_text(written(plans))
    assert read(path) == plans
    assert path.read_text().splitlines()[1:] == [
        "mul/plain/1\tall\tmap<A> <<<1, 32>>>",
        "gemm/plain/1x1x1\tsm_70 sm_75 sm_80\t2 x wide <<<2, 32>>>; wide <<<3, 32>>>",
        "gemm/plain/1x1x1\tsm_90\tmatrix <<<2, 32, 64>>>",
        "silu/plain/0\tall\t-",
    ]


def test_what_is_no_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / "launches.tsv"
    with pytest.raises(TableError, match="expected a table of launches"):
        read(path)
    path.write_text("kernel\tsm_80\n")
    with pytest.raises(TableError, match=r"launches.tsv:1: expected call, architectures, launches, got kernel"):
        read(path)
    path.write_text("call\tarchitectures\tlaunches\nmul/plain/1\tsm_99\t-\n")
    with pytest.raises(TableError, match=r"launches.tsv:2: expected a call, all or some of sm_70, .*; got mul"):
        read(path)


def test_calls_between_which_another_kernel_is_launched_are_chosen() -> None:
    sizes = {f"mul/plain/{n}": {"n": n} for n in (1, 2, 3, 4, 5, 6, 7)}
    kernel = {1: "small", 2: "small", 3: "small", 4: "large", 5: "large", 6: "large", 7: "large"}
    plans = {id: everywhere(f"{kernel[of['n']]} <<<{of['n']}, 32>>>") for id, of in sizes.items()}
    assert chosen(sizes, plans) == [f"mul/plain/{n}" for n in (1, 3, 4, 7)]


def test_a_difference_says_on_which_architectures() -> None:
    expected = {"mul/plain/1": everywhere("map <<<1, 32>>>"), "silu/plain/1": everywhere("map <<<1, 32>>>")}
    found = {**expected, "mul/plain/1": everywhere("map <<<1, 32>>>") | dict.fromkeys(("sm_75", "sm_90"), ())}
    assert [*map(str, differences(expected, found))] == ["mul/plain/1 on sm_75, sm_90: expected map <<<1, 32>>>, got -"]


def test_of_cases_of_the_same_sizes_one_is_asked() -> None:
    asked = calls({"softmax"})
    assert len({tuple(sizes.items()) for sizes in asked.values()}) == len(asked)
    assert {"full/softmax"} & asked.keys()
    assert all(re.match("(full/)?softmax", id) for id in asked)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--accept", "-k", "mul"], "--accept: expected no -k"),
        (["--library", __file__, "-k", "nothing_is_called_so"], "no call matches -k nothing_is_called_so"),
        (["--library", __file__, "-k", "mul/"], "expected its launches on sm_70, got: "),
        (["--library", __file__, "--table", __file__], "test_table.py:1: expected call, architectures, launches"),
    ],
    ids=["accept of some", "none", "no library", "no table"],
)
def test_what_cannot_be_done_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["launches", *words]) == 2
    assert said in capsys.readouterr().out
