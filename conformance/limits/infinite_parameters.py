"""What comes of an infinite parameter where decay is part of its gradient.

A decay of 0 times it is no number, but may be left out; by other decays infinity is taken from infinity, but
param * (1 - lr * weight_decay) stays infinite.  The header leaves that open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .noise import Noisy, given_up

UPDATES = ("sgd_step", "momentum_step", "adam_step")


def leave_infinite(operation: str, arguments: Mapping[str, Any], expected: dict[str, Any]) -> None:
    """Give up what is expected of the elements whose parameter is infinite."""
    if operation not in UPDATES or not np.isinf(arguments["param"]).any():
        return
    for name, value in expected.items():
        if isinstance(value, Noisy):
            expected[name] = given_up(value, np.isinf(arguments["param"]))
