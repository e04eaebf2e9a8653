"""The locked step: every operation is fed the reference's inputs, so that each is judged whatever came before it.

Steps are known by their number; a mixed-precision one by number and format, as in "1-bf16".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import reference
from conformance import operations
from conformance.judging.bench import Bench
from conformance.judging.results import Result
from conformance.limits import Contract
from conformance.limits.expectation import Expected, expect, rounded
from conformance.limits.noise import using
from training.precision import BF16, FLOAT32, FP16
from training.step import Standing, Step

from .scenarios import scenario
from .trace import CALLS, Arguments, Call, Traced

PRECISIONS = {"": FLOAT32, "bf16": BF16, "fp16": FP16}
MIXED = tuple(f"1-{format}" for format in PRECISIONS if format)


def judge_locked(name: str, bench: Bench) -> list[Result]:
    """Judge every call of one step, each on exact inputs that come from the reference alone."""
    return [_judged(name, call, expected, bench) for call, expected in expected_calls(name, bench)]


def _judged(name: str, call: Call, expected: Expected, bench: Bench) -> Result:
    with using(bench.declared.of(call.operation).arithmetic):
        result = bench.call(f"step{name}/locked/{call.name}", call.operation, call.arguments, expected)
    return replace(result, tensors=call.tensors)


def expected_calls(name: str, bench: Bench) -> list[tuple[Call, Expected]]:
    """Every call of one step in its order, with what it must give; made once for all candidates."""
    known = f"step {name} locked {bench.declared!r}"
    return bench.store.recall(known, lambda: _expected_calls(name, bench.declared), CALLS, large=True)


def _expected_calls(name: str, declared: Contract) -> list[tuple[Call, Expected]]:
    number, _, format = name.partition("-")
    given, precision = scenario(int(number)), PRECISIONS[format]
    expectations: list[Expected] = []

    def carry_out(operation: str, arguments: Arguments) -> Mapping[str, Any]:
        function = operations.OPERATIONS[operation]
        arguments |= operations.typed(function, {n: v for n, v in arguments.items() if v is not None})
        with using(declared.of(operation).arithmetic):
            expectations.append(expect(operation, arguments))
        return operations.gathered(function, rounded(expectations[-1]))

    copies = precision.copies(reference, given.state.parameters)
    trace = Traced(carry_out, given.state.parameters)
    trace.recognise(copies)
    step = Step(trace, given.config, given.training, precision=precision)
    step(Standing(given.state, precision.scaling.begin(), copies), given.tokens, given.targets)
    calls = (replace(call, results={}) for call in trace.calls)  # they are the expectations, rounded
    return list(zip(calls, expectations, strict=True))
