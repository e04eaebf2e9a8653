"""Options of `run` that keep failing calls in files, and judge such a file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.candidates.candidate import Candidate
from conformance.catalogue.cases.designed import signed_zeros
from conformance.catalogue.prepared import Store
from conformance.commands.candidates import contract_of
from conformance.judging.results import Result
from conformance.limits.noise import using

from .repro import MOST, ReproError, keep, recall
from .runner import Setting


def add_inputs(group: Any) -> None:
    """Add the option that judges one file."""
    wanted = (
        "one call at any shapes, yours too: a safetensors file named after its operation that "
        "holds input.NAME for each array and argument.NAME for each number; what is due is computed"
    )
    group.add_argument("--inputs", type=Path, metavar="FILE", help=wanted)


def add_repro(group: Any) -> None:
    """Add the option that writes such files."""
    keep_failures = f"keep the first wrong call of each step and up to {MOST} failing cases in files, with what came"
    group.add_argument("--repro", type=Path, metavar="DIR", help=keep_failures)


def setting_of(options: argparse.Namespace, candidate: Candidate, store: Store) -> Setting:
    """How the candidate is run.  Raises ContractError."""
    return Setting(
        candidate,
        options.seed,
        limit_s=options.limit,
        evidence=bool(options.report or options.jsonl),
        run_length=options.run_length,
        declared=contract_of(options.contract, candidate),
        store=store,
    )


def judged_inputs(path: Path, setting: Setting) -> Result:
    """Judge the call of a file, of the operation that its path names.

    Raises ReproError, GoldenError and what opening the library raises.
    """
    given = recall(path, declared=setting.declared)
    with setting.worker() as worker:
        bench = setting.bench(worker)
        try:
            with using(setting.declared.of(given.operation).arithmetic):
                id, zeros = f"{given.operation}/inputs", signed_zeros(given.operation)
                result = bench.call(id, given.operation, given.arguments, given.expected, zeros, leaves_open=True)
        except MemoryError as error:
            raise ReproError(f"{path}: expected a call that fits in memory three times over, got: {error}") from None
    return replace(result, repro=str(path))


def keep_failures(folder: Path | None, setting: Setting, results: Sequence[Result]) -> Sequence[Result]:
    """Keep what failed in files, where there is a folder; return all results, those with the path of their file."""
    if not folder or all(result.is_fine for result in results):
        return results
    with setting.worker() as worker:
        return keep(folder, results, replace(setting, evidence=False).bench(worker))
