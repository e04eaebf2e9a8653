"""A wrong reading is judged by its own noise: borrowed from what is right, it may be too narrow for a larger number."""

from __future__ import annotations

from collections import defaultdict

import pytest

from conformance import operations
from conformance.catalogue.cases import CASES, Case
from conformance.limits.expectation import expect
from reference.readings import READINGS, Reading

# Made of bits, or by a function that carries no noise: their values borrow that of the right ones.
BORROWS = {
    "add_column": {"first number to all"},
    "add_row": {"first number to all"},
    "map_strided": {"exp: to base 2"},
    "topk_router": {"statistics of the weights"},
}
OF_WHOLE_NUMBERS = {"argmax"}
BY_EINSUM = {"conv2d", "conv2d_backward_input", "conv2d_backward_weight"}


def _plain() -> dict[str, Case]:
    """The first plain case of each float32 operation."""
    found: dict[str, Case] = {}
    for id, case in CASES.items():
        if id.startswith(f"{case.operation}/plain/") and operations.base_of(case.operation) == case.operation:
            found.setdefault(case.operation, case)
    return found


PLAIN, OF = _plain(), defaultdict[str, list[Reading]](list)
for _one in READINGS:
    if _one.operation in PLAIN.keys() - OF_WHOLE_NUMBERS - BY_EINSUM:
        OF[_one.operation].append(_one)


def _carries(reading: Reading, case: Case) -> bool:
    try:
        expect(reading.operation, case.arguments(), reading.function)
    except (TypeError, AttributeError):
        return False
    except (ValueError, IndexError, ArithmeticError):
        return True  # it has no meaning for these arguments
    return True


@pytest.mark.parametrize("operation", OF)
def test_readings_carry_noise(operation: str) -> None:
    assert {one.name for one in OF[operation] if not _carries(one, PLAIN[operation])} == BORROWS.get(operation, set())
