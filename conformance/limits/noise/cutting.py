"""What sums of products cost on a matrix unit, which cuts: how many products it adds at once, and to how many digits.

A sum of n products makes m = ceil(n / L) steps (reference/tensor_core.py).  Each cuts its L products and the sum so
far, all toward zero, to F digits behind the point of the largest of them, p: a term loses up to g = 2^-F p, g / 2 in
the mean with variance g^2 / 12; and it cuts the new sum s to `kept` digits, which loses up to 2^-kept |s|, half of it
in the mean, with a twelfth of its square as variance.  What terms lose points to zero from each of them, so that those
of one sign lean: by g / 2 for each of n + m.  Which signs meet which g depends on the order, so no difference of signs
is counted on.

p is no more than the sum so far, or the largest product: p^2 is in the mean at most partial + largest, the mean square
of the partial sums and the largest product's.  What float32 may round is counted besides (reductions.py), since a
library may be finer than it declares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reference.tensor_core import FP8, MatrixUnit, matrix_unit

from .precision import FLOAT32, Floats

_ARCHITECTURES = (70, 75, 80, 86, 89, 90, 100, 120)
_PREFIX = "tensor core "
# What a contract may call an accumulator: "tensor core sm_80"; of fp8 "tensor core sm_89 fp8".
ACCUMULATORS = (
    *(f"{_PREFIX}sm_{sm}" for sm in _ARCHITECTURES),
    *(f"{_PREFIX}sm_{sm} fp8" for sm in _ARCHITECTURES if sm >= 89),
)


@dataclass(frozen=True)
class Cutting:
    """The costs of sums on one unit; n counts the products of a sum, sizes squared are mean squares."""

    unit: MatrixUnit

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


def cutting(accumulator: str, inputs: str) -> Cutting | None:
    """Return what an accumulator cuts; None of a plain format.  Raises ValueError where the unit has no such inputs."""
    if accumulator not in ACCUMULATORS:
        return None
    fp8 = accumulator.endswith(" fp8")
    given = "float16" if inputs == FLOAT32.name else inputs  # numbers that lie in 16 bits are multiplied as they are
    return Cutting(matrix_unit(architecture_of(accumulator), FP8[0] if fp8 else given))


def architecture_of(accumulator: str) -> int:
    """Return 80 of "tensor core sm_80"."""
    return int(accumulator.removeprefix(f"{_PREFIX}sm_").partition(" ")[0])
