"""One checkpoint: a folder of safetensors files, and a JSON file with everything else and the others' hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from training.data import DataError
from training.data.files import read_json, to_disk, write_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONTENT_FILE = "checkpoint.json"
FORMAT = 1

Tensors = Mapping[str, "NDArray[Any]"]


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the message names the file, what was expected and what came."""


class Damaged(CheckpointError):  # noqa: N818
    """A checkpoint that is not what was written."""


@dataclass(frozen=True)
class Checkpoint:
    """What was kept: tensors by file and name, and what JSON knows."""

    tensors: Mapping[str, Tensors]
    content: Mapping[str, Any]

    def with_content(self, **more: Any) -> Checkpoint:
        """Return this with more to know."""
        return Checkpoint(self.tensors, {**self.content, **more})

    @property
    def nbytes(self) -> int:
        """The bytes of all tensors."""
        return sum(array.nbytes for tensors in self.tensors.values() for array in tensors.values())

    def write(self, folder: Path) -> None:
        """Fill an empty folder; when this returns, all of it is on the disk.  Raises OSError where it does not fit."""
        files = {}
        for name, tensors in self.tensors.items():
            path = folder / f"{name}.safetensors"
            _write_tensors(path, tensors)
            to_disk(path)
            files[path.name] = {"bytes": path.stat().st_size, "sha256": _hash_of_file(path)}
        whole = {**self.content, "files": files}
        write_json(folder / CONTENT_FILE, {"format": FORMAT, "sha256": _hash_of(whole), "content": whole})
        to_disk(folder)

    @classmethod
    def read(cls, folder: Path) -> Checkpoint:
        """Read a folder. Raises Damaged where a byte of it is not what was written, CheckpointError
        for another format."""
        content = _read_content(folder / CONTENT_FILE)
        tensors = {}
        for file, expected in content.pop("files").items():
            path = folder / file
            _check_file(path, expected)
            tensors[path.stem] = _safetensors().numpy.load_file(path)
        return cls(tensors, content)


def require(checkpoint: Checkpoint, folder: Path, of_run: Mapping[str, Any], shapes: Mapping[str, Tensors]) -> None:
    """Compare with a run: what both say of it, and the type and shape of every tensor. Raises CheckpointError."""
    for name, value in of_run.items():
        kept = checkpoint.content.get(name)
        if isinstance(value, Mapping) and isinstance(kept, Mapping):
            for part in {**value, **kept}:
                _same(folder, f"{name}.{part}", value.get(part), kept.get(part))
        else:
            _same(folder, name, value, kept)
    for file in {**shapes, **checkpoint.tensors}:
        ours, theirs = shapes.get(file, {}), checkpoint.tensors.get(file, {})
        for name in {**ours, **theirs}:
            _same(folder, f"{file}.safetensors: {name}", _describe(ours.get(name)), _describe(theirs.get(name)))


def _same(folder: Path, name: str, ours: Any, theirs: Any) -> None:
    if ours != theirs:
        raise CheckpointError(f"{folder}: {name}: this run has {ours}, the checkpoint is of {theirs}")


def _describe(tensor: NDArray[Any] | None) -> str:
    return "no such tensor" if tensor is None else f"{tensor.dtype} of shape {tensor.shape}"


def _read_content(path: Path) -> dict[str, Any]:
    try:
        read = read_json(path)
    except DataError as error:
        raise Damaged(str(error)) from None
    if not isinstance(read, dict) or read.keys() != {"format", "sha256", "content"}:
        raise Damaged(f"{path}: expected a checkpoint's format, sha256 and content, got something else")
    if read["format"] != FORMAT:
        raise CheckpointError(f"{path}: expected format {FORMAT}, got {read['format']!r}")
    content: dict[str, Any] = read["content"]
    if _hash_of(content) != read["sha256"]:
        raise Damaged(f"{path}: its content is not what its SHA-256 says")
    return content


def _check_file(path: Path, expected: Mapping[str, Any]) -> None:
    try:
        size = path.stat().st_size
        if size != expected["bytes"]:
            raise Damaged(f"{path}: expected {expected['bytes']} bytes, got {size}")
        if _hash_of_file(path) != expected["sha256"]:
            raise Damaged(f"{path}: its SHA-256 is not the one in {CONTENT_FILE}")
    except OSError as error:
        raise Damaged(f"{path}: cannot be read ({error.strerror})") from None


def _hash_of(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _hash_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_tensors(path: Path, tensors: Tensors) -> None:
    """Raises OSError, which the package has an error of its own for."""
    package = _safetensors()
    contiguous = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    try:
        package.numpy.save_file(contiguous, path)
    except package.SafetensorError as error:
        raise OSError(f"{path.name}: {error}") from error


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError as error:
        message = "checkpoints need the safetensors package: pip install safetensors"
        raise ImportError(message, name="safetensors") from error
    return safetensors
