"""Models as safetensors files: parameters and moments, with the configuration in the metadata; state dicts, checked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from graph.optimizers import State

from .layers import LAYERS, Layer, layer_of
from .optimizers import configuration
from .parts import Compiled, Parts

Tensors = Mapping[str, NDArray[Any]]
FORMAT = 1
_KEY = "sequential"  # of the metadata
_MOMENT = "optimizer/"  # what the names of moments begin with: optimizer/0/dense.weight


class SavedError(ValueError):
    """A file that holds no model; the message names it, what was expected and what came."""


def checked(given: Mapping[str, Any], expected: Tensors, where: str = "load_state_dict") -> dict[str, NDArray[Any]]:
    """Return the arrays in the expected types, copies.

    Raises KeyError for names that are missing or unexpected, ValueError for another shape, for what is no array of
    numbers, and for a number that the expected type cannot hold.
    """
    missing, unexpected = sorted(expected.keys() - given.keys()), sorted(given.keys() - expected.keys())
    if missing or unexpected:
        said = [
            f"{what} {', '.join(names)}" for what, names in (("missing", missing), ("unexpected", unexpected)) if names
        ]
        raise KeyError(f"{where}: {'; '.join(said)}")
    return {name: _converted(given[name], array, f"{where}: {name}") for name, array in expected.items()}


def _converted(value: Any, like: NDArray[Any], where: str) -> NDArray[Any]:
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{where}: expected an array of numbers, got one of {array.dtype}")
    if array.shape != like.shape:
        raise ValueError(f"{where}: expected the shape {like.shape}, got {array.shape}")
    with np.errstate(over="ignore"):
        taken = np.array(array, like.dtype, order="C")
    lost = np.isfinite(array) & ~np.isfinite(taken)
    if lost.any():
        raise ValueError(f"{where}: {array[lost].flat[0]} is more than {like.dtype} holds")
    return taken


def save_model(path: Path, parts: Parts) -> None:
    """Write a model that is built.  Raises OSError, ValueError for what `load` would not know."""
    assert parts.built is not None
    if strange := [layer for layer in parts.layers if LAYERS.get(type(layer).__name__) is not type(layer)]:
        raise ValueError(f"save: expected layers of {', '.join(LAYERS)}, got {type(strange[0]).__name__}")
    held: dict[str, Any] = {
        "layers": [layer.configuration() for layer in parts.layers],
        "settings": {"input_shape": parts.built.shapes[0], "seed": parts.seed, "dtype": parts.dtype.name},
    }
    tensors = dict(parts.parameters)
    if (compiled := parts.compiled) is not None:
        state = compiled.state or State()
        by = {"optimizer": configuration(compiled.optimizer), "loss": compiled.loss.configuration()}
        held["compiled"] = by | {"metrics": [*compiled.metrics], "clip_norm": compiled.clip_norm}
        held["stands"] = {"step": state.step, "epochs": compiled.epochs}
        for name, moments in state.moments.items():
            tensors |= {f"{_MOMENT}{place}/{name}": moment for place, moment in enumerate(moments)}
    _write(path, tensors, held)


def _write(path: Path, tensors: Tensors, held: Mapping[str, Any]) -> None:
    content = save(
        {name: np.ascontiguousarray(array) for name, array in tensors.items()},
        {_KEY: json.dumps({"format": FORMAT, **held})},
    )
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def reading(path: Path) -> Iterator[tuple[dict[str, NDArray[Any]], dict[str, Any]]]:
    """Yield a model's tensors and configuration.  Raises OSError, and SavedError for what is wrong with either."""
    try:
        yield _read(path)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        said = error.args[0] if isinstance(error, KeyError) and error.args else error
        raise SavedError(f"{path}: {said}") from error


def _read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    try:
        with safe_open(path, "numpy") as opened:
            metadata = opened.metadata() or {}
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118  (no mapping)
    except SafetensorError as error:
        raise ValueError(f"expected a safetensors file, got: {error}") from error
    if _KEY not in metadata:
        raise ValueError(f"expected a model's configuration in the metadata, under {_KEY!r}; got none")
    held = json.loads(metadata[_KEY])
    if not isinstance(held, dict) or held.get("format") != FORMAT:
        got = held.get("format") if isinstance(held, dict) else held
        raise ValueError(f"expected a configuration of format {FORMAT}, got {got}")
    return tensors, held


def layers_of(held: Mapping[str, Any]) -> Sequence[Layer]:
    """The layers of a configuration.  Raises KeyError, ValueError."""
    return [layer_of(each) for each in held["layers"]]


def settings_of(held: Mapping[str, Any]) -> dict[str, Any]:
    """What a model is made with besides.  Raises KeyError."""
    given = held["settings"]
    return {"input_shape": tuple(given["input_shape"]), "seed": given["seed"], "dtype": given["dtype"]}


def compiled_of(held: Mapping[str, Any]) -> dict[str, Any]:
    """What `compile` is called with.  Raises KeyError."""
    return {name: held["compiled"][name] for name in ("optimizer", "loss", "metrics", "clip_norm")}


def parameters_of(tensors: Tensors) -> dict[str, NDArray[Any]]:
    """The tensors that are parameters."""
    return {name: array for name, array in tensors.items() if not name.startswith(_MOMENT)}


def resume(compiled: Compiled, parts: Parts, tensors: Tensors, held: Mapping[str, Any]) -> None:
    """Let training stand where it stood.  Raises KeyError, ValueError for moments that do not fit."""
    stands = held["stands"]
    compiled.epochs = int(stands["epochs"])
    if not stands["step"]:
        return
    assert parts.built is not None
    trained = {n: parts.parameters[n] for n, weight in parts.built.parameters.items() if weight.trainable}
    places = range(compiled.optimizer.count)
    due = {f"{_MOMENT}{place}/{name}": array for name, array in trained.items() for place in places}
    found = checked({n: array for n, array in tensors.items() if n.startswith(_MOMENT)}, due, "moments")
    moments = {name: tuple(found[f"{_MOMENT}{place}/{name}"] for place in places) for name in trained}
    compiled.state = State(int(stands["step"]), moments)
