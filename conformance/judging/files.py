"""Judges results in files: of a candidate in any language that reads the goldens' inputs and writes its outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from bindings import Facts
from conformance import operations
from conformance.candidates.worker.outcome import Outcome
from conformance.catalogue.cases import CASES, Case
from conformance.catalogue.goldens import (
    FOLDER,
    GoldenError,
    file_of,
    golden_ids,
    goldens_floor,
    load_tensors,
    tensors,
)
from conformance.catalogue.goldens.profiles import TRAINING_RUNS
from conformance.catalogue.keywords import Keywords
from conformance.commands.selection import Selection
from conformance.limits import HEADER, Contract
from conformance.limits.expectation import Expected, rounded

from .bench import Bench
from .gallery import Gallery
from .outputs import as_stored
from .results import Result, Status
from .verdict import judge

# What files cannot show.
NOTE = "judged from files: bounds of memory, repeatability, refused calls and free steps were not judged"
_PREFIX = "output."
_STEP = "training_step"


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

    def call(self, function: str, *arguments: Any) -> Outcome:
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


class FilesBench(Bench):
    """Judges the cases of a folder of outputs, and the golden training step."""

    def __init__(self, folder: Path, gallery: Gallery | None = None, declared: Contract = HEADER) -> None:
        self.files = Files(folder)
        super().__init__(self.files, gallery=gallery, declared=declared)

    def due(self, case: Case) -> tuple[dict[str, Any], Expected]:
        arguments, expected = super().due(case)
        self.files.ask(case.id, operations.as_declared(case.operation, rounded(as_stored(expected))))
        return arguments, expected

    def step(self, id: str) -> Result:
        """Judge the golden training step: loss, norms, and each gradient at the places that the golden names."""
        if not self.declared.is_header:
            return Result(id, _STEP, Status.TOO_FINE, "its golden knows the errors of the header's precision alone")
        try:
            held = load_tensors(id)
            assert held is not None  # its id comes from the manifest
        except GoldenError as error:
            return Result(id, _STEP, Status.MISTRUSTED, str(error))
        expected = as_stored(tensors.unpack_expected(held))
        self.files.ask(id, rounded(expected))
        outcome = self.files.run(_STEP, {})
        if outcome.status != "done":
            return Result(id, _STEP, Status.NOT_RUN if outcome.status == "missing" else Status.FAIL, outcome.detail)
        verdicts = tuple(judge(name, wanted, outcome.outputs[name]) for name, wanted in expected.items())
        reason = next((f"{v.output}: {v.reason}" for v in verdicts if not v.passed), "")
        result = Result(id, _STEP, Status.FAIL if reason else Status.PASS, reason, verdicts)
        return self.gallery.shown(result, lambda: expected, outcome.outputs) if self.gallery else result


def answerable() -> list[str]:
    """The ids of the goldens that files can answer: a training run is made by a library, step upon step."""
    runs = {run.id for run in TRAINING_RUNS.values()}
    return [id for id in golden_ids() if id not in runs]


def floor() -> int:
    """The fewest cases that a whole run may have."""
    return goldens_floor() - (len(golden_ids()) - len(answerable()))


def select_goldens(keywords: Keywords, ids: Iterable[str] = ()) -> Selection:
    """Choose among the goldens as `select` does among all cases."""
    wanted = set(ids)
    found = tuple(id for id in answerable() if keywords.matches(id) and (id in wanted or not wanted))
    return Selection(found, (), keywords, tuple(ids))


def judge_files(
    ids: Iterable[str], folder: Path, evidence: bool = False, declared: Contract = HEADER
) -> Iterator[list[Result]]:
    """Judge the outputs of these goldens, and yield results as they come."""
    bench = FilesBench(folder, Gallery() if evidence else None, declared)
    for id in ids:
        yield [bench.case(CASES[id]) if id in CASES else bench.step(id)]


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
