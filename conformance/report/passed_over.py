"""What was called and not judged: elements of which nothing is known, so that none of them reads as judged."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.judging.results import Result

from .record import counted

WHY = "nothing is known of what stands there (an order of evaluation overflows, or the header leaves it open)"


def passed_over(results: Iterable[Result]) -> str:
    """Say how many elements of how many cases were not judged, and of how many a whole output; nothing where none."""
    concerned = [result for result in results if any(verdict.left_open for verdict in result.verdicts)]
    if not concerned:
        return ""
    verdicts = [verdict for result in concerned for verdict in result.verdicts]
    open_ones, total = (sum(getattr(verdict, name) for verdict in verdicts) for name in ("left_open", "elements"))
    whole = sum(any(0 < v.elements == v.left_open for v in result.verdicts) for result in concerned)
    besides = f"; of {counted(whole, 'case')} among them that is a whole output" if whole else ""
    return f"{open_ones:,} of {total:,} elements of {counted(len(concerned), 'case')} were not judged: {WHY}{besides}"
