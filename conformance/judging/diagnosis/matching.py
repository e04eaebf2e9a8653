"""Tries the named wrong readings of an operation on what a candidate returned."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations
from conformance.judging.verdict import judge
from conformance.limits.expectation import Expected, expect, rounded
from conformance.limits.measure import SIGMAS
from conformance.limits.noise import FLOAT32, Noisy, exact

if TYPE_CHECKING:
    from reference.readings import Reading

Outputs = Mapping[str, Any]
Array = NDArray[Any]
_FAR, _SIGMAS_OFF = 0.05, 1000.0  # of a number's size, and of what is right: no noise of a slip's is as large
_NOTICED = 0.5  # of a limit, which is 8 sigma: what a reading is off by at least; chance does not make the other 4


class Compared:
    """What the readings of an operation give in one call, each computed once, with however many results it is compared.

    expected: what is right, by flat output name.  computed: what other unit roundoffs give there (failed.py).
    """

    def __init__(self, operation: str, arguments: Mapping[str, Any], expected: Expected) -> None:
        self.operation, self.arguments, self.expected = operation, arguments, expected
        self.computed: dict[float, Expected] = {}
        self._values: dict[str, dict[str, Any] | None] = {}
        self._expectations: dict[str, list[Expected]] = {}

    def values(self, reading: Reading) -> dict[str, Any] | None:
        """As values_of."""
        if reading.id not in self._values:
            self._values[reading.id] = values_of(reading, self.operation, self.arguments)
        return self._values[reading.id]

    def expectations(self, reading: Reading, values: Outputs) -> list[Expected]:
        """As expectations_of."""
        if reading.id not in self._expectations:
            call = (self.operation, self.arguments, self.expected)
            self._expectations[reading.id] = expectations_of(reading, *call, values)
        return self._expectations[reading.id]


def matches(compared: Compared, got: Outputs) -> tuple[list[Reading], list[Reading]]:
    """Return the readings that give what came, and those of which these arguments tell nothing.

    The likeliest stand first; those much less likely than it are left out.
    """
    from conformance.variants.wrong.planted import known  # here: only what failed is compared with readings

    return _likeliest(compared, known(compared.operation), got)


def matched_by_a_slip(compared: Compared, got: Outputs, cuts: Sequence[int] = ()) -> list[Reading]:
    """Return the slips that give what came, of which no case is asked to tell, the likeliest first."""
    return _likeliest(compared, made_of(compared, cuts), got, are_slips=True)[0]


def made_of(compared: Compared, cuts: Sequence[int] = ()) -> Iterable[Reading]:
    """Return the readings that are made for a call; cuts: places at which its results go wrong."""
    from conformance.variants.wrong.arithmetic import slips
    from conformance.variants.wrong.shortened import shortened
    from conformance.variants.wrong.slips import misreadings

    call = compared.operation, compared.arguments
    return itertools.chain(misreadings(*call, cuts), shortened(*call), slips(compared.operation))


def _likeliest(
    compared: Compared, readings: Iterable[Reading], got: Outputs, are_slips: bool = False
) -> tuple[list[Reading], list[Reading]]:
    """As matches, of some readings.  Of slips, which are many, those far off or right in this call are not tried."""
    right = _distance(rounded(compared.expected), got)
    likely: list[tuple[float, Reading]] = []
    untried = []
    for reading in readings:
        values = compared.values(reading)
        if values is None:
            untried.append(reading)
        elif any(wanted.shape != got[name].shape for name, wanted in values.items()):
            continue
        elif not (are_slips and _is_far(values, compared.expected, got)):
            is_nearer, differs = _distance(values, got) < right, _differs(values, compared.expected)
            is_tried = is_nearer and differs if are_slips else is_nearer or not differs
            fits = _likelihood(compared.expectations(reading, values), got) if is_tried else None
            if fits is not None and not differs:  # what it gives here is right, with errors as large as those that came
                untried.append(reading)
            elif fits is not None and is_nearer:
                likely.append((fits, reading))
    best = max((fits for fits, _ in likely), default=0.0)
    near = [(fits, reading) for fits, reading in likely if fits >= best - SIGMAS**2 / 2]
    return [reading for _, reading in sorted(near, key=lambda pair: -pair[0])], untried


def _is_far(values: Outputs, right: Expected, got: Outputs) -> bool:
    """Whether most numbers of an output are so far from a slip's that its noise need not be computed to say no.

    On noise numbers it takes many times as long as on plain ones, and there are hundreds of slips.
    """
    for name, value in values.items():
        ours, came = (np.asarray(each).astype(np.float64) for each in (value, got[name]))
        sigma = right[name].sigma if isinstance(right[name], Noisy) else 0.0
        far = abs(ours - came) > _FAR * np.maximum(abs(ours), abs(came)) + _SIGMAS_OFF * sigma
        if 2 * np.count_nonzero(far) > far.size:
            return True
    return False


def _differs(values: Outputs, right: Expected) -> bool:
    """Whether a reading gives another result in this call, and not what is right but for roundings.

    Such a one, 1 / sqrt(head_dim) where that is the scale, is as near to what came as the right result is, and with
    noise of its own may pass where that just fails.
    """
    verdicts = (judge(name, right[name], np.asarray(value)) for name, value in values.items())
    return any(not verdict.passed or verdict.share > _NOTICED for verdict in verdicts)


def values_of(reading: Reading, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the reading gives, stored as declared; None where it has no meaning for these arguments."""
    function = operations.OPERATIONS[operation]
    try:
        results = reading.function(*operations.ordered(function, arguments))
    except (ValueError, IndexError, ArithmeticError):
        return None
    return operations.narrowed(operation, operations.flat(operations.by_name(function, results)))


