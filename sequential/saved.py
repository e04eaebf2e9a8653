"""State dicts, checked before anything takes them; and models as safetensors files with their configuration beside."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

State = Mapping[str, NDArray[Any]]
FORMAT = 1
_KEY = "sequential"  # of the metadata


class SavedError(ValueError):
    """A file that holds no model; the message names it, what was expected and what came."""


def checked(given: Mapping[str, Any], expected: State, where: str = "load_state_dict") -> dict[str, NDArray[Any]]:
    """Return the arrays in the expected types, copies.

    Raises KeyError for names that are missing or unexpected, ValueError for a shape, a number that is not finite in the
    expected type, or what is no array of numbers.
    """
    missing, unexpected = sorted(expected.keys() - given.keys()), sorted(given.keys() - expected.keys())
    if missing or unexpected:
        said = [f"{what} {', '.join(names)}" for what, names in (("missing", missing), ("unexpected", unexpected)) if names]
        raise KeyError(f"{where}: {'; '.join(said)}")
    return {name: _converted(given[name], array, f"{where}: {name}") for name, array in expected.items()}


def _converted(value: Any, like: NDArray[Any], where: str) -> NDArray[Any]:
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{where}: expected an array of numbers, got one of {array.dtype}")
    if array.shape != like.shape:
        raise ValueError(f"{where}: expected the shape {like.shape}, got {array.shape}")
    with np.errstate(over="ignore"):
        taken = np.array(array, like.dtype)
    lost = np.isfinite(array) & ~np.isfinite(taken)
    if lost.any():
        raise ValueError(f"{where}: {array[lost].flat[0]} is more than {like.dtype} holds")
    return taken


def write(path: Path, tensors: State, configuration: Mapping[str, Any]) -> None:
    """Write a model; a file that is there is replaced when the new one is whole.  Raises OSError."""
    metadata = {_KEY: json.dumps({"format": FORMAT, **configuration})}
    content = save({name: np.ascontiguousarray(array) for name, array in tensors.items()}, metadata)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return a model's tensors and its configuration.  Raises OSError, SavedError."""
    try:
        with safe_open(path, "numpy") as opened:
            metadata = opened.metadata() or {}
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118  (no mapping)
    except SafetensorError as error:
        raise SavedError(f"{path}: expected a safetensors file, got: {error}") from error
    if _KEY not in metadata:
        raise SavedError(f"{path}: expected a model's configuration in the metadata, under {_KEY!r}; got none")
    try:
        configuration = json.loads(metadata[_KEY])
    except json.JSONDecodeError as error:
        raise SavedError(f"{path}: the configuration is no JSON: {error}") from error
    found = configuration.pop("format", None) if isinstance(configuration, dict) else None
    if found != FORMAT:
        raise SavedError(f"{path}: expected a configuration of format {FORMAT}, got {found}")
    return tensors, configuration
