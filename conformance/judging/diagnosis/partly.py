"""Readings that hold for a part of an output: one path of several through a kernel is wrong, the rest is right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.judging.diagnoses import Diagnosis, of_readings_in_part
from conformance.limits.noise import Noisy, exact

from .failed import Failed, Wrong
from .matching import Compared
from .numbers import CHANCE
from .places import places

if TYPE_CHECKING:
    from reference.readings import Reading


def partly(
    call: Failed, failed: Sequence[str], compared: Compared, readings: Iterable[Reading] | None = None
) -> Diagnosis | None:
    """Name the readings that give what came where it is wrong, and say where that is; None where none does.

    An output may be wrong everywhere, as the sum of a gradient is, where another one is right in some places.

    readings: those that are tried; the stated ones unless given.
    """
    wrongs = [Wrong(call, name) for name in failed]
    if not any(map(_is_telling, wrongs)) or not all(isinstance(wrong.right, Noisy) for wrong in wrongs):
        return None
    size = sum(np.size(array) for array in call.got.values())
    if sum(int(np.count_nonzero(wrong.beyond)) for wrong in wrongs) in (0, size):
        return None
    from conformance.variants.wrong.planted import known  # here: only what failed is compared with readings

    tried = known(call.operation) if readings is None else readings
    names = [reading.name for reading in tried if _holds(reading, compared, wrongs)]
    if not names:
        return None
    where = "; ".join(dict.fromkeys(_where(wrong) for wrong in wrongs))
    return of_readings_in_part(names, where)


def _is_telling(wrong: Wrong) -> bool:
    """Whether the wrong numbers are too many, and too different, for chance."""
    count, different = int(np.count_nonzero(wrong.beyond)), np.unique(wrong.got[wrong.beyond]).size
    return isinstance(wrong.right, Noisy) and different > 1 and wrong.choices ** -float(count) < CHANCE


def _holds(reading: Reading, compared: Compared, wrongs: list[Wrong]) -> bool:
    values = compared.values(reading)
    if values is None or any(value.shape != compared.expected[name].shape for name, value in values.items()):
        return False
    # Most readings are told from what came by a look at plain numbers.
    if not all(_nearer(w, values[w.output]) for w in wrongs):
        return False
    return any(
        all(w.holds(_mixed(w, wanted[w.output])) for w in wrongs) for wanted in compared.expectations(reading, values)
    )


def _nearer(wrong: Wrong, values: Any) -> bool:
    """Whether every wrong element is nearer to the reading's value than to the right one."""
    at = wrong.beyond
    with np.errstate(invalid="ignore"):
        off = np.abs(wrong.got[at] - values[at].astype(np.float64))
        return bool((off < np.abs(wrong.got[at] - wrong.values[at])).all())


def _mixed(wrong: Wrong, reading: Any) -> Any:
    """The reading's numbers where what came is wrong, the right ones elsewhere."""
    at, right = wrong.beyond, wrong.right
    reading = reading if isinstance(reading, Noisy) else exact(reading)
    v, variance = np.where(at, reading.v, right.v), np.where(at, reading.variance, right.variance)
    return Noisy(v, variance, np.where(at, reading.shared, right.shared), None)


def _where(wrong: Wrong) -> str:
    """The smallest regular region that holds what is wrong; where there is none, how much of it there is."""
    return next((f"{wrong.output}: {place.words}" for place in places(wrong) if place.words), wrong.output)
