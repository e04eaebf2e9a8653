"""What the judge's benchmark reads of the judge's output."""

from __future__ import annotations

import pytest

from benchmarks.judge import cases_judged


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("1 case in 0.5 s, 2 a second: 1 PASS\nlibx.so conforms as far as it was judged: 1 case passed.\n", 1),
        ("4,984 cases in 33 s, 151 a second: 4,950 PASS, 34 FAIL\n34 cases did not pass\n", 4984),
    ],
)
def test_the_number_of_cases_is_read_off_the_last_lines(output: str, expected: int) -> None:
    assert cases_judged(output) == expected


def test_output_without_a_number_of_cases_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected a number of cases in the judge's last lines"):
        cases_judged("Segmentation fault\n")
