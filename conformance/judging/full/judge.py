"""Judges a call at full size: run as any other, every element of its outputs held to its own limit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conformance import operations
from conformance.catalogue.full import FULL, Drawn, FullCall, axes_of
from conformance.catalogue.prepared.codec import Codec
from conformance.judging.bench import Bench, first_finding, variation_first
from conformance.judging.diagnoses import Diagnosis
from conformance.judging.diagnosis.drawn import diagnose_drawn
from conformance.judging.diagnosis.failed import Failed
from conformance.judging.outputs import as_stored, is_known, judge_outputs
from conformance.judging.preparation import unjudged
from conformance.judging.results import Result, Status
from conformance.judging.verdict import Verdict
from conformance.limits.expectation import Expected, expect
from conformance.limits.noise import using

from .spread import Spread, beyond
from .wrong import brought_back, judge_spread, where

_CODEC = Codec()


def judge_full(id: str, bench: Bench) -> Result:
    """Judge one of conformance.catalogue.full.FULL."""
    started, call = time.perf_counter(), FULL[id]
    bench = bench.threaded()  # it is at these sizes that a library's own threads meet
    arithmetic = bench.declared.of(call.operation).arithmetic
    with using(arithmetic):
        drawn = call.draw(bench.seed)
        name = f"{id} seed {bench.seed} {arithmetic}"
        expected = bench.store.recall(name, lambda: expected_of(call, drawn), _CODEC)
        result = judge_drawn(id, call, drawn, expected, bench)
    return replace(result, seconds=time.perf_counter() - started)


def expected_of(call: FullCall, drawn: Drawn) -> Expected:
    """Return what the small call must give, by the arithmetic in use."""
    carried_out = call.carried_out(drawn.places) if call.carried_out else None
    return expect(call.operation, drawn.small, carried_out)


def judge_drawn(id: str, call: FullCall, drawn: Drawn, expected: Expected, bench: Bench) -> Result:
    """Run a call that is laid out and judge what came back, by the arithmetic in use."""
    if not drawn.places:
        return bench.call(id, call.operation, drawn.small, expected)
    if not all(map(is_known, expected.values())):
        return Result(id, call.operation, unjudged(), "at the declared precision nothing is known of the result")
    outcome = bench.run(call.operation, drawn.full)
    if over := bench.without_outputs(id, call.operation, drawn.full, outcome):
        return over
    got = operations.flat(outcome.outputs)
    verdicts = tuple(verdicts_on(call, drawn, expected, got, bench.seed))
    reason = next((f"{v.output}: {v.reason}" for v in verdicts if not v.passed), "") or first_finding(outcome)
    status = Status.FAIL if reason else Status.PASS
    found = looks_of(call, drawn, expected, got, verdicts) if bench.explains else None
    looks = variation_first(found, outcome.findings)
    return Result(
        id, call.operation, status, reason, verdicts, tuple(outcome.findings), outcome.detail, diagnosis=looks
    )


def verdicts_on(
    call: FullCall, drawn: Drawn, expected: Expected, got: Mapping[str, Any], seed: int = 0
) -> Iterator[Verdict]:
    """Yield a verdict on each output, by flat name; of a call that is drawn whole as on any other."""
    if not drawn.places:
        yield from judge_outputs(call.operation, drawn.small, expected, got, again=lambda: expected_of(call, drawn))
        return
    for due in _spread(call, drawn, expected):
        yield judge_spread(due, got[due.output], seed)


def _spread(call: FullCall, drawn: Drawn, expected: Expected) -> Iterator[Spread]:
    """Yield what each output must be."""
    function = operations.OPERATIONS[call.operation]
    for name, wanted in as_stored(expected).items():
        parameter = operations.declared(function, name)
        axes = axes_of(parameter, operations.place_in_list(name))
        places = call.placed(parameter.name, drawn.places)
        names = operations.axis_names(call.operation, name)
        yield Spread(name, wanted, axes, places, call.axes_scaling(parameter.name), names)


def looks_of(
    call: FullCall, drawn: Drawn, expected: Expected, got: Mapping[str, Any], verdicts: Sequence[Verdict]
) -> Diagnosis | None:
    """Return what a call looks like; None where nothing is wrong, or its averages alone, or its shapes."""
    failed = {verdict.output for verdict in verdicts if not verdict.passed}
    if not failed:
        return None
    small, places = {}, {}
    for due in _spread(call, drawn, expected):
        came = got[due.output]
        if came.shape != due.shape:
            return None
        bad = beyond(due, came) if due.output in failed else np.zeros(came.shape, bool)
        small[due.output] = brought_back(due, came, bad)
        if bad.any():
            places[due.output] = where(due, bad)
    if not places:
        return None
    sizes = {name: value for name, value in call.sizes.items() if isinstance(value, (int, float))}
    carried_out = call.carried_out(drawn.places) if call.carried_out else None
    part = Failed(call.operation, drawn.small, expected, small, {}, sizes=sizes, carried_out=carried_out)
    with np.errstate(all="ignore"):
        return diagnose_drawn(part, places, has_readings=carried_out is None)
