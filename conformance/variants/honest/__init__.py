"""Correct implementations of every operation, by name: what the judge must never fail.

The reference in float32 as it is, with its sums in named orders (replicas.py), with everything in an order drawn at
random (reordered.py), with PyTorch's products and functions where PyTorch is installed; its formulas arranged otherwise
(rearranged.py); and any library that is right.  Where a candidate may round the factors of its products, or what one
step hands to the next, or may have functions that err by some units, those that do (tensor_cores.py, eager.py,
inexact.py).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import reference
from bindings import Library
from conformance.limits.noise import Precision
from conformance.operations import OPERATIONS, as_declared, by_name, family, flat, narrowed, ordered

from .eager import eager
from .inexact import inexact
from .rearranged import REARRANGED
from .reordered import reordered
from .replicas import KINDS, Replica
from .tensor_cores import tensor_cores

Arguments = Mapping[str, Any]
Units = tuple[tuple[str, float], ...]  # in the last place, by function
Call = Callable[[str, Arguments], dict[str, Any]]  # an operation and its arguments: outputs by flat name


@dataclass(frozen=True)
class Implementation:
    """A way to carry out these operations; drawn: it is another one by every seed.

    is_arranged: whether it computes another formula, which numbers of everyday size make the same: designed cases are
    not for it.  exp in base two overflows earlier, and m + (1 - beta1) * (g - m) is no number where m is infinite.
    """

    call: Call
    operations: frozenset[str] = frozenset(OPERATIONS)
    drawn: Callable[[int], Call] | None = None
    is_arranged: bool = False

    def of(self, seed: int) -> Call:
        """The one of a seed."""
        return self.drawn(seed) if self.drawn else self.call


def implementations(
    libraries: Sequence[Path] = (),
    inputs: Mapping[Precision, frozenset[str]] | None = None,
    flushing: frozenset[str] = frozenset(),
    between: Mapping[Precision, frozenset[str]] | None = None,
    functions: Mapping[Units, frozenset[str]] | None = None,
) -> dict[str, Implementation]:
    """Return every implementation that can be had here, by name; libraries are named by file and folder.

    inputs: formats that the factors of products may be rounded to, and the operations that may.  flushing: the
    operations that may take every subnormal number as zero.  between: formats that each step may store its result in,
    and the operations that may.  functions: by how many units these may err, and the operations whose may.
    """
    found = {"float32": Implementation(_called(reference))}
    for name, kind in KINDS.items():
        found[name] = Implementation(_called(reference, _viewed(kind)))
    found["reordered"] = Implementation(_in_order(0), drawn=_in_order)
    if flushing:
        found["reordered, flushing"] = Implementation(_flushing(0), flushing, _flushing)
    if importlib.util.find_spec("torch"):
        found["torch"] = Implementation(_called(reference, _viewed(_torch_replica())))
    found["rearranged"] = Implementation(
        _called(SimpleNamespace(**REARRANGED)), frozenset(REARRANGED), is_arranged=True
    )
    for format, operations in (inputs or {}).items():
        attention = operations & {name for name in REARRANGED if family(name) == "attention"}
        for name, kind in tensor_cores(format).items():
            found[name] = Implementation(_called(reference, _viewed(kind)), operations)
            rearranged = _called(SimpleNamespace(**REARRANGED), _viewed(kind))
            found[f"{name}, rearranged"] = Implementation(rearranged, attention, is_arranged=True)
    for format, operations in (between or {}).items():
        found[f"{format.name} eager"] = Implementation(_eager(format)(None), operations)
        found[f"{format.name} eager, some fused"] = Implementation(_eager(format)(0), operations, _eager(format))
    for units, operations in (functions or {}).items():
        said = ", ".join(f"{name} to {count:g}" for name, count in units)
        found[f"{said}, to one side"] = Implementation(_inexact(units)(None), operations)
        found[f"{said}, by chance"] = Implementation(_inexact(units)(0), operations, _inexact(units))
    for path in libraries:
        found[name_of(path)] = of_library(path)
    return found


def name_of(library: Path) -> str:
    """What a library is called among implementations: by its file and folder."""
    return "/".join(library.parts[-2:])


def of_library(path: Path) -> Implementation:
    """Return a library as an implementation; its arrays are copies, since it may write into them."""
    return Implementation(_called(Library(path), np.copy))


def _viewed(kind: type[Replica]) -> Callable[[Any], Any]:
    return lambda array: array.view(kind)


def _in_order(seed: int) -> Call:
    return _called(reference, reordered(seed))


def _flushing(seed: int) -> Call:
    return _called(reference, reordered(seed, flushes_all=True))


def _eager(format: Precision) -> Callable[[int | None], Call]:
    return lambda seed: _called(reference, _viewed(eager(format, seed)))


def _inexact(units: Units) -> Callable[[int | None], Call]:
    return lambda seed: _called(reference, _viewed(inexact(dict(units), seed)))


def _called(namespace: Any, prepare: Callable[[Any], Any] = np.asarray) -> Call:
    """The operations of a namespace, its floating-point arrays prepared first (libraries write into theirs).

    What only numbers go into (rope_freqs) the reference computes in float64; it is stored in float32.
    """

    def prepared(value: Any) -> Any:
        if isinstance(value, list):
            return [prepared(v) for v in value]
        return prepare(value) if isinstance(value, np.ndarray) and value.dtype == np.float32 else value

    def call(operation: str, arguments: Arguments) -> dict[str, Any]:
        function = OPERATIONS[operation]
        given = as_declared(operation, arguments) if isinstance(namespace, Library) else arguments
        values = [prepared(v) for v in ordered(function, given)]
        with np.errstate(all="ignore"):
            results = getattr(namespace, operation)(*values)
        outputs = flat(by_name(function, results))
        stored = {n: v.astype(np.float32) if v.dtype == np.float64 else v for n, v in outputs.items()}
        return narrowed(operation, stored)

    return call


def _torch_replica() -> type[Replica]:
    """Arrays whose products, sums and functions are PyTorch's: another BLAS, another mathematical library."""
    import torch

    functions: dict[Any, Callable[..., Any]] = {
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
