"""Every test is in a part, and every function of tests that is not slow is in all of them."""

from __future__ import annotations

import pytest

from tests.parts import part_of

FEW = [f"a.py::test_few[{number}]" for number in range(5)]
MANY = [f"a.py::test_many[{number}]" for number in range(6)]
SLOW = [f"b.py::test_slow[{number}]" for number in range(2)]
IDS = ["a.py::test_single", *FEW, *MANY, *SLOW]


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_the_parts_together_are_all(parts: int) -> None:
    assert set().union(*(part_of(IDS, SLOW, which, parts) for which in range(1, parts + 1))) == set(IDS)


def test_one_part_is_all() -> None:
    assert part_of(IDS, SLOW, 1, 1) == set(IDS)


@pytest.mark.parametrize("which", [1, 2, 3])
def test_of_many_parameters_each_part_has_others(which: int) -> None:
    chosen = part_of(IDS, SLOW, which, 3)
    assert chosen & set(MANY) == {MANY[which - 1], MANY[which + 2]}
    assert chosen & set(SLOW) == set(SLOW[which - 1 : which])


@pytest.mark.parametrize("which", [1, 2, 3])
def test_a_test_with_few_parameters_is_in_each_part(which: int) -> None:
    assert {"a.py::test_single", *FEW} <= part_of(IDS, SLOW, which, 3)
