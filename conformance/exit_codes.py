"""Exit codes of the command line."""

from __future__ import annotations

from collections.abc import Iterable

PASSED, FAILED, HARNESS, NO_DEVICE = 0, 1, 2, 3
EXIT = "exit code: 0 all passed or waived; 1 the candidate failed; 2 the judge itself failed, or nothing was judged"


def gravest(codes: Iterable[int]) -> int:
    """Return the exit code of several runs: the judge's failure before a missing device before the candidates'."""
    return max(codes, key=(PASSED, FAILED, NO_DEVICE, HARNESS).index)
