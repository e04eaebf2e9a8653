"""What a failure looks like, in one line: the wrong reading that gives the same numbers, or else a symptom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conformance.judging.verdict import Verdict
from conformance.limits.expectation import Expected

from .failed import Failed, Wrong
from .matching import matches, said
from .partly import partly
from .printed import printed
from .symptoms import symptom

__all__ = ["diagnose", "printed"]

NAMED = 3  # outputs that are listed by name


def diagnose(
    operation: str,
    arguments: Mapping[str, Any],
    expected: Expected,
    got: Mapping[str, Any],
    verdicts: Sequence[Verdict],
    last: Mapping[str, Any] | None = None,
) -> str:
    """Say in one line what a failed call looks like; "" where its numbers are right or of another shape or type.

    expected, got: by flat output name, as they were judged; last: what the candidate returned from the call before.
    """
    failed = [verdict.output for verdict in verdicts if not verdict.passed]
    if not failed or any(not _comparable(expected[name], got[name]) for name in expected):
        return ""
    with np.errstate(all="ignore"):
        found = said(matches(operation, arguments, expected, got))
        if found:
            return found
        call = Failed(operation, arguments, expected, got, last or {})
        if found := partly(call, failed):
            return found
        by_words: dict[str, list[str]] = {}
        for name in failed:
            words = symptom(Wrong(call, name))
            by_words.setdefault(words, []).append(name)
    return "; ".join(f"{_listed(names)}: {words}" for words, names in by_words.items())


def _comparable(wanted: Any, got: Any) -> bool:
    kind = wanted.dtype.kind
    return bool(wanted.shape == got.shape and (got.dtype == np.float32 if kind == "f" else got.dtype.kind == kind))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"
