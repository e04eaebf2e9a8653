"""A part of the tests, for a run that has not the time for all: `pytest --part 2/3`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable


def part_of(ids: Iterable[str], slow: Collection[str], which: int, parts: int) -> set[str]:
    """Return the ids of the tests in the `which`-th (from 1) of so many parts.

    Of those marked slow it is each `parts`-th, and likewise of the parameters of a test that has enough of them for two
    in every part.  Any other test is in each part, so that no function is left out of one, unless it is slow.
    """
    alike = defaultdict[str, list[str]](list)
    for id in ids:
        alike["slow" if id in slow else id.partition("[")[0]].append(id)
    chosen = set[str]()
    for name, tests in alike.items():
        shared = name == "slow" or len(tests) >= 2 * parts
        chosen.update(tests[which - 1 :: parts] if shared else tests)
    return chosen
