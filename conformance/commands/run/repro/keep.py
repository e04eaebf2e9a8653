"""Keeping failures: a folder for each, with the call's file and the command that repeats it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from conformance.catalogue.goldens.names import file_of
from conformance.catalogue.goldens.tensors import Tensors, pack_expected, pack_inputs, write
from conformance.judging.bench import Bench
from conformance.judging.results import Result
from conformance.operations import as_declared, flat

from .calls import Given, call_of

MOST = 10  # failing cases; beside them the first failing call of each step


class ReproError(ValueError):
    """A folder or a file that will not do; the message names it, what was expected and what was found."""


def check_new(folder: Path) -> None:
    """Raise ReproError unless the folder is empty or not there yet: nothing is ever overwritten."""
    try:
        held = next(folder.iterdir(), None)
    except FileNotFoundError:
        return
    except OSError as error:
        raise ReproError(f"{folder}: expected a new or empty folder for --repro, got: {error.strerror}") from None
    if held is not None:
        raise ReproError(f"{folder}: expected a new or empty folder for --repro, got one that holds {held.name}")


def keep(folder: Path, results: Sequence[Result], bench: Bench) -> list[Result]:
    """Write a file for each failure worth it; return all results, those with the path of their file.

    Every call is made once more on the bench, so that the file holds what comes of exactly these inputs.
    """
    files = dict(_kept(folder, chosen(results), bench))
    return [replace(result, repro=files.get(result.id, "")) for result in results]


def chosen(results: Iterable[Result]) -> list[Result]:
    """Return the first wrong call of every step, and the worst failing case of each operation, then others."""
    steps: dict[str, Result] = {}
    operations: dict[str, list[Result]] = {}
    for result in results:
        if (
            result.is_fine
            or not result.was_run
            or result.is_refusal
            or result.is_sequence
            or result.is_full
            or result.is_judges_own
        ):
            continue
        if result.is_of_step:
            steps.setdefault(result.part, result)
        else:
            operations.setdefault(result.operation, []).append(result)
    ranked = [sorted(few, key=lambda r: -r.share) for few in operations.values()]
    cases = [
        r for _, _, r in sorted((rank, place, r) for place, few in enumerate(ranked) for rank, r in enumerate(few))
    ]
    return [*steps.values(), *cases[:MOST]]


def _kept(folder: Path, failures: Iterable[Result], bench: Bench) -> Iterator[tuple[str, str]]:
    for result in failures:
        given = call_of(result, bench)
        if given:
            path = folder / Path(file_of(result.id)).with_suffix("") / f"{given.operation}.safetensors"
            write(path, pack(given, bench))
            yield result.id, str(path)


def pack(given: Given, bench: Bench) -> Tensors:
    """Return the tensors of a repro: a golden's, and what came under `output.NAME`, unless nothing did."""
    outcome = bench.worker.run(given.operation, given.arguments)
    came = flat(outcome.outputs)
    passed = {name: value for name, value in given.arguments.items() if value is not None}
    outputs = {f"output.{name}": array for name, array in as_declared(given.operation, came).items()}
    return pack_inputs(given.operation, passed) | pack_expected(given.expected) | outputs
