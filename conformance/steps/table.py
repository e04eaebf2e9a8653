"""The cases that are of whole training steps: one record each, which the command line and the reports read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.catalogue.prepared.codec import Codec
from conformance.ids import FULL_LAYER
from conformance.judging.bench import Bench
from conformance.judging.results import Result, Status
from conformance.limits.envelope import LENGTH as RUN_LENGTH
from conformance.limits.envelope import REPLICAS, RUN, RUNS, Run
from conformance.limits.envelope import operations as operations_of

from . import divided, free, full_layer, recomputed, resident, runs, scenarios, tape
from .locked import MIXED, judge_locked
from .sizes import unsupported
from .whole import OPERATION, ended, not_exported, same_bits, within_header

_ALL_TENSORS = "the tiny model over the embedded corpus: loss, activations, gradients, moments, parameters"


def _fits(bench: Bench, operations: Iterable[str]) -> str:
    return ""


def _nothing(bench: Bench) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class StepCase:
    """One of them.

    why, data    what it is there for, and made of
    judge        a result for every call of it, or for every step, from what `run` returned
    claim        what is held of steps as a whole, in a line; "" of single calls, and of runs
    steps        whose calls its results are; 0 where they are of whole steps
    needs        the operations without which it cannot begin, found by running it on the reference
    too_fine     why it can tell nothing of these at the precision that is declared, or ""
    run, given   what runs in the library's process, given the open library and these; None where `judge` calls it
    """

    name: str
    why: str
    data: str
    judge: Callable[[Bench, Any], Iterable[Result]]
    claim: str = ""
    steps: int = 0
    too_fine: Callable[[Bench, Sequence[str]], str] = _fits
    needs: Callable[[Bench], Iterable[str]] = _nothing
    run: Callable[..., Any] | None = None
    given: Callable[[], tuple[Any, ...]] = tuple

    def results(self, bench: Bench) -> list[Result]:
        """Judge it: its results in the order of execution."""
        known = f"operations of {self.name} {bench.declared.name}"
        needed = bench.store.recall(known, lambda: sorted(self.needs(bench)), Codec())
        if reason := self.too_fine(bench, needed):
            return [Result(self.name, OPERATION, Status.TOO_FINE, reason)]
        if lacking := not_exported(self.name, bench, needed):
            return [lacking]
        if reason := unsupported(self.name, bench, needed):
            return [Result(self.name, OPERATION, Status.NOT_SUPPORTED, reason)]
        if self.run is None:
            return list(self.judge(bench, None))
        outcome = bench.worker.call(self.run, *self.given())
        stopped = ended(self.name, outcome)
        return [stopped] if stopped else list(self.judge(bench, outcome.value))


def _locked(step: str) -> StepCase:
    return StepCase(
        name=f"step{step}/locked",
        why="every operation is fed the reference's inputs, so that the first wrong one is found whatever came before",
        data=_ALL_TENSORS,
        steps=1,
        judge=lambda bench, _: judge_locked(step, bench),
    )


_FREE = StepCase(
    name=free.FREE,
    why="the library runs whole steps by itself; sigma is carried through, and every result is judged",
    data=_ALL_TENSORS,
    steps=len(scenarios.NUMBERS),
    needs=free.operations_of,
    run=free.run_library,
    given=free.start,
    judge=free.judge_free,
)
_RECOMPUTED = StepCase(
    name=recomputed.RECOMPUTED,
    why="layers whose activations were dropped are computed again in backward, and the step is the plain one bit for "
    "bit: a library keeps nothing between calls, and changes no input",
    data="three layers of the tiny model, two micro-batches: every second layer, segments of two",
    claim="layers computed again in backward: the plain step's bits",
    too_fine=same_bits,
    needs=lambda bench: recomputed.operations(),
    run=recomputed.run,
    given=lambda: (scenarios.batch(1),),
    judge=lambda bench, value: recomputed.judge_recomputed(value),
)
_DIVIDED = StepCase(
    name=divided.DIVIDED,
    why="a batch cut into micro-batches and shared out to ranks gives the update of the whole, although its parts "
    "count very different numbers of targets: a mean of means is not their mean",
    data="one update of the tiny model, on one, two and four ranks that take turns, with and without an auxiliary loss "
    "and experts of their own",
    claim="one batch cut into micro-batches and shared out to ranks: the update of the whole",
    too_fine=within_header("its limits are those of the header's precision, and its ranks have to agree in every bit"),
    needs=lambda bench: divided.operations(),
    run=divided.run,
    judge=lambda bench, value: divided.judge_divided(value, bench.store),
)
_RESIDENT = StepCase(
    name=resident.RESIDENT,
    why="arrays that stay where the library computes, used over and over and never waited for: an operation that "
    "leaves its stream, waits, or keeps an address or a number has other bits",
    data="five updates of the tiny model as called, and captured and launched; four tokens decoded",
    claim="arrays that stay where the library computes, called and captured: the bits of host arrays",
    too_fine=same_bits,
    needs=lambda bench: resident.operations(),
    run=resident.run,
    judge=lambda bench, value: resident.judge_resident(*value),
)
_TAPE = StepCase(
    name=tape.TAPE,
    why="the gradients of a backward written by hand are those of another formulation: a tape over strided operations, "
    "which puts them together from the derivatives of single functions",
    data="a small model with grouped heads and experts, of modules: loss, gradients",
    claim="written on a tape of strided operations: the gradients of the step that is written by hand",
    too_fine=within_header("its limits are those of the header's precision"),
    needs=lambda bench: tape.operations(),
    run=tape.run,
    judge=tape.judge_tape,
)
_FULL_LAYER = StepCase(
    name=FULL_LAYER,
    why="one layer of the full model, forward and backward: each operation is fed the reference's inputs at full size",
    data="64 tokens; along the experts' 6,144 inner columns 23 are drawn, which stand there in no order",
    steps=1,
    judge=lambda bench, _: full_layer.judge_full_layer(bench),
)


def _run(run: Run) -> StepCase:
    return StepCase(
        name=runs.part_of(run),
        why="falling losses show nothing: the library runs on by itself, and has to stay where replicas of the "
        f"reference lead that are rounded at random; {REPLICAS} of them give mean and spread",
        data="the tiny model over the licence's text: each step's loss, how far each parameter has moved",
        too_fine=within_header("its replicas round as the header has it, and no coarser"),
        needs=lambda bench: operations_of(run),
        judge=lambda bench, _: runs.judge_run(bench, run),
    )


_CASES = (
    *(_locked(str(step)) for step in (*scenarios.NUMBERS, *MIXED)),
    *(_FREE, _FULL_LAYER, _RECOMPUTED, _DIVIDED, _RESIDENT, _TAPE),
    *map(_run, RUNS),
)
STEP_CASES: Mapping[str, StepCase] = {case.name: case for case in _CASES}
STEPS = tuple(STEP_CASES)
WHOLE = tuple(name for name, case in STEP_CASES.items() if case.steps == 0)
ENVELOPES = {runs.part_of(run): run for run in RUNS}


def judge_step(name: str, bench: Bench, run_length: int = RUN_LENGTH) -> list[Result]:
    """Judge one of STEPS: a result for every call of it, in the order of execution; of a run, for every step."""
    is_adjustable = ENVELOPES.get(name) == RUN
    case = _run(replace(RUN, steps=run_length)) if is_adjustable else STEP_CASES[name]
    return case.results(bench)
