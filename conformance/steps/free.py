"""The free step: the candidate runs several whole steps by itself, and every result on the way is judged.

The reference runs the same steps on noise numbers, so that each activation, gradient, moment and parameter has the
sigma that all roundings before it leave.  The worst case is not carried along: through so many operations it says
nothing.

Where a coarser precision than the header's is declared, some routing choices of any batch lie within the noise.  The
reference then follows the candidate's choice, and stays the judge of everything after it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np

import reference
from conformance import operations
from conformance.judging.bench import Bench
from conformance.judging.outputs import as_stored
from conformance.judging.results import Result, Status
from conformance.judging.verdict import judge
from conformance.limits import Contract
from conformance.limits.adam import bound_update, is_adam
from conformance.limits.choices import ROUTING, follow_routing, near_choices
from conformance.limits.namespaces import converted
from conformance.limits.noise import Noisy, exact, stored, using
from reference.step import State, training_step

from . import scenarios
from .scenarios import NUMBERS, scenario
from .trace import CALLS, Arguments, Call, Traced

FREE = "steps/free"
Item = TypeVar("Item")
Batches = list[tuple[Any, Any]]
Outputs = Mapping[str, Any]  # of one call, by flat name
_PIECES = 8  # of what each step must give: as much as is in memory at once


def run_library(library: Any, state: State, batches: Batches) -> list[tuple[str, dict[str, Any]]]:
    """Run the steps on a library, in its worker; return every call's label and results as they were then."""

    def carry_out(operation: str, arguments: Arguments) -> Mapping[str, Any]:
        results = getattr(library, operation)(**arguments)
        return operations.by_name(operations.OPERATIONS[operation], results)

    trace = Traced(carry_out, state.parameters, copies=True)
    for batch in batches:
        state = _step(trace, state, batch)
    return [(call.operation, operations.flat(call.results)) for call in trace.calls]


def arguments_of(library: Any, state: State, batches: Batches, place: int) -> tuple[str, Arguments]:
    """Return the operation and the arguments of one call of the last step, as they are when the library gets them."""
    found: list[tuple[str, Arguments]] = []

    def carry_out(operation: str, arguments: Arguments) -> Mapping[str, Any]:
        function = operations.OPERATIONS[operation]
        if len(trace.calls) == place:
            given = {name: value for name, value in arguments.items() if value is not None}
            found.append((operation, arguments | operations.typed(function, given)))
        return operations.by_name(function, getattr(library, operation)(**arguments))

    for batch in batches:
        trace = Traced(carry_out, state.parameters)
        state = _step(trace, state, batch)
    return found[-1]


def expected_calls(bench: Bench) -> Iterator[Call]:
    """Yield every call of the steps in its order, with what it must give: the reference run on noise numbers.

    Of arguments only those are held that routing choices are made by.  What is prepared is read piece by piece: a whole
    step takes 200 MB.
    """
    names = [f"{FREE} {number}.{piece} {bench.declared!r}" for number in NUMBERS for piece in range(_PIECES)]
    return chain.from_iterable(bench.store.recall_parts(names, lambda: _pieces(_expected(bench.declared)), CALLS))


def _pieces(steps: Iterable[Sequence[Item]]) -> Iterator[Sequence[Item]]:
    """Cut each step into as many pieces, in order."""
    for step in steps:
        length = math.ceil(len(step) / _PIECES)
        yield from (step[length * piece : length * (piece + 1)] for piece in range(_PIECES))


def _by_step(calls: Sequence[Item]) -> list[Sequence[Item]]:
    """The calls of each step: all steps make as many."""
    length = len(calls) // len(NUMBERS)
    return [calls[start : start + length] for start in range(0, len(calls), length)]


def followed_calls(bench: Bench, called: Sequence[tuple[str, Outputs]]) -> Iterator[Call]:
    """The same after the routing choices that a candidate may make and has made; called: its operations and results."""
    if bench.declared.is_header or _routes_are(expected_calls(bench), called):
        return expected_calls(bench)
    return chain.from_iterable(_expected(bench.declared, _by_step([outputs for _, outputs in called])))


def _routes_are(calls: Iterable[Call], called: Sequence[tuple[str, Outputs]]) -> bool:
    """Whether a candidate has routed every token as the reference does."""
    return all(
        call.results["indices"].tolist() == outputs["indices"].tolist()
        for call, (_, outputs) in zip(calls, called, strict=True)
        if call.operation == ROUTING
    )


