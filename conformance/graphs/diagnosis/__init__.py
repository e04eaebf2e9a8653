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

from .gradients import ASSIGNED, of_gradient
from .results import of_result, writer
from .silence import Silence
from .updates import of_update

__all__ = ["ASSIGNED", "FOLLOWS", "diagnose"]
FOLLOWS = "follows from what was not handed in: "


def diagnose(local: Local, came: Handed, wrong: Mapping[str, Verdict]) -> dict[str, Diagnosis]:
    """Say of every wrong result what it looks like, by name."""
    found, silence = {}, Silence(local, came, wrong)
    with np.errstate(all="ignore"):
        for name, verdict in wrong.items():
            kind = name.partition(".")[0]
            if absent := _absent_before(local, came, name):
                text = f"{FOLLOWS}{absent}"
            elif kind == "gradient":
                text = of_gradient(local, came, name, verdict, silence)
            elif kind == "parameter":
                text = of_update(local, came, name, verdict)
            else:
                text = of_result(local, came, name, verdict)
            found[name] = Diagnosis(text)
    return found


def _absent_before(local: Local, came: Handed, name: str) -> str:
    """What a result that came is computed from by its records and was not handed in; nothing where all of it was."""
    kind, _, bare = name.partition(".")
    if name not in came.arrays or came.is_unwritten(name):
        return ""
    records = local.task.records
    if kind == "parameter":
        due = [f"gradient.{one}" for one in (local.task.trained if local.task.settings.clip_norm else (bare,))]
    elif kind == "gradient":
        behind = [records[number] for number in dict.fromkeys(part.number for part in local.parts[name])]
        due = [
            f"{word}.{one}" for r in behind for word, one in (("gradient", r.output), *(("value", i) for i in r.inputs))
        ]
    else:
        due = [f"value.{one}" for one in records[writer(local, name)].inputs]
    return next((one for one in due if one in local.task.wanted and one not in came.arrays), "")
