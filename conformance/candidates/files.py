"""A folder of outputs that a candidate in any language has written from the goldens' inputs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from bindings import Facts
from conformance import operations
from conformance.catalogue.goldens import FOLDER, GoldenError, file_of, golden_ids, goldens_floor, tensors
from conformance.catalogue.goldens.names import TRAINING_RUN

from .worker.outcome import Outcome

_PREFIX = "output."
_WIDEST = 8  # bytes of an element of a type that is not due, and is to be named
_SPARE = 1 << 20  # bytes beside the outputs that are due: a file's header, and small tensors too many, which are named
_DEEPEST = 8  # folders in one another that are looked into; goldens lie in two


class Files:
    """A folder of outputs, for each golden a file of its name: like a worker, it knows what calls have given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path, self._due = folder, dict[str, NDArray[Any]]()

    def ask(self, id: str, due: Mapping[str, NDArray[Any]]) -> None:
        """Say which case comes next, and what its outputs are like in a file."""
        self._path, self._due = self.folder / file_of(id), dict(due)

    def run(self, operation: str, arguments: Mapping[str, Any], override: Mapping[str, Any] | None = None) -> Outcome:
        """Return the outputs of the case that was asked for."""
        with contextlib.suppress(OSError):  # what may not be looked at is said by the reader
            if not self._path.exists():
                return Outcome("missing", detail=f"no file {self._path}")
        try:
            return Outcome("done", 0, self._read())
        except GoldenError as error:
            return Outcome("raised", detail=str(error))

    def facts(self) -> Facts:
        return Facts()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Outcome:
        raise NotImplementedError("files hold results; there is nothing to call")

    def _read(self) -> dict[str, NDArray[Any]]:
        held = tensors.read(self._path, _SPARE + sum(_WIDEST * array.size for array in self._due.values()))
        due = {f"{_PREFIX}{name}": array for name, array in self._due.items()}
        if held.keys() != due.keys():
            raise GoldenError(self._path, f"tensors {', '.join(sorted(due))}", ", ".join(sorted(held)) or "none")
        for name, array in due.items():
            wanted, found = tensors.described(array), tensors.described(held[name])
            if wanted != found:
                raise GoldenError(self._path, f"{name}: {wanted}", found)
        return {name.removeprefix(_PREFIX): operations.widened(array) for name, array in held.items()}


def answerable() -> list[str]:
    """The ids of the goldens that files can answer: a training run is made by a library, step upon step."""
    return [id for id in golden_ids() if not id.startswith(TRAINING_RUN)]


def floor() -> int:
    """The fewest cases that a whole run may have."""
    return goldens_floor() - (len(golden_ids()) - len(answerable()))


def check_folder(folder: Path) -> None:
    """Raise NotADirectoryError where there is no such folder, ValueError where it holds no outputs at all."""
    if not folder.is_dir():
        raise NotADirectoryError(
            f"{folder}: expected a folder of outputs, got {'a file' if folder.exists() else 'none'}"
        )
    if not any((folder / file_of(id)).exists() for id in answerable()):
        example = file_of(next(iter(answerable())))
        raise ValueError(f"{folder}: holds no outputs; expected files named as in {FOLDER}, such as {example}")


def strangers(folder: Path) -> list[str]:
    """Return a sentence for each file that is named after no golden, and each folder that was not looked into."""
    known = {folder / file_of(id) for id in answerable()}
    found, closed = _files(folder)
    unknown = [path for path in sorted(found) if path.suffix == ".safetensors" and path not in known]
    return [*(f"{path}: no golden has this name" for path in unknown), *closed]


def _files(folder: Path) -> tuple[list[Path], list[str]]:
    """Return the files below a folder, and a sentence for each folder that was not looked into.

    Folders may lie in one another without end, deeper than calls can: so none is looked into by a call of its own.
    """
    files: list[Path] = []
    closed: list[str] = []
    waiting = [(folder, 0)]
    while waiting:
        here, depth = waiting.pop()
        if depth > _DEEPEST:
            closed.append(f"{here}: not looked into: goldens lie in no more than {_DEEPEST} folders")
            continue
        try:
            entries = [(Path(entry), entry.is_dir(follow_symlinks=False)) for entry in os.scandir(here)]
        except OSError as error:
            closed.append(f"{here}: not looked into: {error.strerror}")
            continue
        files += [path for path, is_folder in entries if not is_folder]
        waiting += [(path, depth + 1) for path, is_folder in entries if is_folder]
    return files, closed
