"""Sums that threads keep to themselves: what each of them writes is wrong by a number of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from conformance.catalogue.cases import CASES
from conformance.judging.diagnosis import diagnose
from conformance.judging.outputs import judge_outputs
from conformance.limits.expectation import expect

CASE = "softmax/plain/2x1025"


def said(id: str, **wrong: Any) -> str:
    case = CASES[id]
    arguments = case.arguments()
    expected = expect(case.operation, arguments)
    verdicts = judge_outputs(case.operation, arguments, expected, wrong)
    found = diagnose(case.operation, arguments, expected, wrong, verdicts)
    assert found is not None
    return found.text


def own_sums(columns: int, threads: int, width: int) -> Any:
    """Which columns are of one thread: of each pair of columns."""
    thread = np.arange(columns) // width % threads
    return thread[:, None] == thread


@pytest.mark.parametrize(("threads", "width"), [(32, 1), (256, 1), (32, 4)])
def test_a_thread_that_divides_by_its_own_sum_is_told_by_its_columns(threads: int, width: int) -> None:
    terms = np.exp(CASES[CASE].arguments()["input"].astype(np.float64))
    output = terms / (terms @ own_sums(terms.shape[1], threads, width))
    text = said(CASE, output=output.astype(np.float32))
    assert text.startswith(f"output: every thread, which writes {width} of every {width * threads} columns of a row,")
    assert "times a factor of its own" in text


def test_a_reduction_without_its_last_step_is_told_by_odd_and_even_columns() -> None:
    terms = np.exp(CASES[CASE].arguments()["input"].astype(np.float64))
    output = terms / (terms @ own_sums(terms.shape[1], 2, 1))
    assert "writes 1 of every 2 columns of a row" in said(CASE, output=output.astype(np.float32))


@pytest.mark.parametrize(("id", "length"), [(CASE, 512), ("softmax/tails/3x8193", 4096)])
def test_parts_that_are_not_brought_under_one_maximum_are_told(id: str, length: int) -> None:
    x = CASES[id].arguments()["input"].astype(np.float64)
    of_parts = [x[:, at : at + length].max(axis=1, keepdims=True) for at in range(0, x.shape[1], length)]
    shift = np.repeat(np.concatenate(of_parts, axis=1), length, axis=1)[:, : x.shape[1]]
    output = np.exp(x - shift) / np.exp(x - x.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)
    text = said(id, output=output.astype(np.float32))
    assert text.startswith(f"output: every part of a row, {length} columns long, times a factor of its own")


def test_a_row_that_has_one_wrong_factor_is_told_by_rows() -> None:
    right = reference.softmax(CASES[CASE].arguments()["input"])
    text = said(CASE, output=(right * np.array([[1.5], [0.7]])).astype(np.float32))
    assert text.startswith("output: every row times a factor of its own")
