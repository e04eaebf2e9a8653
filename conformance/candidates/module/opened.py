"""In the worker's process: a module that is loaded, with entries that take addresses as a library's do."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from bindings import Facts, LibraryError
from bindings.header.records import Header, Parameter
from bindings.shared_object.foreign import address, view
from bindings.shared_object.foreign import pointer as pointer_to
from bindings.shared_object.services import Services

from .arrays import NUMPY, taking
from .call import Call, store
from .raised import Raised, raised
from .source import Module

_PREFIX, _OURS = "cuda_", "judged_"  # of the header's symbols; of a file's name as a module, which hides no other
_INVALID, _UNSUPPORTED = -2, -4
Shapes = Mapping[str, Sequence[int]]  # of every array of a call, by its flat name: params[3]


class OpenedModule:
    """A module as `bindings.shared_object.opened.Opened` is a library: entries, services (none) and facts.

    Raises LibraryError where it cannot be imported, or has none of the header's operations.
    """

    def __init__(self, source: Module, header: Header) -> None:
        self.path, self.header = source.path, header
        module = _imported(source)
        framework = source.framework or getattr(module, "FRAMEWORK", NUMPY)
        if not isinstance(framework, str):
            raise LibraryError(f"{source.asked}: FRAMEWORK: expected a name, got {framework!r}")
        self.framework = framework
        self.root, self._functions, self.take = source.root, functions_of(module), taking(framework)
        self.step = self._step(source)
        self.object = self
        self.services, self.facts = Services(self, header), Facts()  # type: ignore[arg-type]
        self.called = functools.cache(self._called)
        self.said = "", ""  # by what the last call that was refused was, and the rest

    def _step(self, source: Module) -> Callable[..., Any] | None:
        """The training step that was asked for, None where operations were."""
        if source.step and source.step not in self._functions:
            theirs = f"functions {', '.join(self.names)}" if self._functions else "none at all"
            raise LibraryError(f"{source.asked}: expected a function {source.step}, it has {theirs}")
        return self._functions.get(source.step)

    @property
    def missing(self) -> tuple[str, ...]:
        """The operations that it has no function of."""
        return tuple(name for name in self.header.operations if self.called(name) is None)

    @property
    def names(self) -> list[str]:
        """The functions that it has, by the names that they have there."""
        return sorted(self._functions)

    @property
    def files(self) -> list[str]:
        """The files that it is made of: those that are imported from below its root, but for what pip has put there."""
        held = (getattr(module, "__file__", None) for module in [*sys.modules.values()])
        below = {Path(file).resolve() for file in held if file and Path(file).resolve().is_relative_to(self.root)}
        return sorted(str(file) for file in below if "site-packages" not in file.parts)

    def _called(self, operation: str) -> Call | None:
        found = self._functions.get(operation) or self._functions.get(_PREFIX + operation)
        return Call(self.header.operations[operation], found, self.take, self.root) if found else None

    def entry(self, symbol: str, types: Sequence[str]) -> Callable[..., int] | None:
        """Return an operation's function as a library's entry, which takes addresses; None where there is none."""
        operation = symbol.removeprefix(_PREFIX)
        called = self.called(operation) if operation in self.header.operations else None
        return Entry(called, self._tell) if called else None

    def _tell(self, error: Raised) -> None:
        self.said = error.line, error.trace


class Entry:
    """Makes arrays of the addresses of a call, calls, and stores what comes back.

    Returns 0, ASSAYER_UNSUPPORTED where the function has raised NotImplementedError, and ASSAYER_INVALID where anything
    else: `tell` is given the line that says so, and the rest.  Raises Raised for a result that is none.
    """

    def __init__(self, call: Call, tell: Callable[[Raised], None]) -> None:
        self.call, self.function, self.tell = call, call.function, tell

    def __call__(self, *raw: Any, shapes: Shapes) -> int:
        values = dict(zip(self.function.by_name, raw, strict=True))
        signature = self.call.signature
        arrays = {p.name: _array_at(p, values[p.name], shapes) for p in (*signature.given, *signature.outputs)}
        numbers = {
            p.name: int(values[p.name]) if p.type.is_integer else float(values[p.name]) for p in signature.scalars
        }
        try:
            results = self.call(arrays | numbers)
        except Raised as error:
            if not error.refuses:
                raise
            self.tell(error)
            return _UNSUPPORTED if error.declines else _INVALID
        if self._is_right(values, arrays):  # else there is nothing to give, nor room for it
            store(results, {name: arrays[name] for name in results})
        return 0

    def _is_right(self, values: Mapping[str, Any], arrays: Mapping[str, Any]) -> bool:
        """Whether a call had to be carried out: no array is null, no number breaks a condition."""
        sizes = {p.name: values[p.name] for p in self.function.parameters if p.is_scalar}
        if any(sizes[p.name] < 1 for p in self.call.signature.size_parameters):
            return False
        members = (one for array in arrays.values() for one in (array if isinstance(array, list) else [array]))
        return all(one is not None for one in members) and all(condition(sizes) for condition in self.function.requires)


def _array_at(parameter: Parameter, pointer: Any, shapes: Shapes) -> Any:
    """The array at an address, or the list of those whose addresses stand there; None for a null pointer."""
    if not address(pointer):
        return None
    if not parameter.is_list:
        return _viewed(parameter, pointer, shapes[parameter.name])
    names = [name for name in shapes if name.startswith(f"{parameter.name}[")]
    table = np.frombuffer(view(pointer, 8 * len(names)), np.uintp)
    return [_viewed(parameter, int(at), shapes[name]) if at else None for name, at in zip(names, table, strict=True)]


def _viewed(parameter: Parameter, pointer: Any, shape: Sequence[int]) -> Any:
    """An array of NumPy's on memory of this process; a null pointer has none."""
    at = pointer_to(pointer) if isinstance(pointer, int) else pointer
    dtype = parameter.type.dtype
    return np.frombuffer(view(at, math.prod(shape) * dtype.itemsize), dtype).reshape(shape)


def functions_of(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Return what of a module can be called, by name: what its `__all__` lists, where it has one; no classes."""
    listed = getattr(module, "__all__", None)
    names = [name for name in (vars(module) if listed is None else listed) if not name.startswith("_")]
    held = {name: getattr(module, name, None) for name in names}
    return {name: each for name, each in held.items() if callable(each) and not isinstance(each, type)}


def _imported(source: Module) -> ModuleType:
    """Run the module, its folder the first place where its imports are looked for, as if it were run by Python."""
    sys.path.insert(0, str(source.root))
    try:
        if source.name:
            return importlib.import_module(source.name)
        spec = importlib.util.spec_from_file_location(f"{_OURS}{source.path.stem}", source.path)
        if spec is None or spec.loader is None:
            raise ImportError(f"no loader for {source.path.name}")
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except Exception as error:
        what, found = f"{source.asked}: expected a module that can be imported", raised(error, source.root)
        said = f"{what}, got {found.line}{_by_whom(error)}"
        raise LibraryError("\n".join(filter(None, (said, found.trace)))) from None
    return module


def _by_whom(error: Exception) -> str:
    """Where something is not installed: in which Python it has to be."""
    return f"; it is run by {sys.executable}: install it there" if isinstance(error, ModuleNotFoundError) else ""
