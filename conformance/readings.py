"""Proves that the catalogue can tell: every named wrong reading of an operation must fail one of its cases."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reference.readings import READINGS, Reading

from . import contract, judging
from .cases import CASES, Case
from .expectation import Expected, expect
from .verdict import Verdict


@dataclass
class Score:
    """How many of its operation's cases a reading fails, and by how much at most."""

    reading: Reading
    cases: int = 0
    failed: list[str] = field(default_factory=list)  # ids
    margin: float = 0.0  # the largest share of a limit


def add_parser(subparsers: Any) -> None:
    """Register the command `readings`."""
    parser = subparsers.add_parser("readings", help="show which cases tell each wrong reading", description=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--operation", action="append", default=[], metavar="NAME", help="only this one (repeatable)")
    parser.add_argument("--seed", type=int, default=0, help="another draw of every case's data (default: 0)")


def run(options: argparse.Namespace) -> int:
    """Print a line for each reading and return 1 where one survives."""
    operations = options.operation or list(contract.OPERATIONS)
    scores = [score for operation in operations for score in judge_readings(operation, options.seed)]
    for score in sorted(scores, key=lambda s: len(s.failed)):
        print(f"{len(score.failed):>4} of {score.cases:<4} margin {score.margin:<9.3g} {score.reading.id}")
    survivors = [score.reading.id for score in scores if not score.failed]
    print(f"{len(scores)} readings, {len(survivors)} survive: {', '.join(survivors) or 'none'}")
    return int(bool(survivors) or not scores)


def judge_readings(operation: str, seed: int = 0) -> list[Score]:
    """Judge every reading of an operation on all of its cases."""
    scores = [Score(reading) for reading in READINGS if reading.operation == operation]
    for case in (c for c in CASES.values() if c.operation == operation):
        arguments = case.arguments(seed)
        expected = expect(operation, arguments)
        for score in scores:
            try:
                verdicts = list(judged(case, arguments, expected, score.reading.function))
            except (IndexError, ValueError):
                continue  # what it would do here in C is unknown: this case proves nothing
            score.cases += 1
            if not all(v.passed for v in verdicts):
                score.failed.append(case.id)
                score.margin = max(score.margin, *(margin(v) for v in verdicts))
    return scores


def judged(
    case: Case, arguments: dict[str, Any], expected: Expected, function: Callable[..., Any]
) -> Iterator[Verdict]:
    """Judge what a function with the operation's arguments makes of a case; what it computes is stored in float32."""
    declaration = contract.OPERATIONS[case.operation]
    with np.errstate(all="ignore"):
        results = function(*contract.ordered(declaration, arguments))
        outputs = contract.flat(contract.named(declaration, results))
        got = {n: v.astype(np.float32) if v.dtype == np.float64 else v for n, v in outputs.items()}
    yield from judging.judge_outputs(case.operation, arguments, expected, got, case.spec.signed_zeros)


def margin(verdict: Verdict) -> float:
    """The largest share of any of a verdict's limits."""
    return max(verdict.share, verdict.rms / verdict.rms_limit, abs(verdict.bias) / verdict.bias_limit)
