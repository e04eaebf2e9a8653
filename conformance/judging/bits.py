"""Holds products whose order over k is declared to their very bits, and names the order that other bits are of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations
from conformance.limits import Declaration
from conformance.limits.k_order import EPILOGUES, instructions
from conformance.limits.noise import ACCUMULATORS, FLOAT32
from conformance.limits.ordered_sums import DECLARED, Rearranged, bits_due
from conformance.limits.products import operands
from reference.cpu_matrix_unit import UNITS

from .diagnoses import Diagnosis, Kind, Symptom, of_symptoms
from .verdict import Verdict

Array = NDArray[Any]
Outputs = Mapping[str, Array]
Due = Mapping[str, tuple[Array, Array]]  # by output: its bits, and where they are known

_UNKNOWN = "bits of no order that is known here"


def held_to_bits(
    operation: str, arguments: Mapping[str, Any], declared: Declaration, got: Outputs, verdicts: Sequence[Verdict]
) -> list[Verdict]:
    """Return verdicts that fail where bits are not those of the declared order; as they were where none is declared.

    Outputs beyond their limits stay what they are: there is more to say of them than that bits differ.
    """
    order, within = declared.k_order, all(verdict.passed for verdict in verdicts)
    if order is None or not within or not order.is_of(operations.sizes(operation, arguments)):
        return list(verdicts)
    due = bits_due(operation, arguments, declared)
    return [_held(operation, verdict, due, got) if verdict.output in due else verdict for verdict in verdicts]


def _held(operation: str, verdict: Verdict, due: Due, got: Outputs) -> Verdict:
    values, known = due[verdict.output]
    differs = _differs(due[verdict.output], got[verdict.output])
    count, held = int(np.count_nonzero(differs)), int(np.count_nonzero(known))
    if not count:
        return replace(verdict, same_bits=held)
    first = tuple(int(i) for i in np.unravel_index(int(np.argmax(differs)), differs.shape))
    stored = operations.OPERATIONS[operation].by_name[verdict.output].type.dtype
    wanted, came = (_printed(x[first], stored) for x in (values, got[verdict.output]))
    where = f"first at [{', '.join(map(str, first))}]"
    reason = f"bits differ in {count} of {held} elements, {where}: the declared order gives {wanted}, got {came}"
    return replace(verdict, passed=False, reason=reason, wrong=count, index=(), region="", same_bits=held - count)


def _differs(due: tuple[Array, Array], got: Array) -> Array:
    """Where bits are known and are not there; a zero has no sign here, as the header gives it none."""
    values, known = due
    return np.asarray(known & (values != got))


def _printed(value: Any, stored: np.dtype[Any]) -> str:
    bits = np.asarray(value).astype(stored).view(f"u{stored.itemsize}")
    return f"{float(value):.9g} (0x{int(bits):0{2 * stored.itemsize}x})"


def order_of(
    operation: str, arguments: Mapping[str, Any], declared: Declaration, got: Outputs, verdicts: Sequence[Verdict]
) -> Diagnosis:
    """Say which order the bits are of, where verdicts fail by their bits alone."""
    failed = tuple(verdict.output for verdict in verdicts if not verdict.passed)
    others = _others(operation, declared)
    found = [words for words, order, other in others if _gives(operation, arguments, order, other, got)]
    words = f"the bits of {', or of '.join(found)}" if found else _UNKNOWN
    each = tuple(f"the bits of {one}" for one in found)  # another case may tell them apart
    return of_symptoms([Symptom(Kind.ORDER, words, outputs=failed, also=each)])


def _gives(operation: str, arguments: Mapping[str, Any], order: Declaration, other: Rearranged, got: Outputs) -> bool:
    due = bits_due(operation, arguments, order, other)
    return not any(_differs(each, got[name]).any() for name, each in due.items())


def _others(operation: str, declared: Declaration) -> Iterator[tuple[str, Declaration, Rearranged]]:
    """Orders that a kernel may have in place of the declared one, in words."""
    order = declared.k_order
    assert order is not None
    plain = replace(order, promotion_interval=0, split_k="")
    step = order.instruction
    if plain != order:
        yield "one accumulator through all of k", replace(declared, k_order=plain), DECLARED
    if order.promotion_interval != step:
        each = replace(plain, promotion_interval=step)
        yield f"every {step} of k summed from zero", replace(declared, k_order=each), DECLARED
    for words, other in _REARRANGED.items():
        yield words, declared, other
    for epilogue in EPILOGUES:
        if "C" in operations.OPERATIONS[operation].by_name and epilogue != order.epilogue:
            yield epilogue, replace(declared, k_order=replace(order, epilogue=epilogue)), DECLARED
    yield from _other_units(operation, declared)


def _neighbours(count: int) -> Array:
    """1, 0, 3, 2 ...; the last stays where it has none."""
    places = np.arange(count) ^ 1
    return np.where(places < count, places, count - 1)


def _other_units(operation: str, declared: Declaration) -> Iterator[tuple[str, Declaration, Rearranged]]:
    """Units that the format is multiplied by besides, each in instructions of its own."""
    format = operands(operation) if declared.inputs == FLOAT32.name else declared.inputs
    assert declared.k_order is not None
    for accumulator in (*ACCUMULATORS, *UNITS):
        for step in instructions(accumulator, format):
            if accumulator != declared.accumulator:
                order = replace(declared.k_order, instruction=step, promotion_interval=0, split_k="")
                other = replace(declared, accumulator=accumulator, k_order=order)
                yield f"{accumulator}, {step} at a time", other, DECLARED


_REARRANGED = {
    "k descending": Rearranged(lambda count: np.arange(count)[::-1]),
    "neighbouring instructions exchanged": Rearranged(_neighbours),
    "the halves of each instruction exchanged": Rearranged(exchanged=True),
    "two accumulators, each of every other instruction": Rearranged(
        lambda count: np.concatenate([np.arange(0, count, 2), np.arange(1, count, 2)]), halves=True
    ),
    "two accumulators, each of half of k": Rearranged(halves=True),
    "the parts of k added from the last": Rearranged(backwards=True),
    "sums that begin at beta * C": Rearranged(begins=True),
}
