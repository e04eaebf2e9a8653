"""Where two backwards part although every call of the tape is right: one of them is derived wrongly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import reference
from conformance.judging.verdict import Verdict
from reference.namespace import Ops
from reference.step import accumulate

from .run import CONFIG, LOSS, Arrays, Made, Recorded, batch, beginning


def step_by_hand(ops: Ops) -> Arrays:
    """The loss and the gradients of the hand-written step, in float64."""
    doubles = {name: array.astype(np.float64) for name, array in beginning().items()}
    loss, found, _ = accumulate(ops, CONFIG, doubles, *batch())
    return {LOSS: loss.total.reshape(()), **found}


def since_derived(verdicts: Mapping[str, Verdict]) -> str:
    """Say where the way back goes wrong, and by which operations of the hand-written backward that leads.

    verdicts: of the loss and of each gradient; one of them has failed.
    """
    if not verdicts[LOSS].passed:
        return "every call is right: the two forward passes are not one function"
    for right, name, operations in stretches():
        if not verdicts[name].passed:
            way = f"from {right} to {name}, by hand {', '.join(operations)}"
            return f"every call is right: one of the two derives wrongly on the way back {way}"
    return ""


def stretches() -> Iterator[tuple[str, str, list[str]]]:
    """The way back by hand: a gradient, the next one, and the operations from that which gives the one to the other.

    What only multiplies begins where the stretch before did: gradients of several factors come from one operation.
    """
    recorded = Recorded(reference)
    found = step_by_hand(recorded)
    operations = [call.operation for call in recorded.calls]
    places = {name: _giving(recorded.calls, gradient) for name, gradient in found.items() if name != LOSS}
    begun = before = next(n for n, operation in enumerate(operations) if "backward" in operation)
    right = LOSS
    for name in sorted(places, key=places.__getitem__):
        stop = places[name] + 1
        begun = before if any("backward" in operation for operation in operations[before:stop]) else begun
        yield right, name, list(dict.fromkeys(operations[begun:stop]))
        right, before = name, places[name]


def _giving(made: Sequence[Made], gradient: Any) -> int:
    """The last call of which a result is this gradient."""
    return max(n for n, call in enumerate(made) if any(_is(one, gradient) for one in call.results.values()))


def _is(one: Any, gradient: Any) -> bool:
    return bool(one.size == gradient.size and (one.reshape(-1) == gradient.reshape(-1)).all())
