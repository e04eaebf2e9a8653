"""The tape's gradients held against the hand-written backward's; of a wrong one, the call that first went wrong.

Expected are the numbers of the hand-written step in float64. Each may be off by what the tape's own operations err by:
the tape runs on noise numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import reference
from conformance.catalogue.prepared import Store
from conformance.catalogue.prepared.codec import Codec
from conformance.judging.bench import Bench
from conformance.judging.results import Result, Status
from conformance.judging.verdict import Verdict, judge
from conformance.limits.namespaces import OnNumbers
from conformance.limits.noise import Noisy, exact
from conformance.steps.whole import OPERATION, ended
from tensors.numbers import REDUCTIONS

from .derived import since_derived, step_by_hand
from .run import CONFIG, LOSS, TAPE, Arrays, Made, Recorded, calls, gradients

EXTREMES = {REDUCTIONS["maximum"]: np.argmax, REDUCTIONS["minimum"]: np.argmin}


class Numbers(OnNumbers):
    """The reference on noise numbers; arrays of plain ones reach it rounded to float32, as they reach C."""

    def __init__(self) -> None:
        super().__init__(lambda value: exact(value, worst=False))

    def _converted(self, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return self._convert(value.astype(np.float32))
        return super()._converted(value)


class Limits(Recorded):
    """What every call of the tape must give."""

    def noted(self, arguments: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
        """An extreme that softmax subtracts counts as exact, being free; what a library finds is off as it was."""
        if "start" in arguments and arguments["function"] in EXTREMES and isinstance(arguments["input"], Noisy):
            told = {"shape": arguments["shape"], "strides": arguments["input_strides"]}
            told |= {"offset": arguments["input_offset"], "function": arguments["function"]}
            return {"output": extremes(arguments["input"], **told, kept=len(arguments["output_strides"]))}
        return outputs  # nothing writes noise numbers


def extremes(input: Noisy, shape: Any, strides: Any, offset: int, function: int, kept: int) -> Noisy:
    """The largest or smallest that reduce_strided finds, without its start value, as far off as it was before.

    kept: how many axes are; the judge's own numbers take a row's largest one for exact, which softmax may choose.
    """
    places = offset + np.tensordot(strides, np.indices(shape), 1) if len(shape) else np.array(offset)
    rows = np.reshape(places, (int(np.prod(shape[:kept])), -1))
    best = EXTREMES[function](np.take(input.v, rows), axis=1)
    found: Noisy = np.take(input, rows[np.arange(len(rows)), best])
    return found


def expected(store: Store) -> dict[str, Any]:
    """What is expected, by name: noise numbers, and under "near" the routing choices that lie within the noise."""
    return store.recall(f"{TAPE} {CONFIG}", _expected, Codec())


def _expected() -> dict[str, Any]:
    numbers = Numbers()
    with np.errstate(all="ignore"):
        noise = gradients(numbers, np.float64, _exact)
    return {
        "near": numbers.near,
        "values": {name: noise[name].replaced(v=value) for name, value in step_by_hand(reference).items()},
    }


def _exact(array: Any) -> Noisy:
    return exact(array, worst=False)


def judge_tape(bench: Bench, got: Arrays) -> Iterator[Result]:
    """Judge what `run` returned: a result for the loss and for each gradient; before them, the call that is off."""
    wanted = expected(bench.store)
    if wanted["near"]:
        reason = f"{wanted['near']} routing choices lie within the noise: choose another seed for this step"
        yield Result(TAPE, OPERATION, Status.MISTRUSTED, reason)
        return
    verdicts = {name: judge(name, value, got[name]) for name, value in wanted["values"].items()}
    wrong = any(not verdict.passed for verdict in verdicts.values())
    first = first_wrong(bench) if wrong else None
    if first:
        yield first
    since = f"off since {first.id.removeprefix(f'{TAPE}/')}" if first else since_derived(verdicts) if wrong else ""
    for name, verdict in verdicts.items():
        yield _result(name, verdict, since)


def _result(name: str, verdict: Verdict, since: str) -> Result:
    """since: where what is off begins, for those that are."""
    what = "loss" if name == LOSS else "gradient"
    reason = "" if verdict.passed else f"not the hand-written step's {what}: {verdict.reason}; {since}"
    tensors = {} if name == LOSS else {name: f"gradient of {name}"}
    status = Status.FAIL if reason else Status.PASS
    return Result(f"{TAPE}/{name}", OPERATION, status, reason, (verdict,), tensors=tensors)


def first_wrong(bench: Bench) -> Result | None:
    """Run it once more, all calls noted: a result for the first whose results are off; None where none is."""
    outcome = bench.worker.call(calls)
    if stopped := ended(TAPE, outcome):
        return stopped
    limits = Limits(Numbers())
    with np.errstate(all="ignore"):
        gradients(limits, np.float64, _exact)
    for place, (due, made) in enumerate(zip(limits.calls, outcome.value, strict=False)):
        if found := _wrong(f"{TAPE}/{place:04d} {due.label}", due, made):
            return found
    return None


def _wrong(id: str, due: Made, made: Made) -> Result | None:
    """A result for a call that is off; None for one that is right."""
    if due.label != made.label:
        return Result(id, OPERATION, Status.FAIL, f"expected a call of {due.label}, got one of {made.label}")
    verdicts = tuple(judge(name, value, made.results[name]) for name, value in due.results.items())
    reason = next((f"{v.output}: {v.reason}" for v in verdicts if not v.passed), "")
    return Result(id, due.operation, Status.FAIL, reason, verdicts) if reason else None
