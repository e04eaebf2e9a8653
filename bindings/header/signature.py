"""How an operation is called from Python: derived from its declaration, the same for every library."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .records import Axis, Function, Parameter


class Signature:
    """The Python side of one declaration.

    given       arrays (and lists of arrays) that the caller passes: inputs and updated ones, in the header's order
    scalars     numbers that the caller passes: those that no shape of an array tells that is given always
    outputs     arrays that the call fills: allocated, or passed by keyword
    returned    outputs and updated arrays in the header's order: what the call returns
    solvers     of each size that an array tells: size, array, index, added; size = array.shape[index] - added
    workspaces  scratch arrays; `lengths` maps each array of sizes to the first list it describes
    size_parameters, counts_from_zero   sizes that are at least 1, and those that may be 0
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.lengths: dict[str, str] = {}
        for parameter in function.parameters:
            if parameter.each:
                self.lengths.setdefault(parameter.each[1], parameter.name)
        arrays = [p for p in function.parameters if (p.is_array or p.is_list) and p.name not in self.lengths]
        self.given = tuple(p for p in arrays if p.direction in {"in", "updated"})
        self.outputs = tuple(p for p in arrays if p.direction == "out")
        self.returned = tuple(p for p in arrays if p.direction in {"out", "updated"})
        self.workspaces = tuple(p for p in arrays if p.direction == "workspace")
        numbers = [parameter for parameter in function.parameters if parameter.is_scalar]
        shown = {name for _, _, axis in self._axes() if (name := axis.size.text) and axis.size.is_name}
        counts = {p.each[0]: p.name for p in reversed(self.given) if p.each}
        self.counts = counts
        self.solvers = self._find_solvers(shown - counts.keys())
        solved = {name for name, *_ in self.solvers}
        self.scalars = tuple(p for p in numbers if p.name not in solved | counts.keys())
        self.names = tuple(p.name for p in (*self.given, *self.scalars))
        self.size_parameters = tuple(p for p in numbers if p.name in self._size_names())
        or_zero = {axis.size.text for axis in self._alone() if axis.or_zero} - self._size_names()
        self.counts_from_zero = tuple(p for p in numbers if p.name in or_zero)

    def _axes(self, *, always: bool = False) -> Iterator[tuple[str, int, Axis]]:
        """Yield (array, index, axis) of the given arrays; `always`: only of those that may not be None."""
        for parameter in self.given:
            if not (always and parameter.read_if):
                yield from ((parameter.name, index, axis) for index, axis in enumerate(parameter.shape))

    def _find_solvers(self, shown: set[str]) -> list[tuple[str, str, int, int]]:
        """Return (size, array, index, added) for each size: size = array.shape[index] - added.

        A bare entry comes before `size + 1`, where there is one.  A size that no array tells that is always given has
        none: it is a number that the caller passes.
        """
        found: dict[str, tuple[str, str, int, int]] = {}
        for bare in (True, False):
            for array, index, axis in self._axes(always=True):
                if not axis.at_least and axis.size.is_name == bare and (solved := axis.size.name_plus()):
                    name, added = solved
                    if name in shown:
                        found.setdefault(name, (name, array, index, added))
        return list(found.values())

    def _size_names(self) -> set[str]:
        """The names that stand alone as a size somewhere: such a number is at least 1, unless OR_ZERO says more."""
        counts = {p.each[0] for p in self.function.parameters if p.each}
        return counts | {axis.size.text for axis in self._alone() if not axis.or_zero}

    def _alone(self) -> Iterator[Axis]:
        """Yield the entries of shapes that are a name and nothing else."""
        arrays = (p for p in self.function.parameters if p.is_array)
        yield from (axis for parameter in arrays for axis in parameter.shape if axis.size.is_name)

    def named(self, args: Iterable[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by name; whether they fit is for whoever carries it out to say."""
        return dict(zip(self.names, args, strict=False)) | dict(kwargs)

    @property
    def whole_sizes(self) -> tuple[str, ...]:
        """The whole numbers among `sizes`: those of arrays' shapes, and arguments that a shape or a condition names."""
        function = self.function
        axes = (axis.size for parameter in function.parameters for axis in parameter.shape)
        named = {name for expression in (*axes, *function.requires) for name in expression.names}
        scalars = [p.name for p in self.scalars if p.type.is_integer and p.name in named and not p.moving]
        return (*scalars, *self.counts, *(name for name, *_ in self.solvers))

    def sizes(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return every number of a call by name, read off the given arrays (of the right dimensions) and scalars."""
        sizes = {parameter.name: values[parameter.name] for parameter in self.scalars}
        for count, array in self.counts.items():
            sizes[count] = len(values[array])
        for name, array, index, added in self.solvers:
            sizes[name] = values[array].shape[index] - added
        return sizes

    def source_of(self, size: str) -> str | None:
        """Return the given array that a size is read off."""
        return next((array for name, array, _, _ in self.solvers if name == size), self.counts.get(size))

    def python(self) -> inspect.Signature:
        """Return the signature that Python shows."""
        kinds = inspect.Parameter
        positional = [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in self.names]
        keyword = [kinds(p.name, kinds.KEYWORD_ONLY, default=None) for p in self.outputs]
        return inspect.Signature(positional + keyword)


def shape_of(parameter: Parameter, sizes: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the shape that the header gives an array, for the sizes of one call."""
    return tuple(axis.size(sizes) for axis in parameter.shape)
