"""What a hunt found, and what it reached, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.judging.hunt.coverage import Coverage
from conformance.judging.hunt.hunt import Found
from conformance.program import program, run_command

from .record import counted


def lines_of_catalogue(coverage: Coverage, calls: int, operations: list[str]) -> Iterator[str]:
    """What the catalogue's calls reach of the functions that they enter, and which lines they never reach."""
    all_places = coverage.places
    there = f"{len(all_places & coverage.catalogue)} of {counted(len(all_places), 'place')}"
    yield f"coverage: {counted(calls, 'call')} of the catalogue ({counted(len(operations), 'operation')}) reach {there}"
    if missed := list(coverage.missed(coverage.catalogue)):
        yield "the catalogue never reaches"
        yield from (f"   {line}" for line in missed)


def lines_of_hunt(coverage: Coverage, is_whole: bool) -> Iterator[str]:
    """What the hunt has reached beyond that, and what no call has; is_whole: in every operation of the library."""
    new = coverage.reached - coverage.catalogue
    yield f"coverage: the hunt reached {counted(len(new), 'place')} more"
    if new and (missed := list(coverage.missed(coverage.reached))):
        yield "no call reached"
        yield from (f"   {line}" for line in missed)
    if is_whole and (unknown := list(coverage.not_entered())):
        yield "in functions that no call entered"
        yield from (f"   {line}" for line in unknown)


def lines_of_found(number: int, found: Found, handed: str, path: Path | None) -> Iterator[str]:
    """What was found, and how it is made again; handed: options that name the candidate; path: where it is kept."""
    result, is_sequence = found.result, len(found.steps) > 1
    yield f"{number}. {found.call.operation}: {result.headline}"
    if is_sequence:
        yield f"   {result.status} in the last of {counted(len(found.steps), 'call')}"
        yield from (f"      {place}: {step.described}" for place, step in enumerate(found.steps, 1))
        drawn = counted(len(found.drawn), "call")
    else:
        yield f"   {result.status} where {found.call.described}"
        drawn = found.drawn[0].call.described
    if result.reason != result.headline:
        yield f"   {result.reason}"
    tries = counted(found.shrinking, "sequence" if is_sequence else "call")
    yield f"   drawn as call {found.number}, shrunk in {tries}, from {drawn}"
    repeat = "hunt --sequence" if is_sequence else f"{run_command()} --inputs"
    if path and is_sequence:
        yield f"   repeat: {program()} hunt {handed} --sequence {path}"
    elif path:
        yield f"   repeat: {run_command()} {handed} --inputs {path}"
    else:
        yield f"   `--keep DIR` writes it to a file that `{repeat}` takes"
