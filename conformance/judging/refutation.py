"""Whether a reading that explains every failure would fail cases that passed: then it is one path's, and not all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from conformance.catalogue.cases import Case, case_named
from conformance.limits.expectation import expect

from .diagnosis.matching import values_of
from .outputs import judge_outputs
from .results import Result, Status

if TYPE_CHECKING:
    from reference.readings import Reading

_MOST = 2**14  # the product of a case's sizes: the plain ones tell
_TRIED = 16  # cases, from the smallest to the largest of them


def is_refuted_by_passing(name: str, judged: Iterable[Result]) -> bool:
    """Say whether a reading gives wrong results in some case of an operation that passed.

    name: of the reading; judged: results of the operation, of all its formats.
    """
    from conformance.variants.wrong.planted import known  # here: only what failed is compared with readings

    passed = [case for one in judged if one.status is Status.PASS and (case := case_named(one.id))]
    by_operation = {case.operation: {one.name: one for one in known(case.operation)} for case in passed}
    return any(
        reading is not None and _fails(case, reading)
        for case in _some(passed)
        for reading in [by_operation[case.operation].get(name)]
    )


def _some(passed: Sequence[Case]) -> Iterable[Case]:
    small = sorted((case for case in passed if _size(case) <= _MOST), key=_size)
    return (small[place] for place in np.unique(np.linspace(0, len(small) - 1, _TRIED).astype(int))) if small else ()


def _size(case: Case) -> int:
    return math.prod(value for value in case.sizes.values() if isinstance(value, int) and value > 0)


def _fails(case: Case, reading: Reading) -> bool:
    """Whether a case tells a reading from the operation."""
    arguments = case.arguments()
    values = values_of(reading, case.operation, arguments)
    if values is None:
        return False
    expected = expect(case.operation, arguments)
    if any(values[name].shape != wanted.shape for name, wanted in expected.items()):
        return False
    verdicts = judge_outputs(case.operation, arguments, expected, values, case.spec.signed_zeros)
    return not all(verdict.passed for verdict in verdicts)