def _distance(values: Outputs, got: Outputs) -> tuple[int, float]:
    """How many values are special where the others are not, and the sum of squared differences of the rest."""
    special, squares = 0, 0.0
    for name, wanted in values.items():
        if wanted.shape != got[name].shape:
            return wanted.size, np.inf
        a, b = wanted.astype(np.float64), np.asarray(got[name]).astype(np.float64)
        numbers = np.isfinite(a) & np.isfinite(b)
        special += int(np.count_nonzero(~numbers & ~((a == b) | (np.isnan(a) & np.isnan(b)))))
        squares += float(np.sum(np.square(np.where(numbers, a, 0.0) - np.where(numbers, b, 0.0))))
    return special, squares


def expectations_of(
    reading: Reading, operation: str, arguments: Mapping[str, Any], expected: Expected, values: Outputs
) -> list[Expected]:
    """The reading on noise numbers; and where that cannot be known, its values with the noise of the right ones.

    What overflows or vanishes in float32 alone, as the sum of exponentials of -200, is no number in its values alone.
    """
    borrowed = {name: _borrowed(value, expected[name]) for name, value in values.items()}
    try:
        own = expect(operation, arguments, reading.function)
    except (TypeError, AttributeError):  # it uses a function, or an array, that does not carry noise
        return [borrowed]
    short = {name: _short_of_range(wanted, values[name]) for name, wanted in own.items()}
    return [own, borrowed] if all(short[name] is own[name] for name in own) else [own, short, borrowed]


def _short_of_range(own: Any, values: Any) -> Any:
    """A reading's noise numbers, but for what its own values, in the format that they are computed in, do not hold."""
    if not isinstance(own, Noisy) or own.v.shape != values.shape:
        return own
    lost = ~np.isfinite(values) & np.isfinite(own.v)
    return _replaced(own, lost, values) if lost.any() else own


def _borrowed(value: Any, right: Any) -> Any:
    if not isinstance(right, Noisy):
        return value
    v = value.astype(np.float64)
    with np.errstate(invalid="ignore"):
        known = np.where(np.isfinite(right.variance), right.variance, 0.0)
    return Noisy(v, np.where(np.isfinite(v), known + FLOAT32.variance(v), 0.0), right.shared, None)


def _likelihood(candidates: list[Expected], got: Outputs) -> float | None:
    """The logarithm of how likely the reading makes what came at most, or None where its verdict is no."""
    known = [{name: _known(wanted, np.asarray(got[name])) for name, wanted in one.items()} for one in candidates]
    fits = (
        sum(_log_density(wanted, got[name]) for name, wanted in expected.items())
        for expected in known
        if all(judge(name, _judged(wanted), np.asarray(got[name])).passed for name, wanted in expected.items())
    )
    return max(fits, default=None)


def _known(wanted: Any, got: Array) -> Any:
    """A reading's numbers, with what came where nothing is known of them, unless that is most."""
    if not isinstance(wanted, Noisy) or wanted.v.shape != got.shape:
        return wanted
    unknown = ~np.isfinite(wanted.variance)
    if not unknown.any() or 2 * np.count_nonzero(unknown) > unknown.size:
        return wanted
    return _replaced(wanted, unknown, got)


def _replaced(wanted: Noisy, at: NDArray[np.bool_], values: Array) -> Noisy:
    """With these values, exactly, in some places."""
    variance, shared = (np.where(at, 0.0, part) for part in (wanted.variance, wanted.shared))
    return Noisy(np.where(at, values, wanted.v), variance, shared, None)


def _judged(wanted: Any) -> Any:
    """What the judge holds a reading's output against; NaN is met by NaN also where nothing carries noise."""
    return exact(wanted.astype(np.float32)) if not isinstance(wanted, Noisy) and wanted.dtype.kind == "f" else wanted


def _log_density(wanted: Any, got: Any) -> float:
    if not isinstance(wanted, Noisy):
        return 0.0
    variance = wanted.variance + FLOAT32.variance(wanted.v)
    counted = np.isfinite(wanted.v) & np.isfinite(got) & (variance > 0)
    error = got[counted].astype(np.float64) - wanted.v[counted]
    return float(-0.5 * np.sum(error**2 / variance[counted] + np.log(variance[counted])))
