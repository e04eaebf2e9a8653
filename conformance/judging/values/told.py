"""How the values of one input lie wherever the results of several cases are wrong, where that is more than chance."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

from conformance.judging.spans import CHANCE

from .bounds import reach, said
from .measured import AN_INPUT, Kind, Values

_MOSTLY = 4  # one in so many of the elements that lie there is wrong, at least
_HOLDS = 0.75  # in so many of the cases where the output is wrong, at least


def told(cases: Sequence[Iterable[Values]]) -> str:
    """Say how the values of one input lie wherever the results of several cases are wrong: "only where x is below -18".

    cases: of all that failed, of one output; one in which nothing is known of it is empty, and counted as one of which
    nothing is said.

    Nothing where chance may have brought it about, where most lies there, or where most of what lies there is right.
    """
    known = [case for case in map(list, cases) if case]
    by_way: dict[tuple[str, str, Kind], list[Values]] = {}
    for one in itertools.chain.from_iterable(known):
        by_way.setdefault((one.output, one.input, one.kind), []).append(one)
    often = [found for found in by_way.values() if len(found) >= _HOLDS * len(known) and _sets_apart(found)]
    certain = [found for found in often if _chance(found, len(known)) + math.log(len(by_way)) < math.log(CHANCE)]
    # Where one input tells, that there is one is less.
    found = min(certain, key=lambda one: (one[0].input == AN_INPUT, _chance(one, len(known))), default=[])
    some = "" if len(found) == len(cases) else f" in {len(found)} of {len(cases)} cases"
    return f"only where {said(found)}{some}" if found else ""


def _sets_apart(found: Sequence[Values]) -> bool:
    """Whether fewer lie there than elsewhere, and enough of them are wrong: errors leave out zeros by themselves."""
    inside = sum(one.inside for one in found)
    return _MOSTLY * sum(one.wrong for one in found) >= inside and 2 * inside <= sum(one.size for one in found)


def _chance(found: Sequence[Values], cases: int) -> float:
    """The logarithm of the chance of what was found, of so many cases.

    Bounds are drawn by what lies at them: of as many uniform numbers as there are wrong values the share that lies on
    their side of the outermost one, to the power of their number, is uniform, so that logarithms add up to a gamma
    distribution.  A case whose values between its own bounds and the outermost ones are right says nothing of these.
    """
    kind, (low, high) = found[0].kind, reach(found)
    telling = [
        one for one in found if not ((kind.has_low and one.under >= low) or (kind.has_high and one.over <= high))
    ]
    total, drawn = sum(one.unlikely for one in telling), (kind.has_low + kind.has_high) * len(telling)
    chosen = cases * math.log(2) if len(found) < cases else 0.0
    if not drawn or not total:
        return chosen - total
    logs = [place * math.log(total) - math.lgamma(place + 1) for place in range(drawn)]
    most = max(logs)
    return min(0.0, chosen - total + most + math.log(sum(math.exp(log - most) for log in logs)))
