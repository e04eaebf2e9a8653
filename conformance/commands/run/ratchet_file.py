"""The file of a ratchet: what passed once, and must pass from then on.

    # Agreed with the kernels' team.
    rmsnorm                  # an operation: every case of it
    silu/plain/33            # a case or a probe
    step1/locked             # a training step

A line holds one entry, and they are sorted, so that a change of the file reads as a list of what was gained or lost.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from conformance.catalogue.cases import CASES, REFUSALS, SEQUENCES
from conformance.ids import operation_of
from conformance.judging.probes import probe_ids
from conformance.operations import OPERATIONS
from conformance.steps import STEPS
from conformance.steps.function import ID

_HEAD = "# What passed once, and must pass from now on: operations (every case of them), cases, training steps."


class RatchetError(ValueError):
    """A ratchet that cannot be read; the message names the file, the line, what was expected and what stands there."""


@dataclass(frozen=True)
class File:
    """A ratchet's entries, each with the comment behind it, and the lines of comment, which stand first."""

    entries: Mapping[str, str] = field(default_factory=dict)
    comments: Sequence[str] = (_HEAD,)


@functools.cache
def parts() -> dict[str, str]:
    """Return every entry that there can be, and the operation or step that it is a part of."""
    cases = {id: operation_of(id) for id in (*CASES, *REFUSALS, *SEQUENCES, *probe_ids())}
    whole = {operation: operation for operation in OPERATIONS} | {step: step for step in STEPS}
    return cases | whole | {ID: operation_of(ID)}


def read_ratchet(path: Path, new: bool = False) -> File:
    """Read a file.  new: one that is not there yet is empty.  Raises RatchetError."""
    if new and not path.exists():
        return File()
    if not path.is_file():
        found = "something else" if path.exists() else "nothing (--update-ratchet writes it)"
        raise RatchetError(f"{path}: expected a file of what passed, found {found}")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RatchetError(f"{path}: expected lines of UTF-8 text: {error}") from None
    entries: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        entry, mark, comment = line.partition("#")
        if entry.strip():
            _check(f"{path}, line {number}", entry.strip(), entries)
            entries[entry.strip()] = mark + comment
    return File(entries, [line for line in lines if line.lstrip().startswith("#")])


def _check(where: str, entry: str, before: Mapping[str, str]) -> None:
    """Raise RatchetError for an entry that is not known, or stands there twice."""
    if entry in before:
        raise RatchetError(f"{where}: expected each entry once, got {entry!r} again")
    if entry not in parts():
        near = get_close_matches(entry, parts(), 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        expected = "expected an operation, a case or a training step of this version"
        raise RatchetError(f"{where}: {expected}, got {entry!r}{hint}")


def write_ratchet(path: Path, file: File, entries: Iterable[str]) -> None:
    """Write these entries in place of a file's: sorted, without the cases of operations that stand there whole."""
    held = {*entries}
    kept = sorted(entry for entry in held if entry == parts()[entry] or parts()[entry] not in held)
    lines = [*file.comments, *(f"{entry}  {file.entries.get(entry, '')}".rstrip() for entry in kept)]
    beside = path.with_name(f".{path.name}.new")
    beside.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    beside.replace(path)
