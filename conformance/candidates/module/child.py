"""What a worker's process answers for a module, beside what it does for a library."""

from __future__ import annotations

import functools
import gc
from collections.abc import Sequence
from typing import Any

from bindings import MissingSymbol
from conformance import operations
from conformance.candidates.worker import answers
from conformance.candidates.worker.rounds import give_back
from reference.namespace import Namespace

from .call import store
from .opened import OpenedModule

__all__ = ["ModuleChild", "OpenedModule"]


class ModuleChild(answers.Child):
    """Entries take addresses as a library's do; the shapes of arrays are told beside them."""

    opened: OpenedModule

    @functools.cached_property
    def library(self) -> Any:
        """The module as a namespace of operations."""
        return ModuleNamespace(self.opened)

    @property
    def said(self) -> tuple[str, str]:  # type: ignore[override]
        """The line that says what the last call was refused by, and the rest."""
        return self.opened.said

    def _entry(self, symbol: str, types: Sequence[str], shapes: answers.Shapes) -> answers.Entry | None:
        entry = self.opened.entry(symbol, types)
        return functools.partial(entry, shapes=shapes) if entry else None

    def _settle(self) -> None:
        """Collect what refers to itself, which Python lets grow for thousands of calls."""
        gc.collect()
        give_back()


class ModuleNamespace(Namespace):
    """A module's operations by name, as `bindings.Library` has a library's; training steps are run on it.

    Arrays that are updated are those that are given, as there.
    """

    def __init__(self, opened: OpenedModule) -> None:
        self.opened, self.missing, self.names = opened, opened.missing, opened.names
        self.framework = opened.framework

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        called = self.opened.called(operation)
        if called is None:
            raise MissingSymbol(f"{operation}: {self.opened.path} has no function of this name")
        values = called.signature.named(args, named)
        sizes = called.signature.sizes(values)
        places = {p.name: _place(p, values.get(p.name), sizes) for p in called.signature.returned}
        results = called(values | places)
        store(results, {name: places[name] for name in results})
        found = tuple(places.values())
        return found[0] if len(found) == 1 else found


def _place(parameter: Any, given: Any, sizes: Any) -> Any:
    """The array that a result is stored in: the one that is given, or a new one."""
    if given is not None:
        return given
    import numpy as np

    return operations.fill(parameter, sizes, lambda shape: np.zeros(shape, parameter.type.dtype))
