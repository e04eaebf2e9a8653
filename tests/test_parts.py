"""Every test is in a part, and every function of tests that is not slow is in all of them."""

from __future__ import annotations

import pytest

from tests.parts import part_of

FEW = [f"a.py::test_few[{number}]" for number in range(5)]
MANY = [f"a.py::test_many[{number}]" for number in range(6)]
SLOW = [f"b.py::test_slow[{number}]" for number in range(2)]
BUILT = ["c.py::test_built[0]", "d.py::test_build[0]", "c.py::test_built[1]", "c.py::test_another"]
IDS = ["a.py::test_single", *FEW, *MANY, *SLOW, *BUILT]


def part(which: int, parts: int) -> set[str]:
    return part_of(IDS, SLOW, BUILT, which, parts)


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_the_parts_together_are_all(parts: int) -> None:
    assert set().union(*(part(which, parts) for which in range(1, parts + 1))) == set(IDS)


def test_one_part_is_all() -> None:
    assert part(1, 1) == set(IDS)


@pytest.mark.parametrize("which", [1, 2, 3])
def test_of_many_parameters_each_part_has_others(which: int) -> None:
    assert part(which, 3) & set(MANY) == {MANY[which - 1], MANY[which + 2]}
    assert part(which, 3) & set(SLOW) == set(SLOW[which - 1 : which])


@pytest.mark.parametrize("which", [1, 2, 3, 4, 5, 6, 7])
def test_of_few_parameters_each_part_has_two_or_three_and_no_function_is_left_out(which: int) -> None:
    chosen = part(which, 7)
    assert "a.py::test_single" in chosen
    assert chosen & set(FEW) == set(FEW[(which - 1) % 2 :: 2])
    assert chosen & set(MANY) == set(MANY[(which - 1) % 3 :: 3])


def test_what_is_built_for_a_file_is_built_in_one_part() -> None:
    assert [part(which, 3) & set(BUILT) for which in (1, 2, 3)] == [{BUILT[0], *BUILT[2:]}, {BUILT[1]}, set()]
