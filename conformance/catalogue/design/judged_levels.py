"""Which levels of a row its case judges: none where nothing is known of the results, and no special value unseen.

Where an order of evaluation may overflow, or the header leaves a result open, nothing is known of an element, and it is
not judged.  NaN and infinities in an array lead there more often than not: a case that judges only elements which they
did not reach tells nothing of them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from conformance.catalogue.cases.designed import case_of
from conformance.catalogue.prepared import MemoryStore, Store
from conformance.catalogue.prepared.codec import Codec
from conformance.limits.expectation import Expected, expect
from conformance.limits.noise import Noisy

from .covering import JudgedLevels, Row
from .levels import VALUES
from .space import Space

_SPECIAL = frozenset(VALUES["special"])


class Known(NamedTuple):
    """What is known of a call's results: of any element; of every one; that one is not finite."""

    any: bool
    every: bool
    infinite: bool


_CODEC = Codec(Known)


def judges_of(space: Space, store: Store | None = None) -> JudgedLevels:
    """Return what tells of a row the factors whose levels its case judges, by the header's arithmetic.

    store: keeps what was computed, a call of the reference for each row.
    """
    kept = store or MemoryStore()

    def judges(row: Row) -> Collection[str]:
        case = case_of(space, row)
        known = kept.recall(f"known of {case.id}", lambda: known_of(expect(case.operation, case.arguments())), _CODEC)
        if not known.any:
            return frozenset()
        if known.every or known.infinite:
            return frozenset(row)
        return frozenset(name for name, level in row.items() if not (name in space.makers and level in _SPECIAL))

    return judges


def known_of(expected: Expected) -> Known:
    """Return what is known of a call's results: open elements have no finite variance."""
    known = [_known(value) for value in expected.values()]
    infinite = any(
        bool(np.any(is_known & ~np.isfinite(_values(value))))
        for is_known, value in zip(known, expected.values(), strict=True)
    )
    return Known(any(each.any() for each in known), all(each.all() for each in known), infinite)


def _known(value: Any) -> Any:
    return np.isfinite(value.variance) if isinstance(value, Noisy) else np.ones(np.shape(value), bool)


def _values(value: Any) -> Any:
    return value.v if isinstance(value, Noisy) else np.asarray(value)
