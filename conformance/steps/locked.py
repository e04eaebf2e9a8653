"""The locked step: every operation is fed the reference's inputs, so that each is judged whatever came before it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from conformance import contract
from conformance.calls import Bench
from conformance.declared import Contract
from conformance.expectation import Expected, expect, rounded
from conformance.noise import using
from conformance.results import Result
from reference.step import training_step

from .scenarios import scenario
from .trace import Arguments, Call, Traced


def judge_locked(number: int, bench: Bench) -> list[Result]:
    """Judge every call of one step, each on exact float32 inputs that come from the reference alone."""
    return [_judged(number, call, expected, bench) for call, expected in expected_calls(number, bench.declared)]


def _judged(number: int, call: Call, expected: Expected, bench: Bench) -> Result:
    with using(bench.declared.of(call.operation).arithmetic):
        result = bench.call(f"step{number}/locked/{call.name}", call.operation, call.arguments, expected)
    return replace(result, tensors=call.tensors)


@functools.cache
def expected_calls(number: int, declared: Contract) -> list[tuple[Call, Expected]]:
    """Every call of one step in its order, with what it must give."""
    step = scenario(number)
    expectations: list[Expected] = []

    def carry_out(operation: str, arguments: Arguments) -> Mapping[str, Any]:
        function = contract.OPERATIONS[operation]
        arguments |= contract.typed(function, {n: v for n, v in arguments.items() if v is not None})
        with using(declared.of(operation).arithmetic):
            expectations.append(expect(operation, arguments))
        return contract.gathered(function, rounded(expectations[-1]))

    trace = Traced(carry_out, step.state.parameters)
    training_step(trace, step.config, step.training, step.state, step.tokens, step.targets)
    return list(zip(trace.calls, expectations, strict=True))
