"""The calls that results are of: what each was given, and what that must give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance import ids, operations
from conformance.catalogue.cases import case_named
from conformance.judging.bench import Bench
from conformance.judging.results import Result
from conformance.limits.expectation import Expected, expect
from conformance.limits.noise import using
from conformance.steps import FREE, locked
from conformance.steps.free import arguments_of, start


@dataclass(frozen=True)
class Given:
    """One call: its operation, its arguments as they reach C, and what they must give."""

    operation: str
    arguments: Mapping[str, Any]
    expected: Expected


def call_of(result: Result, bench: Bench) -> Given | None:
    """Return the call that a result is of; None where it is of several, or of one that must be refused.

    A free step's call is given what the candidate had come to by then: its steps are run again up to there.
    """
    if case := case_named(result.id):
        with using(bench.declared.of(result.operation).arithmetic):
            return Given(result.operation, *bench.preparation.due(case))
    if not result.is_of_step or result.operation not in operations.OPERATIONS:
        return None
    place = ids.place_of(result.id)
    if result.part == FREE:
        return _of_free(place, bench)
    name = ids.name_of_locked(result.part)
    call, expected = locked.expected_calls(name, bench)[int(place)]
    return Given(call.operation, call.arguments, expected)


def _of_free(place: str, bench: Bench) -> Given | None:
    step, _, call = place.partition(".")
    state, batches = start()
    outcome = bench.worker.call(arguments_of, state, batches[: int(step)], int(call))
    if outcome.status != "done":
        return None
    operation, arguments = outcome.value
    with using(bench.declared.of(operation).arithmetic):
        return Given(operation, arguments, expect(operation, arguments))
