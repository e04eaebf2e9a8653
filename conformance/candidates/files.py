"""A folder of outputs that a candidate in any language has written from the goldens' inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from bindings import Facts
from conformance import operations
from conformance.catalogue.goldens import FOLDER, GoldenError, file_of, golden_ids, goldens_floor, tensors
from conformance.catalogue.goldens.profiles import TRAINING_RUNS

from .worker.outcome import Outcome

_PREFIX = "output."


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
        held = tensors.read(self._path)
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
    runs = {run.id for run in TRAINING_RUNS.values()}
    return [id for id in golden_ids() if id not in runs]


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
    """Return a sentence for each file that is named after no golden."""
    known = {file_of(id) for id in answerable()}
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.safetensors"))
    return [f"{folder / name}: no golden has this name" for name in found if name not in known]
