"""Where intermediate arrays lie in one piece of memory, so that it is used again when what lay there is dead.

An array lives from the call that fills it to the last one that reads it, results to the end. The bound: at some call
all arrays that live then are somewhere, so that no plan needs less than the most of them at any call.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from reference.arrays import Array
from reference.namespace import Ops

from .checked import Checked, check_values
from .placement import Life, bound, by_size, in_order
from .run import Run
from .trace import Trace, Traced

ALIGNMENT = 256  # bytes: that of a device's allocations, and a multiple of every vector's
_EXHAUSTIVE = 1500  # arrays, up to which the slower placement is tried too


@dataclass(frozen=True)
class Plan:
    """offsets: by slot; peak: bytes of the memory; bound: the fewest that any plan needs; apart: without reuse."""

    offsets: Mapping[int, int]
    peak: int
    bound: int
    apart: int

    def __str__(self) -> str:
        return (
            f"intermediates: {self.peak:,} bytes planned, {self.bound:,} at least (what lives at one call), "
            f"{self.apart:,} without reuse"
        )


def plan(
    checked: Checked, ops: Ops, arrays: Mapping[str, Array], *, backward: bool = True, keep: Collection[str] = ()
) -> Plan:
    """Return the plan of a pass over these arrays, forward and backward; keep: values that are wanted at the end.

    The pass is made once, and its calls noted. Losses, running statistics and the parameters' gradients are kept.
    Raises GraphError as Run does, and for names of `keep` that are no values.
    """
    check_values("plan: keep", checked, keep)
    traced = Traced(ops)
    run = Run(checked, traced)
    forward = run.forward(arrays, training=backward)
    gradients = [g for g in run.backward(forward).parameters.values() if g is not None] if backward else []
    kept = [*forward.losses.values(), *forward.state.values(), *gradients, *(forward.values[name] for name in keep)]
    if not backward:
        kept += [forward.values[name] for name in checked.graph.outputs]
    for array in kept:
        traced.trace.keep(array)
    return plan_of(traced.trace)


def plan_of(trace: Trace, elsewhere: Collection[int] = ()) -> Plan:
    """Return the plan of a trace; elsewhere: slots that lie outside of it."""
    lives = [
        Life(slot.number, -(-slot.nbytes // ALIGNMENT) * ALIGNMENT, slot.born, trace.last[slot.number])
        for slot in trace.slots
        if slot.number not in elsewhere
    ]
    found = [in_order(lives)]
    if len(lives) <= _EXHAUSTIVE:
        found.append(by_size(lives))
    offsets, peak = min(found, key=lambda one: one[1])
    return Plan(offsets, peak, bound(lives), sum(life.size for life in lives))
