"""Other ways to read the words of a call: two arguments exchanged, one in another place, some by their address."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from bindings.header.records import Function

Order = tuple[str, ...]  # of a stack's words: `rows`, or `&rows` for the address of it
_CHOICES = 64  # of so many scalars at once: what is tried for one size of a choice, so that all take seconds


def exchanges(function: Function) -> Iterator[tuple[str, Order]]:
    """Yield every exchange of two arguments, then every argument in another place, and how the header has them."""
    names = [parameter.name for parameter in function.parameters]
    said = _said(function)
    seen = {tuple(names)}
    for i, j in itertools.combinations(range(len(names)), 2):
        swapped = [*names]
        swapped[i], swapped[j] = swapped[j], swapped[i]
        seen.add(tuple(swapped))
        yield f"takes arguments {said[names[i]]} and {said[names[j]]} for each other", tuple(swapped)
    for i, j in itertools.permutations(range(len(names)), 2):
        rest = names[:i] + names[i + 1 :]
        moved = (*rest[:j], names[i], *rest[j:])
        if moved not in seen:
            seen.add(moved)
            yield f"takes argument {said[names[i]]} as argument {j + 1}", moved


def by_address(function: Function) -> Iterator[tuple[str, Order]]:
    """Yield choices of scalars that are taken by address, the fewest first, with every pointer taken so and without.

    Fortran takes so what has no attribute `value`.
    """
    said = _said(function)
    scalars = [parameter.name for parameter in function.parameters if parameter.is_scalar]
    pointers = [parameter.name for parameter in function.parameters if not parameter.is_scalar]
    for size in range(len(scalars) + 1):
        for chosen in itertools.combinations(scalars, size) if math.comb(len(scalars), size) <= _CHOICES else ():
            words = [said[name] for name in chosen]
            if chosen:
                yield f"takes {_listed(words)} by address", _addressed(function, chosen)
            yield f"takes {_listed(['every pointer', *words])} by address", _addressed(function, (*chosen, *pointers))


def _addressed(function: Function, chosen: tuple[str, ...]) -> Order:
    return tuple(f"&{p.name}" if p.name in chosen else p.name for p in function.parameters)


def _said(function: Function) -> dict[str, str]:
    return {p.name: f"{place} `{p.declaration}`" for place, p in enumerate(function.parameters, start=1)}


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
