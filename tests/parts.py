"""A part of the tests, for a run that has not the time for all: `pytest --part 2/3`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable


def part_of(ids: Iterable[str], slow: Collection[str], built: Collection[str], which: int, parts: int) -> set[str]:
    """Return the ids of the tests in the `which`-th (from 1) of so many parts.

    Of those marked slow it is each `parts`-th.  What is prepared for those marked as built takes long: of the files
    that hold some it is each `parts`-th, with all of them.  Of the parameters of any other test it is each `parts`-th,
    too, and two where there are two, so that no such function is left out of a part.
    """
    taken, files, alike = list[str](), defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for id in ids:
        if id in built:
            files[id.partition("::")[0]].append(id)
        elif id in slow:
            taken.append(id)
        else:
            alike[id.partition("[")[0]].append(id)
    chosen = {*taken[which - 1 :: parts]}.union(*list(files.values())[which - 1 :: parts])
    for tests in alike.values():
        step = max(1, min(parts, len(tests) // 2))
        chosen.update(tests[(which - 1) % step :: step])
    return chosen
