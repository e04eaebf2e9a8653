"""A library that is compiled for coverage tells what its calls reached, and what they compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from conformance.candidates.worker.coverage import Reached, reached
from conformance.candidates.worker.worker import Worker
from tests.compiler import compile_library
from tests.conformance.coverage_build import compile_for_coverage

ADD = """
#include <stdint.h>
#include <stdlib.h>
int32_t cuda_add(const float* a, const float* b, float* output, int64_t n, void* stream) {
    (void)stream;
    if (!a || !b || !output || n < 1) return -2;
    if (n % 96 == 33) {
        output[0] = a[0] + b[0];
        if (n > 200) abort();
    }
    for (int64_t i = 0; i < n; i++) output[i] = a[i] + b[i];
    return 0;
}
"""


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    with Worker(compile_for_coverage(ADD, tmp_path_factory.mktemp("covered")), explains=False) as worker:
        yield worker


def add(worker: Worker, n: int) -> Reached:
    ones = np.ones(n, np.float32)
    worker.run("add", {"a": ones, "b": ones})
    found = reached(worker)
    assert found is not None
    return found


def test_a_place_is_told_once_and_a_comparison_at_every_call(worker: Worker) -> None:
    assert add(worker, 5).places
    again = add(worker, 6)
    assert again.places == []
    assert (33.0, 6.0) in [(each.constant, each.value) for each in again.comparisons]
    rare = add(worker, 129)
    assert rare.places
    assert (33.0, 33.0) in [(each.constant, each.value) for each in rare.comparisons]
    assert len({each.place for each in rare.comparisons}) == len(rare.comparisons)


def test_what_a_call_reached_that_ended_its_process_is_lost_and_the_next_process_tells_all(worker: Worker) -> None:
    add(worker, 5)
    assert add(worker, 225) == Reached([], [])
    assert add(worker, 5).places


def test_a_library_that_was_not_compiled_for_coverage_tells_nothing(tmp_path: Path) -> None:
    with Worker(compile_library(ADD, tmp_path)) as worker:
        assert reached(worker) is None
