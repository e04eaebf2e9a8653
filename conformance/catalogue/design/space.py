"""An operation's space of inputs: its factors, from the header and what its family's file states."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bindings.header.records import Parameter
from conformance import operations
from conformance.catalogue.factors import SIZES, Design
from conformance.catalogue.facts import LONGEST_AXES
from conformance.catalogue.families import design_of

from . import levels
from .covering import Factor

if TYPE_CHECKING:
    from conformance.catalogue.cases.spec import Maker

ELEMENTS = 2**18  # of all arrays of a call; float32, a megabyte
WORK = 2**22  # multiplications of a call
_EVERY_VALUE = {value for values in levels.VALUES.values() for value in values}
_HALF_SPECIAL = ("special", "lone")
_HALF_VALUES = {  # what a narrower format leaves of each class
    "bf16": {"ordinary": ("plain",), "spread": ("cancel",), "shaped": ("ties", "sparse"), "special": _HALF_SPECIAL},
    "fp16": {"ordinary": ("plain",), "shaped": ("late", "sparse"), "special": _HALF_SPECIAL},
}
# The data sets of designed cases that hold more than the stated ones of a level's name, whose numbers goldens hold.
_OF_DESIGN = {"special": "special_of_both_signs"}


@dataclass(frozen=True)
class Space:
    """The factors of one operation, and how a row of their levels becomes a call.

    makers: for each array that is a factor, what each level fills it with.
    """

    operation: str
    design: Design
    factors: tuple[Factor, ...]
    makers: Mapping[str, Mapping[str, str | Maker]]

    def sizes(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the call's sizes and scalars."""
        return self.design.derive({name: value for name, value in row.items() if name not in self.makers})

    def cost(self, row: Mapping[str, Any]) -> float | None:
        """Return what a call costs, 1 being the most, or None where the header refuses it."""
        sizes = self.sizes(row)
        refused = not all(condition(sizes) for condition in operations.OPERATIONS[self.operation].requires)
        return None if refused else self.cost_of(sizes)

    def cost_of(self, sizes: Mapping[str, Any]) -> float:
        """Return what a call with these sizes costs, 1 being the most."""
        function = operations.OPERATIONS[self.operation]
        arrays = (*operations.read_arrays(function), *operations.written_arrays(function))
        elements = sum(_elements(parameter, sizes) for parameter in arrays)
        work = self.design.work(sizes) if self.design.work else 0.0
        return max(elements / ELEMENTS, work / WORK)


def level_text(level: Any, factor: Factor) -> str:
    """Return a level as it stands in an id and in a table of rows: a list of lengths by its place."""
    if isinstance(level, tuple):
        return f"list{factor.levels.index(level)}"
    return f"{level:g}" if isinstance(level, float) else str(level)


def _elements(parameter: Parameter, sizes: Mapping[str, Any]) -> int:
    if parameter.each:
        return int(sum(sizes[parameter.each[1]]))
    return int(np.prod([axis.size(sizes) for axis in parameter.shape]))


@functools.cache
def space_of(operation: str) -> Space:
    """Return the space of an operation."""
    design = design_of(operation)
    function = operations.OPERATIONS[operation]
    layouts = operations.layout_arrays(function)
    given = [parameter for parameter in operations.read_arrays(function) if parameter.name not in layouts]
    makers = {p.name: found for p in given if (found := _makers(operation, design, p))}
    sizes = [_size(name, found) for name, found in _sizes(operation, design)]
    scalars = [
        Factor(name, tuple(found), tuple(range(len(found))), "scalar") for name, found in _scalars(operation, design)
    ]
    data = [_data(name, found) for name, found in makers.items()]
    return Space(operation, design, (*sizes, *scalars, *data), makers)


def _sizes(operation: str, design: Design) -> Iterator[tuple[str, Sequence[Any]]]:
    """The integer arguments that stand in a shape, and those that the design states in their place."""
    function = operations.OPERATIONS[operation]
    shapes = {name for p in function.parameters for axis in p.shape for name in axis.size.names}
    for parameter in function.parameters:
        shapes |= set(parameter.limit[1].names) if parameter.limit else set()
    stated = {**dict.fromkeys(sorted(shapes)), **design.sizes}
    declared = [p.name for p in function.parameters if p.name in stated]
    for name in (*declared, *(name for name in stated if name not in declared)):
        found = design.sizes.get(name, ())
        if name in design.sizes and not found:
            continue  # follows from others
        if name not in levels.SCALARS:
            yield name, found or levels.sizes_to(LONGEST_AXES.get(name, SIZES[-1]))


