"""Calls that a namespace of operations has prepared, by function and layouts: most calls are like one before."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from bindings.calls.prepared import held
from reference.namespace import Ops

from .layout import Layout

MOST = 4096  # each holds a few short arrays; layouts that never come again would fill the memory


class Plan(NamedTuple):
    """A prepared call of the storages that the inputs lie in, and how what it returns lies in its own."""

    call: Callable[..., Any]
    layout: Layout


class Plans:
    """The plans of one namespace for one type of number; a namespace that prepares no calls has none."""

    __slots__ = ("_numbers", "_plans", "dtype", "find")

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self._plans: dict[Hashable, Plan] = {}
        self.find = self._plans.get
        self._numbers: dict[Hashable, Any] = {}  # arrays of one number, which nobody writes

    def run(self, function: Any, key: Hashable, args: tuple[Any, ...], layout: Layout) -> Any:
        """Make a call for the first time, and prepare the next ones; layout: of what it returns."""
        result, prepare = function(*args), getattr(function, "prepare", None)
        self._keep(key, prepare and prepare(*args), layout)
        return result

    def run_into(self, function: Any, key: Hashable, args: tuple[Any, ...], layout: Layout) -> Any:
        """The same of a call that writes into a storage that it is given, and whose later ones do so."""
        result, prepare = function(*args), getattr(function, "prepare_into", None)
        self._keep(key, prepare and prepare(*args), layout)
        return result

    def _keep(self, key: Hashable, call: Callable[..., Any] | None, layout: Layout) -> None:
        if call:
            if len(self._plans) >= MOST:
                self._plans.clear()
            self._plans[key] = Plan(call, layout)

    def number(self, value: Any) -> Any:
        """Return an array of one number, and as it is held: the same again for the same. Nobody writes into it."""
        key = value or repr(value)  # 0.0 and -0.0 are equal
        found = self._numbers.get(key)
        if found is None:
            if len(self._numbers) >= MOST:
                self._numbers.clear()
            array = np.full(1, value, self.dtype)
            found = self._numbers[key] = array, held(array)
        return found


_PLANS: WeakKeyDictionary[Any, dict[Any, Plans]] = WeakKeyDictionary()


def plans_of(ops: Ops, dtype: Any) -> Plans:
    """Return those of a namespace and a type of number, the same as long as the namespace lives."""
    try:
        found = _PLANS.get(ops)
        if found is None:
            found = _PLANS[ops] = {}
        return found.get(dtype) or found.setdefault(dtype, Plans(dtype))
    except TypeError:  # what has no hash, or cannot be referred to weakly
        return Plans(dtype)
