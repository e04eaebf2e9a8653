"""What did not pass in the last run of each candidate, for `--last-failed`; kept in a file of the working folder."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

from conformance.decoding import DecodingError, decode
from conformance.judging.results import Result

FILE = Path(".cache/assayer/last-failed.json")


def recall(candidate: str) -> list[str]:
    """Return the ids that did not pass when they were last judged for this candidate, named by its key."""
    return _read().get(candidate, [])


def remember(candidate: str, results: Iterable[Result]) -> None:
    """Note what passed now and what did not; of cases that were not judged this time the last word stands."""
    failed = dict.fromkeys(recall(candidate))
    for result in results:
        if result.is_fine:
            failed.pop(result.id, None)
        else:
            failed[result.id] = None
    kept = {key: ids for key, ids in _read().items() if Path(key.partition(" --")[0]).exists()}
    with contextlib.suppress(OSError):  # a folder that cannot be written to has no memory
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_text(json.dumps(kept | {candidate: list(failed)}, indent=1) + "\n", encoding="utf-8")


def _read() -> dict[str, list[str]]:
    try:
        return decode(dict[str, list[str]], FILE.read_bytes())
    except (OSError, DecodingError):
        return {}
