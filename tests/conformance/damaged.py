"""Files of calls as a stranger may hand them in: a good one, of which something was changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from random import Random

import numpy as np

from conformance.catalogue.cases import CASES, Case
from conformance.catalogue.goldens.tensors import Tensors, pack_inputs

WHOLE = (0, 1, -1, 2, 3, 7, 100, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63))
REAL = (0.0, -0.0, 1.0, -1.0, 0.5, 0.999999, 100.0, np.nan)
EDGE = (np.inf, -np.inf, 3.4e38, -3.4e38, 1e-30, 1e-45)
TYPES = (np.float32, np.float64, np.int32, np.int64)
_SMALL = 6  # cases of each operation: those of the fewest elements


def small_cases() -> Mapping[str, list[Case]]:
    """A few cases of every operation."""
    found: dict[str, list[Case]] = {}
    for case in CASES.values():
        found.setdefault(case.operation, []).append(case)
    return {operation: sorted(cases, key=_elements)[:_SMALL] for operation, cases in found.items()}


def _elements(case: Case) -> int:
    return sum(size for size in case.sizes.values() if isinstance(size, int))


def files(count: int, seed: int, real: Sequence[float] = REAL) -> Iterator[tuple[str, Tensors]]:
    """Yield so many files, the operations in turn: the name of the operation, and what its file holds.

    real: what a floating-point number may become.
    """
    cases, random = small_cases(), Random(seed)
    operations = list(cases)
    for place in range(count):
        operation = operations[place % len(operations)]
        arguments = random.choice(cases[operation]).arguments()
        given = {name: value for name, value in arguments.items() if value is not None}
        held = {name: np.array(array) for name, array in pack_inputs(operation, given).items()}
        for _ in range(random.choice((0, 1, 1, 1, 2))):
            random.choice((_resized, _with_another_tensor, _with_other_indices, partial(_with_another_number, real)))(
                held, random
            )
        yield operation, held


def _resized(held: Tensors, random: Random) -> None:
    """One size becomes another wherever it stands, so that most of the arrays still fit together; or in one array."""
    sizes = sorted({size for array in held.values() for size in array.shape})
    if not sizes:
        return
    old = random.choice(sizes)
    new = random.choice((0, 1, 2, max(old - 1, 0), old + 1, 2 * old))
    names = [name for name, array in held.items() if old in array.shape]
    for name in names if random.random() < 0.7 else [random.choice(names)]:
        held[name] = np.resize(held[name], tuple(new if size == old else size for size in held[name].shape))


def _with_another_number(real: Sequence[float], held: Tensors, random: Random) -> None:
    scalars = [name for name in held if name.startswith("argument.")]
    if scalars:
        name = random.choice(scalars)
        held[name] = np.array(random.choice(WHOLE if held[name].dtype.kind == "i" else real), held[name].dtype)


def _with_another_tensor(held: Tensors, random: Random) -> None:
    """One is missing, too many, of another type or of other dimensions."""
    if not held:
        return
    name = random.choice(list(held))
    array = held[name]
    changes = {
        f"input.{random.choice('xyzAB')}": array,
        name: random.choice((array.astype(random.choice(TYPES)), array.reshape(-1), array[..., None])),
    }
    chosen = random.choice((*changes, ""))
    if chosen:
        held[chosen] = changes[chosen]
    else:
        del held[name]


def _with_other_indices(held: Tensors, random: Random) -> None:
    """Some indices, offsets or seeds are others."""
    names = [name for name, array in held.items() if array.dtype.kind in "iu" and array.ndim and array.size]
    if names:
        array = held[random.choice(names)]
        largest = np.iinfo(array.dtype).max
        for _ in range(random.choice((1, 1, array.size))):
            array.flat[random.randrange(array.size)] = random.choice((0, 1, array.size, largest))
