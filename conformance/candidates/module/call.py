"""One operation of a module: how its function is called, and whether what comes back is what the header declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from bindings.header.records import Function, Parameter
from bindings.header.signature import Signature

from .arrays import ForeignArrayError, Take, as_numpy
from .raised import Raised, raised

Arguments = Mapping[str, Any]  # by the header's names; a list of arrays is a list
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Call:
    """A function by the header's declaration of its operation.

    Arguments are the arrays that are read and the numbers that no shape tells.  A function whose parameters have the
    header's names gets them by name, and outputs too, where it names them; any other gets the arrays by position, in
    the header's order, and the numbers by keyword.
    root: the folder of the candidate's files.
    """

    def __init__(self, function: Function, called: Callable[..., Any], take: Take, root: Path) -> None:
        self.function, self.signature = function, Signature(function)
        self._called, self._take, self._root = called, take, root
        self.arrays = [parameter.name for parameter in self.signature.given]
        self.scalars = [parameter.name for parameter in self.signature.scalars]
        names = _names(called)
        self.fills = [p.name for p in self.signature.outputs if p.name in names]
        self._by_name = {*self.arrays} <= names

    def __call__(self, arguments: Arguments) -> dict[str, Any]:
        """Call it; return its results as NumPy arrays, by name.

        arguments: also arrays for the outputs that it fills (`fills`).  What it does not return it has to have written
        there, or into the arrays that are updated.  Raises Raised.
        """
        given = {name: self._taken(arguments[name]) for name in (*self.arrays, *self.fills)}
        numbers = {name: arguments[name] for name in self.scalars}
        try:
            if self._by_name:
                results = self._called(**given, **numbers)
            else:
                filled = {name: given.pop(name) for name in self.fills}
                results = self._called(*given.values(), **numbers, **filled)
        except Exception as error:
            raise raised(error, self._root, refuses=True) from None
        return self._by_output(results)

    def _taken(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._taken(member) for member in value]
        return None if value is None else self._take(value)

    def _by_output(self, results: Any) -> dict[str, Any]:
        """What was returned, by the header's names; one array, a tuple in the header's order, or a dict."""
        due = {p.name: p for p in self.signature.returned}
        in_place = {p.name for p in due.values() if p.direction == "updated"} | {*self.fills}
        if results is None:
            named: dict[str, Any] = {}
        elif isinstance(results, Mapping):
            named = dict(results)
        elif len(due) == 1 and not (isinstance(results, tuple) and len(results) == 1):
            named = dict(zip(due, [results], strict=True))
        else:
            named = dict(zip(due, self._tuple(results, due), strict=True))
        if unknown := [name for name in named if name not in due]:
            raise Raised(f"returned {_listed(unknown)}, expected {_listed(due)}")
        if lacking := [name for name in due if name not in named and name not in in_place]:
            got = _listed(named) or "nothing" if results is not None else "None"
            raise Raised(f"returned {got}, expected {_listed(lacking)}")
        return {name: self._read(due[name], value) for name, value in named.items()}

    def _tuple(self, results: Any, due: Mapping[str, Parameter]) -> list[Any]:
        if isinstance(results, tuple | list) and len(results) == len(due):
            return [*results]
        got = f"{len(results)} values" if isinstance(results, tuple | list) else f"one {type(results).__name__}"
        raise Raised(f"returned {got}, expected {len(due)}: {_listed(due)}")

    def _read(self, parameter: Parameter, value: Any) -> Any:
        if not parameter.is_list:
            return self._array(parameter.name, value)
        if not isinstance(value, list | tuple):
            raise Raised(f"returned {type(value).__name__} for {parameter.name}, expected a list of arrays")
        return [self._array(f"{parameter.name}[{place}]", member) for place, member in enumerate(value)]

    def _array(self, name: str, value: Any) -> NDArray[Any]:
        try:
            return as_numpy(value)
        except ForeignArrayError as error:
            raise Raised(f"returned {error} for {name}, expected an array on the CPU") from None
        except Exception as error:  # what a framework says of its own arrays
            raise raised(error, self._root) from None


def check_like(name: str, got: NDArray[Any], due: NDArray[Any]) -> None:
    """Raise Raised for a result of another shape or type than is due."""
    if got.shape != due.shape:
        raise Raised(f"returned {name} of shape {got.shape}, expected {due.shape}")
    if got.dtype != due.dtype:
        raise Raised(f"returned {name} as {got.dtype}, expected {due.dtype}")


def store(results: Mapping[str, Any], places: Mapping[str, Any]) -> None:
    """Check results, and write each to the array that is its place.  Raises Raised before anything is written."""
    pairs: list[tuple[str, NDArray[Any], NDArray[Any]]] = []
    for name, got in results.items():
        due = places[name]
        if not isinstance(due, list):
            pairs.append((name, got, due))
            continue
        if len(got) != len(due):
            raise Raised(f"returned {len(got)} arrays for {name}, expected {len(due)}")
        pairs += [(f"{name}[{at}]", one, place) for at, (one, place) in enumerate(zip(got, due, strict=True))]
    for name, array, place in pairs:
        check_like(name, array, place)
    for _, array, place in pairs:
        place[...] = array


def _names(called: Callable[..., Any]) -> set[str]:
    """The parameters of a function that can be given by name; none where it does not tell."""
    try:
        parameters = inspect.signature(called).parameters.values()
    except (TypeError, ValueError):  # a function of C
        return set()
    return {parameter.name for parameter in parameters if parameter.kind in _NAMED}


def _listed(names: Any) -> str:
    return ", ".join(map(str, names))
