"""What an array looks like, whatever made it: like another one, like memory nobody has written, or like neither."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.graphs.handed import Handed
from conformance.graphs.local import Local
from conformance.judging.diagnoses import Kind
from conformance.judging.diagnosis.failed import Failed, Undeclared
from conformance.judging.diagnosis.symptoms import symptom
from conformance.judging.verdict import Verdict, judge
from conformance.limits.noise import Noisy

Array = NDArray[Any]
ABSENT = "nothing was handed in"
_FLOAT32 = np.finfo(np.float32)
# Numbers of bits at random spread over all exponents: next to none of a tensor's own are subnormal, or as much larger
# than the largest that is due as float32 has digits, twice over.
_BEYOND = 2.0**48
_AXES = {
    1: ("element",),
    2: ("row", "column"),
    3: ("sample", "step", "column"),
    4: ("sample", "channel", "row", "column"),
}


def fits(due: Any, got: Array) -> bool:
    """Whether an array is what is due, within its noise."""
    return isinstance(due, Noisy) and got.shape == due.shape and judge("", due, got).passed


def times(due: Noisy, factor: float) -> Noisy:
    """What is due, times an exact number."""
    return due.replaced(
        v=due.v * factor, variance=due.variance * factor**2, shared=due.shared * factor**2, worst=None, lean=None
    )


def memory(came: Handed, name: str, due: Noisy) -> str:
    """Say by what an array is seen to be memory that nobody has written; nothing where it is none."""
    got = came.arrays[name]
    size = np.abs(got[np.isfinite(got)])
    largest = float(np.max(np.abs(due.v), initial=0.0))
    odd = int(np.count_nonzero((size > 0) & (size < _FLOAT32.tiny)))
    odd += int(np.count_nonzero(size > _BEYOND * largest)) if largest else 0
    odd += int(np.count_nonzero(~np.isfinite(got))) if odd else 0
    usual = int(np.count_nonzero((np.abs(due.v) > 0) & (np.abs(due.v) < _FLOAT32.tiny)))
    if odd > usual:
        return f"{odd} of {got.size} numbers are subnormal or past all size, as no sum of products here is"
    if came.varies(name):
        return "two runs on the same arrays give different numbers"
    return ""


def held_elsewhere(local: Local, came: Handed, name: str) -> str:
    """The name of another result, or of an array that was given, whose numbers stand there; nothing where none's do.

    What is computed from a result may hold the same rightly.
    """
    got = came.arrays[name].reshape(-1)
    if got.size < 2 or np.all(got == got[0]):
        return ""
    later = {name, *_computed_from(local, name)}
    others = {**local.task.arrays, **{other: array for other, array in came.arrays.items() if other not in later}}
    same = (n for n, a in others.items() if a.dtype == got.dtype and a.size >= got.size)
    return next((n for n in same if np.array_equal(others[n].reshape(-1)[: got.size], got)), "")


def _computed_from(local: Local, name: str) -> set[str]:
    """The values that a value leads to; the gradients that a gradient does, which are of what its value comes from."""
    kind, _, bare = name.partition(".")
    found, records, order = {bare}, local.task.records, local.task.order
    for number in reversed(order) if kind == "gradient" else order:
        reads, writes = {*records[number].inputs, *records[number].parameters}, {records[number].output}
        if kind == "gradient":
            reads, writes = writes, reads
        if reads & found:
            found |= writes
    return {f"{kind}.{one}" for one in found}


def plainly(local: Local, came: Handed, name: str, verdict: Verdict) -> str:
    """Say what a wrong array looks like where no reading of its records gives it."""
    if name not in came.arrays:
        return ABSENT
    got = came.arrays[name]
    due = local.results[name]
    if got.shape != due.shape or got.dtype != np.float32:
        return verdict.reason
    if left := came.unwritten(name):
        return "not written" if left == got.size else f"{left} of {got.size} numbers are not written"
    if not got.any():
        return "zero everywhere"
    if other := held_elsewhere(local, came, name):
        return f"it holds what {other} holds"
    if said := memory(came, name, due):
        return f"memory that nobody has written: {said}"
    found = symptom(_Tensor(_Graph("graph", {}, {name: due}, came.arrays, {}), name))
    return found.text if found.kind is not Kind.NO_PATTERN else f"{found.text}; {compared(got, due)}"


def compared(got: Array, due: Noisy) -> str:
    """How far an array is off the one that is due, in length and in direction."""
    came, right = got.astype(np.float64).reshape(-1), due.v.reshape(-1)
    lengths = float(np.linalg.norm(came)), float(np.linalg.norm(right))
    if not all(lengths) or not np.isfinite(lengths).all():
        return f"its length is {lengths[0]:.4g}, that of the right one {lengths[1]:.4g}"
    cosine = float(came @ right) / (lengths[0] * lengths[1])
    return f"{lengths[0] / lengths[1]:.4g} times as long as the right one, cosine {cosine:.4g}"


class _Graph(Failed):
    """A step as a call without arguments; a graph is too small for a number to be known by a size of it."""

    @property
    def inputs(self) -> dict[str, Array]:
        return {}

    @property
    def numbers(self) -> dict[str, float]:
        return {}

    def computed_with(self, unit: float) -> dict[str, Any]:
        return {}


class _Tensor(Undeclared):
    """One array of it."""

    @property
    def axes(self) -> tuple[str, ...]:
        return _AXES.get(self.got.ndim, tuple(f"place on axis {axis}" for axis in range(self.got.ndim)))
