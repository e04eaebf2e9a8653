"""Calls of a sequence: what a later one is given."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from conformance import operations
from conformance.catalogue.cases import CASES, SEQUENCES, Case, with_other_numbers

SAME_SIZES = {each.operation: each.calls[0].case for each in SEQUENCES.values() if each.name == "same_sizes"}


def read(case: Case) -> list[str]:
    """The arrays whose numbers a call may change while its sizes stay."""
    function = operations.OPERATIONS[case.operation]
    laid_out = operations.layout_arrays(function)
    return [parameter.name for parameter in operations.read_arrays(function) if parameter.name not in laid_out]


def is_unread(array: NDArray[np.generic]) -> bool:
    return array.dtype.kind == "f" and bool(np.isnan(array).all())


@pytest.mark.parametrize("operation", SAME_SIZES)
def test_with_other_numbers_every_array_that_is_read_holds_others(operation: str) -> None:
    case = SAME_SIZES[operation]
    first, later = case.arguments(0), with_other_numbers(case, 0, 1)
    for name in read(case):
        if isinstance(first.get(name), np.ndarray) and not is_unread(first[name]):
            assert not np.array_equal(first[name], later[name]), name


def test_offsets_stay_offsets() -> None:
    case = CASES["grouped_gemm/plain/1x2x3x5"]
    for draw in (1, 2):
        offsets = with_other_numbers(case, 0, draw)["offsets"]
        assert (offsets[0], offsets[-1]) == (0, case.sizes["rows"])
        assert np.all(np.diff(offsets) >= 0)
