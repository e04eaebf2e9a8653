"""By how many units in the last place a library's functions err: outputs that are a function of one number.

Each such output is compared with its value in forty digits, at arguments that reach the function as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conformance import operations
from conformance.catalogue.oracles.numbers import cosine_sine, precise
from conformance.limits.noise import FLOAT32

from .arguments import Array
from .measures import Call

# What is assumed of a function where nothing is declared of it (limits/noise/own_errors.py), in units.
ASSUMED = {"exp": 4.0, "log": 4.0, "pow": 8.0, "sin": 4.0, "cos": 4.0, "sqrt": 2.0, "division": 2.0}
_NUMBERS: Array = np.linspace(-1, 0, 1024, endpoint=False).astype(np.float32)
_ANGLES: Array = np.linspace(0, 50, 512).astype(np.float32)
_COUNTS = (2, 3, 5, 7, 13, 29, 61, 127, 251, 509, 1021)
_ROOTS: Array = np.array([2, 3, 5, 7, 0.3, 1e-3, 17.5, 1234.5, 7e7, 3e-9], np.float32)
_BASE, _HALF = 10.0, 256  # powers whose exponents float32 holds


class Point(NamedTuple):
    """What came out of a function, what it is in forty digits, and units that its argument's rounding adds."""

    function: str
    got: float
    due: Decimal
    more: float = 0.0


def points(operation: str, call: Call) -> Iterator[Point]:
    """Yield what a library's functions give, as far as this operation shows it."""
    with precise():
        yield from _WINDOWS[operation](call)


def shown_by(operation: str) -> bool:
    """Whether an output of the operation is a function of one number."""
    return operation in _WINDOWS


def worst(found: Sequence[Point]) -> dict[str, float]:
    """Return by how many units each function errs at most, beside what its argument's rounding adds."""
    most: dict[str, float] = {}
    with precise():
        for point in found:
            units = max(0.0, units_off(point) - point.more)
            most[point.function] = max(units, most.get(point.function, 0.0))
    return most


def units_off(point: Point) -> float:
    """The error in units in the last place of what is due; of a sine or cosine in those of 1."""
    if not np.isfinite(point.got):
        return float("inf")
    size = 1.0 if point.function in ("sin", "cos") else max(abs(float(point.due)), FLOAT32.smallest)
    unit = 2.0 ** (int(np.frexp(size)[1]) - 1 - FLOAT32.bits)
    return abs(float(Decimal(point.got) - point.due)) / unit


def _called(call: Call, operation: str, **arguments: Any) -> Mapping[str, NDArray[Any]]:
    return call(operation, operations.typed(operations.OPERATIONS[operation], arguments))


def _exact(x: Any) -> Decimal:
    return Decimal(float(x))


def _exponentials(call: Call) -> Iterator[Point]:
    """The gradient of a class that is not the target is exp of its logarithm."""
    row = np.append(_NUMBERS, np.float32(0))[None]
    outputs = _called(call, "cross_entropy_backward", log_probs=row, targets=np.array([_NUMBERS.size]), scale=1.0)
    for x, got in zip(_NUMBERS, outputs["d_logits"][0], strict=False):
        yield Point("exp", float(got), _exact(x).exp(), abs(float(x)))


def _logarithms(call: Call) -> Iterator[Point]:
    """Equal classes have the logarithm of their number."""
    for count in _COUNTS:
        row = np.zeros((1, count), np.float32)
        outputs = _called(call, "cross_entropy_forward", logits=row, targets=np.array([0]))
        yield Point("log", -float(outputs["log_probs"][0, 0]), Decimal(count).ln())


def _powers(call: Call) -> Iterator[Point]:
    """The angles of position 1."""
    outputs = _called(call, "rope_freqs", max_seq_len=2, head_dim=2 * _HALF, base=_BASE, alpha=1.0)
    row: Array = next(iter(outputs.values()))[1]
    for d, got in enumerate(row):
        size = Decimal(d) / _HALF * _exact(_BASE).ln()
        yield Point("pow", float(got), (-size).exp(), 2 * float(size))


def _sines(call: Call) -> Iterator[Point]:
    """A pair (1, 0), turned."""
    pairs = np.zeros((1, 1, 1, 2 * _ANGLES.size), np.float32)
    pairs[..., 0::2] = 1
    outputs = _called(call, "rope_forward", input=pairs, freqs=_ANGLES[None], offset=0)
    turned = outputs["output"].reshape(-1, 2)
    for angle, (cosine, sine) in zip(_ANGLES, turned, strict=True):
        due = cosine_sine(_exact(angle))
        yield Point("cos", float(cosine), due[0])
        yield Point("sin", float(sine), due[1])


def _roots(call: Call) -> Iterator[Point]:
    """The norm of gradients, and the factor that clips it: of the norm as it came."""
    for squares in _ROOTS:
        outputs = _called(call, "clip_scale", sum_squares=squares.reshape(1), clip_norm=1e-6)
        norm, factor = (float(outputs[name][0]) for name in ("total_norm", "scale"))
        yield Point("sqrt", norm, _exact(squares).sqrt())
        yield Point("division", factor, _exact(np.float32(1e-6)) / _exact(norm))


_WINDOWS: Mapping[str, Callable[[Call], Iterator[Point]]] = {
    "cross_entropy_backward": _exponentials,
    "cross_entropy_forward": _logarithms,
    "rope_freqs": _powers,
    "rope_forward": _sines,
    "clip_scale": _roots,
}