def _scalars(operation: str, design: Design) -> Iterator[tuple[str, Sequence[float]]]:
    for parameter in operations.OPERATIONS[operation].parameters:
        name = parameter.name
        if found := design.scalars.get(name, levels.SCALARS.get(name, ()) if parameter.is_scalar else ()):
            yield name, found
    for name, found in design.scalars.items():
        if name not in operations.OPERATIONS[operation].by_name:
            yield name, found


def _makers(operation: str, design: Design, parameter: Parameter) -> Mapping[str, str | Maker]:
    """What an array may be filled with, by level; nothing where the design says that it follows from the others."""
    usual = [value for values in _values(operation).values() for value in values]
    if stated := design.arrays.get(parameter.name):
        # Of the data sets those that the operation's format holds; what is stated besides is made for it.
        return {level: maker for level, maker in stated.items() if level in usual or level not in _EVERY_VALUE}
    return _indices(parameter) if parameter.limit else {value: _OF_DESIGN.get(value, value) for value in usual}


def _values(operation: str) -> Mapping[str, Sequence[str]]:
    if not operations.is_sixteen_bit(operation):
        return levels.VALUES
    return _HALF_VALUES[operation.rpartition("_")[2]]


def _indices(parameter: Parameter) -> Mapping[str, str | Maker]:
    assert parameter.limit
    kind, bound = parameter.limit

    def made(place: Any) -> Maker:
        return lambda draw, shape, sizes: place(draw, shape, int(bound(sizes)))

    found: dict[str, str | Maker] = {
        "any": made(lambda draw, shape, top: draw.integers(0, top, shape)),
        "first": made(lambda draw, shape, top: np.zeros(shape, np.int64)),
        "last": made(lambda draw, shape, top: np.full(shape, top - 1)),
        "ascending": made(lambda draw, shape, top: np.sort(draw.integers(0, top, shape), axis=0)),
        "by_turns": made(lambda draw, shape, top: np.arange(np.prod(shape)).reshape(shape) % top),
    }
    if kind == "BELOW":
        found["half_negative"] = made(_half_negative)
    return found


def _half_negative(draw: Any, shape: tuple[int, ...], top: int) -> Any:
    """Negative ones from -1 on, the number that frameworks ignore by default and those beside it, and the lowest."""
    drawn = -1 - draw.of("negative").integers(0, 100, shape)
    negative = np.array([0, -100, -101, -(2**15) - 1, -(2**31)])[draw.of("far").integers(0, 5, shape)]
    negative = np.where(negative == 0, drawn, negative)
    return np.where(draw.of("which").integers(0, 2, shape) == 1, negative, draw.integers(0, top, shape))


def _size(name: str, found: Sequence[Any]) -> Factor:
    """Beside a scalar sizes that four divides are apart from others: kernels that take four at once go another way."""
    classes = _classes(found)
    apart = [2 * each + (isinstance(size, int) and size % 4 == 0) for size, each in zip(found, classes, strict=True)]
    return Factor(name, tuple(found), classes, "size", _dense(apart))


def _classes(found: Sequence[Any]) -> tuple[int, ...]:
    """The class of each size; that of a list is one of single arrays, or one of its own for all that hold several."""
    numbers = [levels.class_of(size) if isinstance(size, int) else _class_of_list(size) for size in found]
    return _dense(numbers)


def _class_of_list(lengths: Sequence[int]) -> int:
    return levels.class_of(lengths[0]) if len(lengths) == 1 else levels.CLASSES + (len(lengths) > 64)


def _dense(numbers: Sequence[int]) -> tuple[int, ...]:
    """The same classes, numbered from 0 without a gap."""
    order = sorted(set(numbers))
    return tuple(order.index(number) for number in numbers)


def _data(name: str, found: Mapping[str, str | Maker]) -> Factor:
    by_value = {value: i for i, values in enumerate(levels.VALUES.values()) for value in values}
    numbers = [by_value.get(level, len(levels.VALUES) + i) for i, level in enumerate(found)]
    # 0 times a NaN is one, 0 times 0 is not, and 0 / 0 is: beside a scalar each of these stands for itself.
    apart = [
        n if level not in levels.OF_SPECIAL_RESULTS else -1 - i
        for i, (n, level) in enumerate(zip(numbers, found, strict=True))
    ]
    return Factor(name, tuple(found), _dense(numbers), "data", _dense(apart))
