"""All that is timed operation by operation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from .cases import Case, divided, listed, of_a_step
from .listed import LISTED
from .networks import CONVOLUTIONS, PARTS, convolution, recurrent
from .sizes import SHORT, Sizes
from .strided import STRIDED, id_of, strided

PLANES = ((16, 64, 56), (16, 256, 14))
SEQUENCES = (32, 32, 128, 128)


def _itself(case: Case) -> Case:
    return case


def _recurrent(kind: str, place: int, divisor: int) -> Case:
    return recurrent(kind, SEQUENCES, divisor)[place]


class Timed(NamedTuple):
    """A case, made when it is asked for, and one with fewer rows to see first whether all compute the same."""

    case: Callable[[], Case]
    smaller: Callable[[], Case]


def timed(sizes: Sizes) -> dict[str, Timed]:
    """All that is timed, by id."""
    found = {}
    for number, (operation, _, _) in enumerate(LISTED):
        arrays = (shape[:1] if "of" in shape else shape for shape in divided(number, sizes.divisor))
        id = " ".join([operation, *("x".join(map(str, shape)) for shape in arrays)])
        found[id] = Timed(partial(listed, number, sizes.divisor), partial(listed, number, SHORT.divisor))
    for layer in PLANES:
        for operation in CONVOLUTIONS:
            whole = convolution(operation, layer, sizes.divisor)
            smaller = partial(convolution, operation, layer, SHORT.divisor)
            found[whole.id] = Timed(partial(convolution, operation, layer, sizes.divisor), smaller)
    for kind in PARTS:
        for place, whole in enumerate(recurrent(kind, SEQUENCES, sizes.divisor)):
            found[whole.id] = Timed(partial(_itself, whole), partial(_recurrent, kind, place, SHORT.divisor))
    for number in range(len(STRIDED)):
        smaller = partial(strided, number, SHORT.divisor)
        found[id_of(number, sizes.divisor)] = Timed(partial(strided, number, sizes.divisor), smaller)
    for id, case in of_a_step(sizes).items():
        found[id] = Timed(partial(_itself, case), partial(_itself, case))
    return found
