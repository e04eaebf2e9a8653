"""Mathematical functions that err by as much as CUDA documents, where they are told to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from tests.emulator.programs import Programs

# In the order of programs/functions.cu: a function in float64, and the units by which CUDA's may err.
KNOWN: tuple[tuple[Callable[[float], float], int], ...] = (
    (lambda x: math.exp(-x), 2),
    (lambda x: 2.0**-x, 2),
    (lambda x: math.expm1(-x), 1),
    (lambda x: math.log(x), 1),
    (math.log1p, 1),
    (math.sin, 2),
    (math.cos, 2),
    (math.sin, 2),
    (math.cos, 2),
    (math.tanh, 2),
    (math.erf, 2),
    (lambda x: x**0.75, 4),
    (lambda x: 1 / math.sqrt(x), 2),
    (lambda x: math.erfc(x / math.sqrt(2)) / 2, 5),
)
Call = tuple[int, float]  # which function, of what
SIGN, POWER = 0x80000000, 11


def results(programs: Programs, **settings: int) -> dict[Call, int]:
    """What each function gives of each argument, as bits."""
    outcome = programs.run("functions_of_many", **settings)
    assert outcome.lines == ["functions_of_many ok cudaSuccess"]
    lines = np.array([line.split() for line in outcome.said.splitlines()], np.uint32)
    arguments = lines[:, 1].copy().view(np.float32)
    calls = zip(lines[:, 0].tolist(), arguments.tolist(), strict=True)
    return dict(zip(calls, lines[:, 2].tolist(), strict=True))


def correctly_rounded(call: Call) -> np.float32 | None:
    """The result without an error; None of what is documented to the bit."""
    function, x = call
    if x == 0 or math.isinf(x) or (function == POWER and x == 1):
        return None
    rounded = np.float32(KNOWN[function][0](x))
    return rounded if rounded != 0 and np.isfinite(rounded) else None


def steps(call: Call, bits: int) -> int:
    """How many numbers away from zero a result lies beyond the correctly rounded one."""
    rounded = correctly_rounded(call)
    assert rounded is not None
    exact = int(rounded.view(np.uint32))
    assert bits & SIGN == exact & SIGN, call
    return (bits & ~SIGN) - (exact & ~SIGN)


@pytest.fixture(scope="module")
def honest(fast: Programs) -> dict[Call, int]:
    return results(fast)


def test_without_the_setting_no_result_is_off_by_more_than_one(honest: dict[Call, int]) -> None:
    ordinary = [call for call in honest if correctly_rounded(call) is not None]
    assert len(ordinary) > 300
    assert {abs(steps(call, honest[call])) for call in ordinary} <= {0, 1}


@pytest.mark.parametrize("seed", [1, 2])
def test_each_errs_by_as_much_as_is_documented_both_ways(fast: Programs, honest: dict[Call, int], seed: int) -> None:
    ways: Counter[tuple[int, int]] = Counter()
    for call, bits in results(fast, math_errors=seed).items():
        if correctly_rounded(call) is None:
            assert bits == honest[call], "special arguments and results are as documented, to the bit"
            continue
        ways[call[0], steps(call, bits)] += 1
    expected = {(function, way * units) for function, (_, units) in enumerate(KNOWN) for way in (-1, 1)}
    assert set(ways) == expected


def test_the_seed_draws_the_signs_and_nothing_else_does(fast: Programs) -> None:
    one = results(fast, math_errors=1)
    assert results(fast, math_errors=1, schedule="reverse") == one != results(fast, math_errors=2)
    # A sine is the same, whoever asks for it.
    assert all(one[call] == one[call[0] + 2, call[1]] for call in one if call[0] in (5, 6))


def test_a_seed_that_is_no_number_is_refused(fast: Programs) -> None:
    programs = fast.run("functions_of_many", math_errors="much")
    assert programs.status == 2
    assert "ASSAYER_EMULATOR_MATH_ERRORS: expected a number from 1 to " in programs.said
