"""Making a folder of goldens anew: report what has changed, and write what may be written."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from conformance.catalogue.keywords import Keywords
from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.ids import operation_of

from . import manifest, profiles
from .compare import Change
from .errors import GoldenError
from .generate import Difference, Making, aside, difference, install, make_all
from .names import FULL

SHOWN = 40  # lines of a drift table


def regenerate(
    folder: Path,
    profile: str,
    processes: int = 2,
    check: bool = False,
    reason: str = "",
    chosen: Keywords | None = None,
) -> int:
    """Make a profile anew, or what is chosen of it, compare it with the folder, and put it there unless checking or
    refused."""
    chosen = chosen or Keywords()
    started = time.monotonic()
    if not any(map(chosen.matches, profiles.sources(profile))):
        print(f"-k {chosen.text!r}: expected words that a golden's id holds, got none of them")
        return HARNESS
    try:
        with aside(folder) as new:
            making = Making(new, _made(profile, new, processes, chosen), chosen, tuple(profiles.sources(profile)))
            found = difference(folder, making)
            code = _settle(folder, making, found, check, reason)
    except GoldenError as error:
        print(error)
        return HARNESS
    rounded = f" ({found.rounded} with other bytes within float64 rounding)" if found.rounded else ""
    print(f"{len(making.entries)} goldens{rounded}, {_size(folder)}, in {time.monotonic() - started:.1f} s")
    return code


def _made(profile: str, folder: Path, processes: int, chosen: Keywords) -> dict[str, manifest.Entry]:
    entries = {}
    for id, entry in make_all(profile, folder, processes, chosen):
        entries[id] = entry
        if profile == FULL:
            print(f"{id}: {(folder / entry.file).stat().st_size / 1e6:.0f} MB", flush=True)
    return {id: entries[id] for id in profiles.sources(profile) if id in entries}


def _settle(folder: Path, making: Making, found: Difference, check: bool, reason: str) -> int:
    """Report what was found, write what may be written, and return the exit code."""
    drift = [change for change in found.changes if change.kind != "new" or check]
    for line in (*map(str, found.damage), *making.contradicted, *table(drift)):
        print(line)
    if check:
        if not found.changes and not found.damage:
            _note_version(folder)
        return HARNESS if found.damage else FAILED if drift or making.contradicted else PASSED
    if len(found.damage) > len(found.damaged) or making.contradicted:
        print("nothing was written")
        return FAILED if making.contradicted else HARNESS
    if drift and not reason:
        print('nothing was written; to take the change: --accept --reason "why"')
        return HARNESS if found.damaged else FAILED
    replaced = {change.id for change in found.changes} | found.damaged
    install(folder, making, replaced, lower=bool(reason))
    if reason and found.changes:
        note(folder / "changes.md", reason, found.changes)
    elif reason:
        print("there was no change to take")
    return PASSED


def _note_version(folder: Path) -> None:
    if manifest.exists(folder) and manifest.read(folder).reference != manifest.reference_version():
        print("the reference's source has changed since; what it computes has not (`golden` takes note of it)")


def table(changes: Sequence[Change]) -> list[str]:
    """What has changed, a line each."""
    width = max((len(c.kind) for c in changes), default=0)
    lines = [f"{c.kind:{width}}  {c.id}{'  ' if c.what else ''}{c.what}" for c in changes[:SHOWN]]
    if len(changes) > SHOWN:
        lines.append(f"... and {len(changes) - SHOWN} more: {_counted(changes)}")
    return lines


def _counted(changes: Sequence[Change]) -> str:
    """How many goldens changed, by operation and kind."""
    counts = Counter((operation_of(id), kind) for id, kind in dict.fromkeys((c.id, c.kind) for c in changes))
    return ", ".join(f"{operation} {count} {kind}" for (operation, kind), count in sorted(counts.items()))


def note(path: Path, reason: str, changes: Sequence[Change]) -> None:
    """Append to the list of accepted changes: when, why, what."""
    head = "" if path.exists() else "# Accepted changes of the goldens\n"
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = "".join(f"- {line}\n" for line in table(changes))
    fresh = path.with_name(f".{path.name}")
    text = f"{head}{kept}\n## {datetime.now(UTC).date().isoformat()}: {reason}\n\n{lines}"
    fresh.write_text(text, encoding="utf-8", newline="\n")
    fresh.replace(path)


def _size(folder: Path) -> str:
    size = sum(path.stat().st_size for path in folder.rglob("*.safetensors"))
    return f"{size / 1e6:.1f} MB" if size < 1e9 else f"{size / 1e9:.1f} GB"
