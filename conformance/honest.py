"""Correct implementations of every operation, by name: what the judge must never fail.

The reference in float32 as it is, with its sums in named orders (replicas.py), with PyTorch's products and functions
where PyTorch is installed; and any library that is right.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import reference
from bindings import Library

from . import contract
from .replicas import KINDS, Replica

Arguments = Mapping[str, Any]
Implementation = Callable[[str, Arguments], dict[str, Any]]  # an operation and its arguments: outputs by flat name


def implementations(libraries: Sequence[Path]) -> dict[str, Implementation]:
    """Return every implementation that can be had here, by name; libraries are named by their place."""
    found: dict[str, Implementation] = {"float32": in_float32(np.asarray)}
    for name, kind in KINDS.items():
        found[name] = in_float32(lambda array, kind=kind: array.view(kind))
    if importlib.util.find_spec("torch"):
        found["torch"] = in_float32(lambda array: array.view(_torch_replica()))
    for path in libraries:
        found["/".join(path.parts[-2:])] = from_library(path)
    return found


def in_float32(wrapped: Callable[[Any], Any]) -> Implementation:
    """The reference on float32 arrays of a class; integers stay plain.  What only scalars go into (rope_freqs) is
    computed in float64 and stored in float32.
    """

    def prepared(value: Any) -> Any:
        if isinstance(value, list):
            return [prepared(v) for v in value]
        return wrapped(value) if isinstance(value, np.ndarray) and value.dtype == np.float32 else value

    def call(operation: str, arguments: Arguments) -> dict[str, Any]:
        function = contract.OPERATIONS[operation]
        values = [prepared(v) for v in contract.ordered(function, arguments)]
        with np.errstate(all="ignore"):
            results = getattr(reference, operation)(*values)
        outputs = contract.flat(contract.named(function, results))
        return {n: v.astype(np.float32) if v.dtype == np.float64 else v for n, v in outputs.items()}

    return call


def from_library(path: Path) -> Implementation:
    """An honest library, called in this process; what it updates is copied first."""
    library = Library(path)

    def copied(value: Any) -> Any:
        if isinstance(value, list):
            return [copied(v) for v in value]
        return value.copy() if isinstance(value, np.ndarray) else value

    def call(operation: str, arguments: Arguments) -> dict[str, Any]:
        function = contract.OPERATIONS[operation]
        values = [copied(v) for v in contract.ordered(function, arguments)]
        return contract.flat(contract.named(function, getattr(library, operation)(*values)))

    return call


def _torch_replica() -> type[Replica]:
    """Arrays whose products, sums and functions are PyTorch's: another BLAS, another mathematical library."""
    import torch

    functions = {
        np.exp: torch.exp,
        np.log: torch.log,
        np.sin: torch.sin,
        np.cos: torch.cos,
        np.tanh: torch.tanh,
        np.sqrt: torch.sqrt,
        np.matmul: torch.matmul,
    }

    def tensor(value: Any) -> Any:
        return torch.from_numpy(np.ascontiguousarray(value.view(np.ndarray)))

    class TorchReplica(Replica):
        order = "torch"

        def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
            floats = all(isinstance(i, np.ndarray) and i.dtype == np.float32 and i.size for i in inputs)
            if floats and method == "__call__" and ufunc in functions and not options:
                return self._wrap(functions[ufunc](*map(tensor, inputs)).numpy())
            if floats and ufunc is np.add and method == "reduce":
                axis = options.get("axis", 0)
                axes = list(range(inputs[0].ndim)) if axis is None else axis
                return self._wrap(torch.sum(tensor(inputs[0]), axes, bool(options.get("keepdims"))).numpy())
            return super().__array_ufunc__(ufunc, method, *inputs, **options)

    return TorchReplica
