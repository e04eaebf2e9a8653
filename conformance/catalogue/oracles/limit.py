"""How far two float64 computations of one expectation may differ: the noise numbers' answer, at float64's unit."""

from __future__ import annotations

import numpy as np

from conformance.limits.measure import SIGMAS
from conformance.limits.noise import FLOAT32, SECOND_ORDER, Noisy
from conformance.limits.noise.precision import Floats

UNIT = 2.0**-53 / FLOAT32.unit  # a rounding of float64, in roundings of float32


def float64_limit(expected: Noisy) -> Floats:
    """Return for each element what two honest float64 computations of it can be apart.

    An error bound grows in proportion to the unit roundoff, so that of float32 is scaled; each of the two may use it
    Where no bound is carried (whole training steps) it is the 8 sigma of a verdict.
    """
    reach = SIGMAS * expected.sigma if expected.worst is None else expected.worst
    return np.asarray(2 * reach * SECOND_ORDER * UNIT)
