"""What did not pass in the last run of each library, for `--last-failed`; kept in a file of the working folder."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

from .results import Result

FILE = Path(".cache/assayer/last-failed.json")


def recall(library: Path) -> list[str]:
    """Return the ids that did not pass when they were last judged for this library."""
    return _read().get(str(library.resolve()), [])


def remember(library: Path, results: Iterable[Result]) -> None:
    """Note what passed now and what did not; of cases that were not judged this time the last word stands."""
    failed = dict.fromkeys(recall(library))
    for result in results:
        if result.is_fine:
            failed.pop(result.id, None)
        else:
            failed[result.id] = None
    kept = {path: ids for path, ids in _read().items() if Path(path).exists()}
    with contextlib.suppress(OSError):  # a folder that cannot be written to has no memory
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_text(json.dumps(kept | {str(library.resolve()): list(failed)}, indent=1) + "\n", encoding="utf-8")


def _read() -> dict[str, list[str]]:
    try:
        found = json.loads(FILE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
