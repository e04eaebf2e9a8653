"""What pictures are drawn from: reduced errors, and whose are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.judging.evidence import AT_LIMIT, BINS, CELLS, LEVELS, POINTS, Evidence, gather
from conformance.judging.evidence_selection import FAILURES, EvidenceSelector, without_surplus
from conformance.judging.results import Result, Status
from conformance.judging.verdict import Verdict, judge
from conformance.limits.noise import exact


def evidence(expected: Any, got: Any) -> Evidence | None:
    return gather(judge("output", expected, got), expected, got)


def rounded_sum(shape: tuple[int, ...]) -> Any:
    """Noise numbers with one rounding in every element."""
    values = np.arange(1, np.prod(shape) + 1).reshape(shape).astype(np.float32)
    return exact(values) + exact(np.float32(1) / 3)


def levels(found: Evidence) -> Any:
    return np.array([[LEVELS.index(cell) for cell in row] for row in found.cells])


@pytest.mark.parametrize("shape", [(1,), (7,), (48,), (49,), (1025,), (40000,), (3, 5), (100, 3), (2, 3, 4, 500)])
def test_the_map_is_small_and_covers_every_element(shape: tuple[int, ...]) -> None:
    expected = rounded_sum(shape)
    got = expected.v.astype(np.float32)
    got.flat[-1] *= 2
    found = evidence(expected, got)
    assert found
    assert found.shape == shape
    tall, wide = len(found.cells), len(found.cells[0])
    assert max(tall, wide) <= CELLS
    assert (tall, wide) == tuple(-(-size // tile) for size, tile in zip(found.matrix, found.tile, strict=True))
    place = divmod(got.size - 1, found.matrix[1])
    bad = np.argwhere(levels(found) > AT_LIMIT).tolist()
    assert bad == [[place[0] // found.tile[0], place[1] // found.tile[1]]]


def test_the_worst_element_is_among_the_points_and_every_element_in_the_histogram() -> None:
    expected = rounded_sum((60, 70))
    got = expected.v.astype(np.float32)
    got[20, 30] += 1
    found = evidence(expected, got)
    assert found
    assert len(found.points) == POINTS
    assert max(error / limit for _, error, limit in found.points) > 1
    assert (len(found.bins), sum(found.bins)) == (BINS, int((expected.variance > 0).sum()))
    assert sum(found.bins[: BINS // 2 - 1]) + sum(found.bins[BINS // 2 + 1 :]) == 1  # all others are near zero


def test_a_nan_and_an_exact_number_missed_are_no_numbers() -> None:
    expected = rounded_sum((4, 4))
    got = expected.v.astype(np.float32)
    got[1, 2] = np.nan
    found = evidence(expected, got)
    assert found
    assert found.cells[1][2] == LEVELS[-1]
    assert len(found.points) == 15
    found = evidence(np.arange(6), np.array([0, 1, 2, 9, 4, 5]))
    assert found
    assert (found.cells, found.points, found.bins) == (("000v00",), (), ())


def test_another_shape_has_no_evidence() -> None:
    assert evidence(rounded_sum((4, 4)), np.zeros((4, 5), np.float32)) is None


def result(number: int, share: float, operation: str = "silu") -> Result:
    verdict = Verdict("output", share <= 1, "", 9, 1, share, 0.3, 1.0, 0.1, 1.0)
    status = Status.PASS if share <= 1 else Status.FAIL
    return Result(f"{operation}/plain/{number}", operation, status, verdicts=(verdict,))


def shown(shares: list[float], selector: EvidenceSelector) -> list[Result]:
    expected = {"output": rounded_sum((3, 3))}
    got = {"output": expected["output"].v.astype(np.float32)}
    return [selector.attach(result(i, share), lambda: expected, got) for i, share in enumerate(shares)]


def test_kept_are_the_worst_that_passes_and_some_failures_with_the_worst() -> None:
    fails = [float(2 + i) for i in range(10)]
    shares = [0.1, 0.5, 0.3, *fails], [0.4, 0.6, 0.2, 40.0, 3.0]
    processes = [shown(some, EvidenceSelector()) for some in shares]
    kept = [r for r in without_surplus([r for some in processes for r in some]) if r.evidence]
    assert [r.share for r in kept if r.is_fine] == [0.6]
    failures = [r.share for r in kept if not r.is_fine]
    assert len(failures) == FAILURES
    assert max(failures) == 40.0
