"""What a recurrent layer errs by over many steps: errors that one step hands to the next are no longer independent."""

from __future__ import annotations

import numpy as np
import pytest

import reference
from conformance import operations
from conformance.catalogue.cases import CASES
from conformance.limits import HEADER
from conformance.limits.expectation import expect
from conformance.limits.measure import SIGMAS
from conformance.limits.noise.drawn import drawing
from conformance.proof.false_alarms import judge_case, known_implementations

DRAWS = 200
SEED = 1120111  # with which the sums in reverse order were beyond their limit


_RELU, _TANH = "2x17x9x12x1x0x0", "5x17x8x33x5x1x0"


@pytest.mark.slow
@pytest.mark.parametrize(
    "id", [f"rnn_backward/plain/{_RELU}", "rnn_forward/plain/3x5x7x4x1x1x1", f"rnn_forward/plain/{_TANH}"]
)
def test_drawn_errors_of_many_steps_are_as_large_as_derived_at_most(id: str) -> None:
    case = CASES[id]
    arguments, function = case.arguments(SEED), operations.OPERATIONS[case.operation]
    expected, drawn = expect(case.operation, arguments), []
    for seed in range(DRAWS):
        kind = drawing(seed)
        given = [
            kind.of(x) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x
            for x in operations.ordered(function, arguments)
        ]
        drawn.append(operations.by_name(function, getattr(reference, case.operation)(*given)))
    for name, due in expected.items():
        variance = np.var([each[name].v for each in drawn], axis=0, ddof=1)
        # The variance of so many errors is that of chi square, at 8 of its standard deviations.
        assert (variance <= (1 + SIGMAS * (2 / (DRAWS - 1)) ** 0.5) * due.variance).all(), name


def test_every_order_of_the_sums_passes() -> None:
    runs = judge_case(f"rnn_backward/plain/{_RELU}", SEED, known_implementations([], HEADER))
    assert [run.implementation for run in runs if run.line] == []
    assert "reverse" in {run.implementation for run in runs}
