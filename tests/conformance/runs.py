"""Runs to report on, made up and judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import reference
from bindings import Facts
from conformance import operations
from conformance.candidates.worker.outcome import Outcome
from conformance.catalogue.cases import CASES
from conformance.catalogue.full.layout import in_memory
from conformance.judging.bench import Bench
from conformance.judging.evidence_selection import EvidenceSelector, without_surplus
from conformance.judging.results import Result, Status
from conformance.judging.verdict import Verdict
from conformance.report.record import Run
from reference.readings import READINGS

OPERATIONS = ("silu", "rope_forward", "argmax", "kv_cache_append", "multi_scale", "grouped_gemm")


class InProcess:
    """A worker that runs the reference in float32, some operations replaced by wrong ones."""

    def __init__(self, **wrong: Any) -> None:
        self.wrong = wrong

    def run(self, operation: str, arguments: dict[str, Any], override: Any = None) -> Outcome:
        held = {name: in_memory(value) for name, value in arguments.items()}
        with np.errstate(all="ignore"):
            results = self.wrong.get(operation, getattr(reference, operation))(**held)
        return Outcome("done", 0, operations.by_name(operations.OPERATIONS[operation], results))

    def call(self, function: Callable[..., Any], *arguments: Any) -> Outcome:
        raise NotImplementedError

    def facts(self) -> Facts:
        return Facts()


def judged(name: str = "lib.so", **wrong: Any) -> Run:
    """A run of a few operations, without training steps."""
    bench = Bench(InProcess(**wrong), selector=EvidenceSelector())
    cases = [case for case in CASES.values() if case.operation in OPERATIONS]
    return Run(name, without_surplus([bench.case(case) for case in cases]), seconds=1.0, date="2026-06-01")


HALF_SPLIT = next(r.function for r in READINGS if r.id == "rope_forward: half-split pairs")


def step_result(id: str, share: float = 0.5, outputs: tuple[str, ...] = ("C",), **more: Any) -> Result:
    """One call of a training step."""
    verdicts = tuple(
        Verdict(o, share <= 1, "" if share <= 1 else "wrong", 9, 0, share, 0.3, 1.0, 0.1, 1.0) for o in outputs
    )
    status = Status.PASS if share <= 1 else Status.FAIL
    operation = id.partition(" ")[2].partition("(")[0].partition(" ")[0]
    return Result(id, operation, status, verdicts[0].reason, verdicts, **more)


def steps() -> list[Result]:
    """The calls of a locked and a free step; the second of three is wrong, and in the free one all after it."""
    calls = ("001 embedding(embedding)", "045 cross_entropy_backward of x", "046 gemm_tn of x")
    tensors: list[dict[str, str]] = [{}, {}, {"C": "gradient of lm_head"}]
    return [
        step_result(f"{way}{call}", share, tensors=tensor)
        for way, shares in (("step1/locked/", (0.1, 3.0, 0.2)), ("steps/free/1.", (0.1, 3.0, 2.0)))
        for call, share, tensor in zip(calls, shares, tensors, strict=True)
    ]
