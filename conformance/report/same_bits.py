"""What was held to the very bits, since the order over k is declared."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.judging.results import Result

from .record import counted


def same_bits(results: Iterable[Result]) -> str:
    """Say how many elements have the bits of the declared order, and of how many bits are not known; nothing where
    no order is declared, or bits differ everywhere."""
    concerned = [result for result in results if any(verdict.same_bits is not None for verdict in result.verdicts)]
    verdicts = [v for result in concerned for v in result.verdicts if v.same_bits is not None]
    same, differ = sum(v.same_bits or 0 for v in verdicts), sum(v.wrong for v in verdicts)
    if not same:
        return ""
    beside = sum(v.elements for v in verdicts) - same - differ
    limits = f"; of {beside:,} besides bits are not known, and limits decide" if beside else ""
    wrong = f"; of {differ:,} bits differ" if differ else ""
    order = f"bits equal to those of the declared order over k: {same:,} elements"
    return f"{order} of {counted(len(concerned), 'case')}{wrong}{limits}"