def _expected(declared: Contract, got: Sequence[Sequence[Outputs]] | None = None) -> Iterator[list[Call]]:
    """Yield the calls of each step; got: what a candidate's calls gave, step by step, where it is to be followed."""
    state, batches = start()
    state = converted(state, lambda array: exact(array, worst=False))
    for number, batch in enumerate(batches):
        state, calls = _expected_step(declared, state, batch, got[number] if got else None)
        yield calls


def _expected_step(
    declared: Contract, state: State, batch: tuple[Any, Any], got: Sequence[Outputs] | None
) -> tuple[State, list[Call]]:
    def carry_out(operation: str, arguments: Arguments) -> Mapping[str, Any]:
        function = operations.OPERATIONS[operation]
        arguments |= {name: _noisy(value) for name, value in arguments.items()}
        way = replace(declared.of(operation).arithmetic, coarse=not declared.is_header)
        with np.errstate(all="ignore"), using(way):
            outputs = operations.by_name(function, getattr(reference, operation)(**arguments))
            if is_adam(function):
                _bound(outputs, arguments)
            if operation == ROUTING and got is not None:
                outputs = follow_routing(arguments, outputs, got[len(trace.calls)])
            return {name: _stored(value) for name, value in outputs.items()}

    trace = Traced(carry_out, state.parameters)
    after = _step(trace, state, batch)
    return after, [call if call.operation == ROUTING else replace(call, arguments={}) for call in trace.calls]


def _stored(value: Any) -> Any:
    """A result as the next operation reads it."""
    if isinstance(value, list):
        return [_stored(v) for v in value]
    return stored(value).as_read() if isinstance(value, Noisy) else value


def _step(trace: Traced, state: State, batch: tuple[Any, Any]) -> State:
    first = scenario(NUMBERS[0])
    state, _ = training_step(trace, first.config, first.training, state, *batch)
    trace.recognise(state.parameters)
    return state


def _noisy(value: Any) -> Any:
    """Numbers and plain arrays reach C as float32; from there on they are exact."""
    if isinstance(value, list):
        return [_noisy(v) for v in value]
    if isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        return exact(np.float32(value), worst=False)
    return value


def _bound(outputs: dict[str, Any], arguments: Arguments) -> None:
    hyper = {name: float(value.v) for name, value in arguments.items() if isinstance(value, Noisy) and value.ndim == 0}
    flat = operations.flat(outputs)
    arrays = {name: [array.v for array in arguments[name]] for name in ("params", "weight_decays")}
    bound_update(flat, hyper | arrays)
    outputs["params"] = [flat[f"params[{i}]"] for i in range(len(outputs["params"]))]


def start() -> tuple[State, Batches]:
    """The state the steps start from, and the batches of all of them."""
    return scenario(NUMBERS[0]).state, [scenarios.batch(number) for number in NUMBERS]


def operations_of(bench: Bench) -> set[str]:
    """Return the operations that the steps call."""
    return {call.operation for call in expected_calls(bench)}


def judge_free(bench: Bench, called: Sequence[tuple[str, Outputs]]) -> Iterator[Result]:
    """Judge several steps from one start; the first call that fails is where the candidate diverges.

    called: what `run_library` returned.
    """
    length = len(called) // len(NUMBERS)
    for place, (call, (_, got)) in enumerate(zip(followed_calls(bench, called), called, strict=True)):
        yield _judged(f"{place // length + 1}.{place % length:03d}", call, got, bench)


def _judged(place: str, call: Call, got: Outputs, bench: Bench) -> Result:
    id = f"{FREE}/{place} {call.label}"
    weakness = _narrow_margin(call) if bench.declared.is_header else ""
    if weakness:
        return Result(id, call.operation, Status.MISTRUSTED, weakness)
    expected = as_stored(operations.flat(call.results))
    verdicts = tuple(judge(name, wanted, got[name]) for name, wanted in expected.items())
    reason = next((f"{v.output}: {v.reason}" for v in verdicts if not v.passed), "")
    status = Status.FAIL if reason else Status.PASS
    result = Result(id, call.operation, status, reason, verdicts, tensors=call.tensors)
    return bench.selector.attach(result, lambda: expected, got) if bench.selector else result


def _narrow_margin(call: Call) -> str:
    """A free step is of use only while no routing choice lies within the noise."""
    if call.operation != ROUTING:
        return ""
    near = near_choices(call.arguments["input"], call.arguments["k"])
    return f"{near} routing choices lie within the noise: choose another seed for this step" if near else ""
