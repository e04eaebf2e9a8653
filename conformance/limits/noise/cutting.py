"""What sums of products cost on a matrix unit, which cuts: how many products it adds at once, and to how many digits.

A sum of n products makes m = ceil(n / L) steps (reference/tensor_core.py).  Each cuts its L products and the sum so
far, all toward zero, to F digits behind the point of the largest of them, p: a term loses up to g = 2^-F p, g / 2 in
the mean with variance g^2 / 12; and it cuts the new sum s to `kept` digits, which loses up to 2^-kept |s|, half of it
in the mean, with a twelfth of its square as variance.  What terms lose points to zero from each of them, so that those
of one sign lean: by g / 2 for each of n + m.  Which signs meet which g depends on the order, so no difference of signs
is counted on.

p is no more than the sum so far, or the largest product: p^2 is in the mean at most partial + largest, the mean square
of the partial sums and the largest product's.  What float32 may round is counted besides (reductions.py), since a
library may be finer than it declares.  Where a factor is subnormal p is what its product is written as (written.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reference.tensor_core import FORMATS, FP8, MatrixUnit, matrix_unit

from .precision import FLOAT32, Floats, roundings
from .written import Written

_ARCHITECTURES = (70, 75, 80, 86, 89, 90, 100, 120)
_PREFIX = "tensor core "
# What a contract may call an accumulator: "tensor core sm_80"; of fp8 "tensor core sm_89 fp8".
ACCUMULATORS = (
    *(f"{_PREFIX}sm_{sm}" for sm in _ARCHITECTURES),
    *(f"{_PREFIX}sm_{sm} fp8" for sm in _ARCHITECTURES if sm >= 89),
)


@dataclass(frozen=True)
class Cutting:
    """The costs of sums on one unit; n counts the products of a sum, sizes squared are mean squares.

    least_factor: the least normal number of its factors' format, where that is not the one they are stored in.
    """

    unit: MatrixUnit
    least_factor: float | None = None

    def _steps(self, n: Any) -> Any:
        return np.ceil(n / self.unit.length)

    def variance(self, n: Any, partial: Any, largest: Any) -> Floats:
        """Variance of all cuts about their mean."""
        steps, of_sum, of_term = self._steps(n), 2.0**-self.unit.kept, 2.0**-self.unit.fraction
        return np.asarray(steps * of_sum**2 / 12 * partial + (n + steps) * of_term**2 / 12 * (partial + largest))

    def lean(self, n: Any, partial: Any, largest: Any) -> Floats:
        """The most that the cuts' means come to."""
        steps, of_sum, of_term = self._steps(n), 2.0**-self.unit.kept, 2.0**-self.unit.fraction
        return np.asarray(
            steps * of_sum / 2 * np.sqrt(partial) + (n + steps) * of_term / 2 * np.sqrt(partial + largest)
        )

    def reach(self, n: Any, sizes: Any) -> Floats:
        """The most that all cuts come to; sizes: of all products together."""
        steps = self._steps(n)
        return np.asarray((steps * 2.0**-self.unit.kept + (n + steps) * 2.0**-self.unit.fraction) * sizes)

    @property
    def exact_unit(self) -> float:
        """Sums of whole numbers of grains are exact below so many of them, of which this is the reciprocal."""
        return max(FLOAT32.unit, 2.0**-self.unit.fraction, 2.0 ** -(self.unit.kept + 1))


COARSEST = Cutting(matrix_unit(70, "float16"))  # no other cuts float16 as far


def cutting(accumulator: str, inputs: str) -> Cutting | None:
    """Return what an accumulator cuts; None of a plain format.  Raises ValueError where the unit has no such inputs."""
    if accumulator not in ACCUMULATORS:
        return None
    fp8 = accumulator.endswith(" fp8")
    given = "float16" if inputs == FLOAT32.name else inputs  # numbers that lie in 16 bits are multiplied as they are
    unit = matrix_unit(architecture_of(accumulator), FP8[0] if fp8 else given)
    if not fp8:
        return Cutting(unit)
    return Cutting(unit, 2.0 ** FORMATS["float16" if unit.by_halves else FP8[0]].least)


def architecture_of(accumulator: str) -> int:
    """Return 80 of "tensor core sm_80"."""
    return int(accumulator.removeprefix(f"{_PREFIX}sm_").partition(" ")[0])


class Cost(NamedTuple):
    """What forming sums of products on a matrix unit costs, beside the roundings of float32; lean None: nothing."""

    variance: Floats | float = 0.0
    reach: Floats | float = 0.0
    lean: Floats | None = None


def cut(
    n: Any, partial: Floats, largest: Any, sizes: Floats, sure: Any, small: Written | None = None, held: float = 0.0
) -> Cost:
    """The cost of sums of n products; partial, largest: mean squares (cutting.py); sure: sums that are exact.

    small: products that are written larger than they are; held: of what all are multiples.  Where subnormal numbers are
    taken for zero, each of the products and of the partial sums, twice n numbers, loses less than the smallest normal
    one, toward zero, and no more than all products come to.
    """
    cuts, exact = roundings().cuts, sure | (n < 1)
    if cuts is None and small is None and not roundings().flushes:
        return Cost()
    parts: list[Any] = [np.zeros(())] * 3
    if roundings().flushes:
        lost = np.where(exact, 0.0, 2 * n * np.minimum(roundings().working.smallest, sizes))
        parts = [0.0, lost, lost]
    if cuts is None:
        cuts, partial, largest, sizes = COARSEST, np.zeros(()), 0.0, np.zeros(())
    if small:
        largest, sizes = largest + small.largest, sizes + small.sizes
        exact = exact & ((n <= 1) | small.cuts_nothing(held, cuts.exact_unit))
    own = (cuts.variance(n, partial, largest), cuts.reach(n, sizes), cuts.lean(n, partial, largest))
    return Cost(*(before + np.where(exact, 0.0, part) for before, part in zip(parts, own, strict=True)))
