"""Which goldens there are: the set in the repository, and every operation at the sizes of the full model."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from conformance.catalogue.cases import CASES, Case
from conformance.catalogue.families import facts_of
from conformance.limits.envelope import RUNS, Run
from conformance.operations import OPERATIONS

from .names import COMMITTED
from .sources import CaseSource, Source, by_id, chosen
from .step import StepSource
from .training_run import RunSource

STEP_SEED = 0  # such that no routing choice of the step lies within the noise
TRAINING_RUNS: dict[Run, Source] = {run: RunSource(run) for run in RUNS}


@functools.cache
def sources(profile: str) -> Mapping[str, Source]:
    """Every golden of a profile by id."""
    if profile == COMMITTED:
        return by_id([*(CaseSource(case) for case in chosen()), StepSource(STEP_SEED), *TRAINING_RUNS.values()])
    return by_id(CaseSource(case, asks_oracle=False) for case in full_cases())


def full_cases() -> list[Case]:
    """The first case of every operation in the catalogue, at its sizes in one layer of the full model."""
    first: dict[str, Case] = {}
    for case in CASES.values():
        first.setdefault(case.operation, case)
    return [_resized(first[operation], full_size(operation)) for operation in OPERATIONS]


def _resized(case: Case, row: Mapping[str, Any]) -> Case:
    [resized] = replace(case.spec, data={case.data: [row]}).cases()
    return resized


def full_size(operation: str) -> Mapping[str, Any]:
    """Return the sizes of an operation in a layer of the full model."""
    row = facts_of(operation).full_size
    if row is None:
        raise LookupError(f"{operation}: expected its full size among the facts of its family, got none")
    return row
