"""Right values that stand where others belong: rows and columns of a tile, numbers of an input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from conformance import operations
from conformance.catalogue.cases import CASES
from conformance.judging.diagnoses import Kind
from tests.conformance.judging.test_patterns import found

CASE = "gemm/plain/17x33x65"


def product(id: str = CASE) -> Any:
    case = CASES[id]
    return operations.narrowed(case.operation, {"C": reference.gemm(**case.arguments())})["C"]


def test_rows_of_another_fragment_are_said_to_be_other_rows() -> None:
    good = product()
    [symptom] = found(CASES[CASE], C=good[np.minimum(np.arange(17) ^ 4, 15)]).symptoms
    assert symptom.kind is Kind.MOVED
    assert symptom.words == symptom.general == "every wrong row holds what belongs to another one"


def test_rows_that_are_taken_from_a_place_so_far_away() -> None:
    good, at = product(), np.arange(17)
    [symptom] = found(CASES[CASE], C=good[np.where(at >= 8, at - 8, at)]).symptoms
    assert symptom.words == "every wrong row holds what belongs to another one, 8 before"


def test_rows_that_are_zero_are_said_beside_those_that_are_not() -> None:
    good, at = product(), np.arange(17)
    wrong = np.where((at == 3)[:, None], np.float32(0), good[np.where(at >= 12, at - 4, at)])
    [symptom] = found(CASES[CASE], C=wrong).symptoms
    assert symptom.words == "every wrong row holds what belongs to another one, 4 before, or zero"


def test_columns_that_are_taken_twice() -> None:
    good, at = product(), np.arange(33)
    [symptom] = found(CASES[CASE], C=good[:, np.where(at % 16 >= 8, at - 8, at)]).symptoms
    assert symptom.words == "every wrong column holds what belongs to another one, 8 before"


def test_numbers_near_none_that_is_due_belong_nowhere() -> None:
    good = product()
    noise = np.random.default_rng(5).normal(size=good.shape).astype(np.float32)
    [symptom] = found(CASES[CASE], C=good + noise).symptoms
    assert symptom.kind is Kind.NO_PATTERN


@pytest.mark.parametrize("count", [5, 64])
def test_few_numbers_of_a_short_format_belong_anywhere_by_chance(count: int) -> None:
    """In bfloat16 a column of a product has hardly two hundred different numbers: any one is another row's."""
    id = "gemm_bf16/tails/65x1x1025"
    good = product(id)
    wrong = good.copy()
    wrong[:count] = operations.narrowed("gemm_bf16", {"C": good + np.float32(3)})["C"][:count]
    [symptom] = found(CASES[id], C=wrong).symptoms
    assert symptom.kind is not Kind.MOVED
