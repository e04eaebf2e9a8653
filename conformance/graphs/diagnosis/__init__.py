"""What a wrong result of a graph looks like, in a line: which record did what, as far as the numbers tell.

Each wrong result is compared with what its records would give by another reading: an attribute that is ignored, a part
of a gradient that is missing, a factor that is left out, memory that nobody has written.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from conformance.graphs.handed import Handed
from conformance.graphs.local import Local
from conformance.judging.diagnoses import Diagnosis
from conformance.judging.verdict import Verdict

from .gradients import of_gradient
from .results import of_result
from .updates import of_update

__all__ = ["diagnose"]


def diagnose(local: Local, came: Handed, wrong: Mapping[str, Verdict]) -> dict[str, Diagnosis]:
    """Say of every wrong result what it looks like, by name."""
    found = {}
    with np.errstate(all="ignore"):
        for name, verdict in wrong.items():
            kind = name.partition(".")[0]
            if kind == "gradient":
                text = of_gradient(local, came, name, verdict, wrong)
            elif kind == "parameter":
                text = of_update(local, came, name, verdict)
            else:
                text = of_result(local, came, name, verdict)
            found[name] = Diagnosis(text)
    return found
