"""The levels that an argument takes in designed cases, and the classes that they belong to.

Kernels are as a rule alike within a class of sizes, which is why pairs of sizes are formed of classes.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from conformance.catalogue.factors import SIZES

CLASS_ENDS = (8, 64, 1024)  # the last size of each class but one
CLASSES = len(CLASS_ENDS) + 1

# Every number that an operation takes: the plain ones, then the extreme ones.
SCALARS: Mapping[str, Sequence[float]] = MappingProxyType(
    {
        "alpha": (1.0, 0.5, -1.7, 0.0, 300.0),
        "beta": (0.0, 1.0, 0.5, -2.5, 2.5),
        "scale": (1.0, 0.125, -0.5, 0.0, 3.0),
        "eps": (1e-6, 1e-5, 1e-3, 1.0, 1e-12, 0.0),
        "temperature": (1.0, 0.7, 0.0, 1.7, 0.001, 30.0),
        "top_p": (0.9, 0.5, 0.1, 1.0, 0.999, 1.5, 0.0, -1.0),
        "clip_norm": (1.0, 0.5, 30.0, 1e-3, 1e4, math.inf),
        "lr": (1e-2, 1e-4, 1.0, 0.0),
        "beta1": (0.9, 0.5, 0.0, 0.99),
        "beta2": (0.95, 0.999, 0.0, 0.5),
        "weight_decay": (0.1, 0.0, 0.01, 1.0),
        "momentum": (0.9, 0.0, 0.5, 1.0, 1.5),
        "nesterov": (0, 1),
        "step": (7, 1, 2, 100, 101, 1000, 3000, 65537, 1000000),
        "base": (1e4, 5e5, 100.0, 2.0),
        "offset": (0, 1, 5, 33, 1000),
        "seed": (0, 0x123456789ABCDEF),
    }
)

# What an array of floating-point numbers holds, by class: data sets of conformance/catalogue/cases/data.py.
VALUES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "ordinary": ("plain", "exact"),
        "spread": ("range", "swamp", "cancel"),
        "shaped": ("degenerate", "late", "early", "negative", "rising", "falling", "ties", "sparse"),
        "scaled": ("tiny", "large", "subnormal", "huge"),
        "special": ("special", "signed", "lone", "lone_nan"),
    }
)
OF_SPECIAL_RESULTS = (*VALUES["special"], "sparse")  # of whose numbers an exact zero, or a NaN, may be due
FINITE = tuple(value for kind, values in VALUES.items() if kind != "special" for value in values)


def class_of(size: int) -> int:
    """Return the number of the class that a size belongs to."""
    return bisect.bisect_left(CLASS_ENDS, size)


def sizes_to(most: int) -> tuple[int, ...]:
    """Return the levels of a size that is never larger, that largest one among them."""
    return tuple(sorted({*(size for size in SIZES if size <= most), min(most, SIZES[-1])}))
