"""Candidates that look results up instead of computing them: by the input, by its address, in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conformance import operations
from conformance.candidates.finding import Misdeed
from conformance.candidates.sandbox.files import PREPARED
from conformance.candidates.sandbox.restrictions import TRUST
from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import CASES, SEQUENCES
from conformance.judging.bench import Bench
from conformance.judging.results import Result, Status
from conformance.judging.sequences import judge_sequence
from tests.compiler import compile_library

CASE = CASES["silu/plain/33"]
HEAD = """#include "assayer.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int32_t cuda_silu(const float* input, float* output, int64_t n, void* stream) {
    (void)stream;
    if (!input || !output || n < 1) return ASSAYER_INVALID;
"""


def expected() -> np.ndarray:
    """What a right library gives in the case, by the first seed."""
    output = Bench(NoWorker(), 0).prepared(CASE).expected["output"]
    return np.asarray(output.v, np.float32)


class NoWorker:
    """Stands where nothing is called."""


def judged(library: Path, seed: int = 0) -> Result:
    with Worker(library) as worker:
        return Bench(worker, seed).case(CASE)


def floats(values: np.ndarray) -> str:
    return ", ".join(float(value).hex() + "f" for value in values.ravel())


def test_a_table_by_inputs_is_found_by_another_seed(tmp_path: Path) -> None:
    first = Bench(NoWorker(), 0).prepared(CASE).arguments["input"]
    library = compile_library(
        f"""{HEAD}
    static const float key[] = {{{floats(first)}}}, answer[] = {{{floats(expected())}}};
    if (n * sizeof(float) == sizeof key && !memcmp(input, key, sizeof key)) memcpy(output, answer, sizeof answer);
    else memcpy(output, input, (size_t)n * sizeof(float));
    return 0;
}}""",
        tmp_path,
    )
    assert judged(library).status is Status.PASS
    assert [judged(library, seed).status for seed in (1, 2)] == [Status.FAIL, Status.FAIL]


def test_a_table_by_addresses_is_found_by_calls_in_a_row(tmp_path: Path) -> None:
    library = compile_library(
        f"""{HEAD}
    static const float* seen[64];
    static float* answers[64];
    int place = 0;
    while (place < 63 && seen[place] && seen[place] != input) place++;
    if (!seen[place]) {{
        seen[place] = input;
        answers[place] = malloc((size_t)n * sizeof(float));
        for (int64_t i = 0; i < n; i++) answers[place][i] = input[i] / (1 + expf(-input[i]));
    }}
    memcpy(output, answers[place], (size_t)n * sizeof(float));
    return 0;
}}""",
        tmp_path,
        "library",
        "-lm",
    )
    with Worker(library) as worker:
        bench = Bench(worker)
        assert bench.case(CASE).status is Status.PASS
        found = [judge_sequence(sequence, bench) for sequence in SEQUENCES.values() if sequence.operation == "silu"]
    kinds = {finding.kind for result in found for finding in result.findings}
    assert Misdeed.KEEPS in kinds


def test_a_table_in_a_file_is_out_of_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    PREPARED.mkdir(parents=True, exist_ok=True)
    (PREPARED / "answer").write_bytes(expected().tobytes())
    library = compile_library(
        f"""{HEAD}
    FILE* const file = fopen("{PREPARED / "answer"}", "rb");
    if (!file) {{
        memset(output, 0, (size_t)n * sizeof(float));
        return 0;
    }}
    const size_t got = fread(output, sizeof(float), (size_t)n, file);
    fclose(file);
    return got == (size_t)n ? 0 : ASSAYER_UNAVAILABLE;
}}""",
        tmp_path,
    )
    assert judged(library).status is Status.FAIL
    monkeypatch.setenv(TRUST, "1")
    assert judged(library).status is Status.PASS
    assert judged(library, 1).status is Status.FAIL


def test_tools_of_the_judge_that_a_library_replaces_are_not_the_judge_s(hostile: Path) -> None:
    """It has its own memcmp and memcpy, in the process in which it runs; results are compared in another."""
    from .conftest import WAY

    x = np.arange(1, 38, dtype=np.float32)
    with Worker(hostile) as worker:
        outcome = worker.run("scale", {"input": x, "scale": float(WAY["interposes"])})
    got = operations.flat(outcome.outputs)["output"]
    assert (got - x * WAY["interposes"]).tolist() == [1.0] + [0.0] * 36
