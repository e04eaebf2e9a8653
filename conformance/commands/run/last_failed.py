"""What failed in the last run of each candidate, for `--last-failed`; kept in a file of the working folder."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance.decoding import DecodingError, decode
from conformance.judging.results import Result

FILE = Path(".cache/assayer/last-failed.json")
_IGNORED = "# Written by the judge: what it keeps here is no part of a project.\n*\n"


def recall(candidate: str) -> list[str]:
    """Return the ids that failed when they were last judged for this candidate, named by its key."""
    return _read().get(candidate, [])


def remember(candidate: str, results: Iterable[Result]) -> None:
    """Note what passed now and what failed; of cases that were not judged this time the last word stands.

    Runs that end at once wait for each other, so that each adds to what the others noted.
    """
    with contextlib.suppress(OSError), _alone():  # a folder that cannot be written to has no memory
        known = _read()
        failed = dict.fromkeys(known.get(candidate, []))
        for result in results:
            if result.is_fine:
                failed.pop(result.id, None)
            elif result.was_run:
                failed[result.id] = None
        kept = {key: ids for key, ids in known.items() if Path(key.partition(" --")[0]).exists()}
        beside = FILE.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps(kept | {candidate: list(failed)}, indent=1) + "\n", encoding="utf-8")
        beside.replace(FILE)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Hold the lock of the file, in a file beside it: the file itself is replaced."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    if not (ignore := FILE.with_name(".gitignore")).exists():
        ignore.write_text(_IGNORED, encoding="utf-8")
    with FILE.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # let go of when the lock is closed
        yield


def _read() -> dict[str, list[str]]:
    try:
        return decode(dict[str, list[str]], FILE.read_bytes())
    except (OSError, DecodingError):
        return {}
