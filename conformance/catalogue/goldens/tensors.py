"""What a golden file holds: a call's inputs, what they must give, and how far an honest result can be off.

Floating-point expectations are float64.  Beside each stand three float32 arrays of its shape: `sigma`, the standard
deviation of an honest error; `worst`, a bound of it; `shared`, which share of the variance an element has in common
with others.  They are rounded up, so that storing them never narrows a limit, and float32 is more than first-order
quantities mean.  An expectation without them is met bit for bit.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from bindings.header.records import Function
from conformance import operations
from conformance.limits.expectation import Expected
from conformance.limits.noise import Noisy
from conformance.limits.noise.precision import Floats

from .errors import GoldenError

Tensors = dict[str, NDArray[Any]]

TYPES = {"float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64"}
TYPES |= {"int32": "I32", "int64": "I64", "uint64": "U64"}


def pack_inputs(operation: str, arguments: Mapping[str, Any]) -> Tensors:
    """Return the arguments of a call, as they reach C, by their names in a golden file."""
    tensors = {}
    for name, value in operations.as_declared(operation, operations.flat(arguments)).items():
        if isinstance(value, np.ndarray):
            tensors[f"input.{name}"] = value
        else:
            tensors[f"argument.{name}"] = np.array(value, np.float32 if isinstance(value, float) else np.int64)
    return tensors


def pack_expected(expected: Expected) -> Tensors:
    """Return expectations, by flat output name, by their names in a golden file."""
    tensors: Tensors = {}
    for name, wanted in expected.items():
        if not isinstance(wanted, Noisy):
            tensors[f"expected.{name}"] = np.asarray(wanted)
            continue
        value = wanted.replaced().as_read()  # in a golden what a result leans by is an error like others
        tensors[f"expected.{name}"] = np.asarray(value.v)
        tensors[f"sigma.{name}"] = upward(value.sigma)
        if value.worst is not None:
            tensors[f"worst.{name}"] = upward(value.worst)
        with np.errstate(invalid="ignore"):
            tensors[f"shared.{name}"] = upward(np.where(value.variance > 0, value.shared / value.variance, 0.0))
    return tensors


def upward(values: Floats) -> NDArray[np.float32]:
    """Round to float32, never down."""
    with np.errstate(under="ignore", over="ignore"):
        nearest = values.astype(np.float32)
        return np.where(nearest < values, np.nextafter(nearest, np.float32(np.inf)), nearest)


def unpack_expected(tensors: Tensors) -> Expected:
    """Return the expectations of a golden file: noise numbers, or plain arrays that must be met exactly."""
    names = [name.removeprefix("expected.") for name in tensors if name.startswith("expected.")]
    return {name: _expectation(name, tensors) for name in names}


def _expectation(name: str, tensors: Tensors) -> Any:
    value = tensors[f"expected.{name}"]
    if f"sigma.{name}" not in tensors:
        return value
    variance = np.square(tensors[f"sigma.{name}"].astype(np.float64))
    with np.errstate(invalid="ignore"):
        shared = np.where(np.isinf(variance), 0.0, tensors[f"shared.{name}"].astype(np.float64) * variance)
    worst = tensors.get(f"worst.{name}")
    return Noisy(value, variance, shared, None if worst is None else worst.astype(np.float64))


def unpack_arguments(function: Function, tensors: Tensors) -> dict[str, Any]:
    """Return the arguments of a golden file, as `Case.arguments` gives them: 16-bit arrays as float32."""
    return stored_arguments(function, {name: operations.widened(array) for name, array in tensors.items()})


def stored_arguments(function: Function, tensors: Tensors) -> dict[str, Any]:
    """Return the arguments of a golden file by the header's names, arrays of the types they are stored in.

    None for an array that the file leaves out, as it may where the call does not read what it updates.
    """
    arguments: dict[str, Any] = {}
    for parameter in operations.read_arrays(function):
        if parameter.each:
            members = [name for name in tensors if name.startswith(f"input.{parameter.name}[")]
            arguments[parameter.name] = [tensors[f"input.{parameter.name}[{i}]"] for i in range(len(members))]
        elif parameter.read_if:
            arguments[parameter.name] = tensors.get(f"input.{parameter.name}")
        else:
            arguments[parameter.name] = tensors[f"input.{parameter.name}"]
    return arguments | {name: tensors[f"argument.{name}"].item() for name in operations.scalars(function)}


def described(array: NDArray[Any]) -> str:
    """Type and shape as a file's header has them: F32 [3,33]."""
    return f"{TYPES.get(array.dtype.name, array.dtype.name)} [{','.join(map(str, array.shape))}]"


def digest(array: NDArray[Any]) -> str:
    """SHA-256 of a tensor: of type and shape as the file's header has them ("F32 [3,33]"), a line feed, its bytes."""
    sha = hashlib.sha256(f"{described(array)}\n".encode())
    sha.update(array.tobytes())
    return sha.hexdigest()


def digests(tensors: Tensors) -> dict[str, str]:
    """The SHA-256 of every tensor, by name in order."""
    return {name: digest(tensors[name]) for name in sorted(tensors)}


def write(path: Path, tensors: Tensors) -> None:
    """Write a golden file; no metadata, so that equal contents are equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    dense = {name: np.array(a, order="C", copy=None) for name, a in tensors.items()}
    path.write_bytes(safetensors.numpy.save(dense))  # save_file leaves a file that nobody else may read


def read(path: Path, most: int | None = None) -> Tensors:
    """Read a golden file, of so many bytes at most, if that is said.

    Raises GoldenError where there is none, where it is larger, or what is there is not one.
    """
    _check_file(path, most)
    try:
        tensors: Tensors = safetensors.numpy.load_file(path)
        json.loads(_header(path), object_pairs_hook=_single)
    except (TypeError, AttributeError) as error:  # a type that NumPy has not
        raise GoldenError(path, f"tensors of {', '.join(TYPES.values())}", str(error)) from error
    except (safetensors.SafetensorError, OSError, ValueError, KeyError, RecursionError) as error:
        raise GoldenError(path, "a safetensors file", f"damage: {error}") from error
    return tensors


def _check_file(path: Path, most: int | None) -> None:
    """Raise GoldenError where there is no file that can be read to its end, or one of more than `most` bytes."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise GoldenError(path, "a golden file", "no file") from None
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise GoldenError(path, "a golden file", str(error.strerror)) from None
    if not stat.S_ISREG(found.st_mode):
        raise GoldenError(path, "a safetensors file", "what is no file")
    if most is not None and found.st_size > most:
        raise GoldenError(path, f"a file of at most {most} bytes", f"one of {found.st_size}")


def _header(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(int.from_bytes(file.read(8), "little"))


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which no name stands twice: readers would differ in which of them they take."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)} stands there twice")
    return found
