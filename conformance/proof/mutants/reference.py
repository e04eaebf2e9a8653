"""The reference as what is mutated: killed by goldens, finite differences and what its tests hold of its results."""

from __future__ import annotations

import ast
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from bindings.places import module
from conformance import operations
from conformance.catalogue.goldens import FOLDER
from conformance.catalogue.goldens.manifest import read
from conformance.exit_codes import FAILED
from conformance.ids import operation_of
from conformance.paths import ROOT

from .bytecode import without_types
from .mutator import PYTHON, Mutant, mutants_of
from .python_names import Names
from .record import Trial, Verdict
from .source import Line, exchanged
from .trial import History
from .warm_reference import WarmReference

_FOLDER = "reference"
_LIMIT_S, _PATIENCE = 240, 10  # processor time of all tests, which take some 40 s; and how often that by the clock
_TYPES_AS_TEXT = "from __future__ import annotations"
_TESTS = ("tests/reference",)
# PyTorch's tests take a minute, and its threads do not live in a copy of a process.
_WITHOUT_PYTORCH = "--ignore-glob=*torch.py"


class Reference:
    """The reference's sources but for its wrong readings, and their mutants."""

    name, folder = _FOLDER, _FOLDER

    @cached_property
    def sources(self) -> dict[str, str]:
        """The text of every file, by its path below the folder."""
        files = sorted(path.relative_to(ROOT / _FOLDER).as_posix() for path in (ROOT / _FOLDER).rglob("*.py"))
        own = (file for file in files if not file.startswith("readings/"))
        return {file: (ROOT / _FOLDER / file).read_text(encoding="utf-8") for file in own}

    @cached_property
    def names(self) -> Names:
        """What every line can affect."""
        return Names(self.sources, operations.OPERATIONS)

    def mutants(self) -> list[Mutant]:
        """Return all mutants that Python reads, in the order of files and lines.  Raises MutatorError."""
        made = (mutant for file, text in self.sources.items() for mutant in _of_file(file, text))
        return [mutant for mutant in made if _is_read(self._part(mutant))]

    def _part(self, mutant: Mutant) -> str:
        """The statement of a module that a mutant is in, as it writes it."""
        first, last = self.names.lines(mutant.file, mutant.line)
        part = "\n".join(self.sources[mutant.file].split("\n")[first - 1 : last])
        return exchanged(part, mutant.line - first + 1, mutant.after, mutant.count)

    def digest(self) -> str:
        """Return a digest of the sources and of the tests."""
        tests = [path.read_text(encoding="utf-8") for tests in _TESTS for path in sorted((ROOT / tests).rglob("*.py"))]
        return hashlib.sha256("\0".join([*self.sources, *self.sources.values(), *tests]).encode()).hexdigest()

    def path(self, mutant: Mutant) -> str:
        """Return a mutant's file as a path from the root of the repository."""
        return f"{_FOLDER}/{mutant.file}"

    def place(self, mutant: Mutant) -> str:
        """Return what a mutant is in: the name of the function or class."""
        return self.names.place(mutant.file, mutant.line)

    def mutated(self, mutant: Mutant) -> str:
        """Return the mutant's file."""
        return exchanged(self.sources[mutant.file], mutant.line, mutant.after, mutant.count)

    def goldens(self, mutant: Mutant) -> list[str]:
        """Return the goldens of the operations that a mutant can affect, those in float32 first."""
        affected = self.names.operations(mutant.file, mutant.line)
        found = [id for id in read(FOLDER).cases if operation_of(id) in affected]
        return sorted(found, key=lambda id: operations.is_sixteen_bit(operation_of(id)))


def _of_file(file: str, text: str) -> list[Mutant]:
    """The mutants of a file's code; what stands in a docstring or a comment is none, nor how Python reads types."""
    lines, tree = text.split("\n"), ast.parse(text)
    others = {line for node in ast.walk(tree) for line in _docstring(node)}
    others |= {number for number, line in enumerate(lines, 1) if line == _TYPES_AS_TEXT}
    code = [Line("" if number in others else line.rstrip()) for number, line in enumerate(lines, 1)]
    return mutants_of(file, code, PYTHON)


def _docstring(node: ast.AST) -> Iterable[int]:
    """The lines of a text that stands as a statement of its own."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return ()


def _is_read(text: str) -> bool:
    """Whether Python takes a text; what it only warns of, it does."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


class ReferenceJudge:
    """Judges mutants of the reference, one after the other: by goldens and by tests, until one fails.

    Used in one process.  Raises BrokenError where one fails without a mutant.
    """

    def __init__(
        self, reference: Reference, history: History | None = None, codes: Mapping[str, Verdict] = MappingProxyType({})
    ) -> None:
        self._reference, self._history, self._codes = reference, history or History(), set(codes)
        self._warm = WarmReference((*_TESTS, _WITHOUT_PYTORCH))

    def trial(self, mutant: Mutant) -> Trial:
        """Judge a mutant in a process that has loaded all, or where that cannot be, in one that loads the mutant."""
        started = time.monotonic()
        text = self._reference.mutated(mutant)
        read = ast.dump(without_types(text))
        if read == ast.dump(without_types(self._reference.sources[mutant.file])):
            return Trial(mutant, Verdict.SAME)
        code = hashlib.sha256(f"{mutant.file} {read}".encode()).hexdigest()
        if code in self._codes:
            return Trial(mutant, Verdict.REPEATED, code=code)
        self._codes.add(code)
        place = self._reference.place(mutant)
        by, said = self._warm.asked(mutant.file, text, self._history.likely(place)) or self._loaded(mutant)
        verdict = Verdict.KILLED if by else Verdict.SURVIVED
        trial = Trial(mutant, verdict, by, said, code, round(time.monotonic() - started, 2))
        self._history.note(place, trial)
        return trial

    def _loaded(self, mutant: Mutant) -> tuple[str, str]:
        """What kills a mutant that is loaded, and how; "" and what was asked where nothing does."""
        goldens = self._reference.goldens(mutant)
        by, said = _asked({mutant.file: self._reference.mutated(mutant)}, goldens)
        return (by, said) if by else ("", f"{len(goldens)} goldens, {' '.join(_TESTS)}")


def _asked(texts: Mapping[str, str], goldens: list[str]) -> tuple[str, str]:
    """What fails of the reference with these texts in place of its files, and how; "" where nothing does."""
    with tempfile.TemporaryDirectory(prefix="assayer-mutant-") as folder:
        shutil.copytree(ROOT / _FOLDER, Path(folder) / _FOLDER, ignore=shutil.ignore_patterns("__pycache__"))
        for file, text in texts.items():
            (Path(folder) / _FOLDER / file).write_text(text, encoding="utf-8")
        replay = [sys.executable, "-m", module("conformance.proof.mutants.replay"), *goldens]
        paths = f"pythonpath={folder} {ROOT}"
        options = ("-x", "-q", "-p", "no:cacheprovider", "-o", paths, _WITHOUT_PYTORCH)
        pytest = [sys.executable, "-m", "pytest", *options]
        own = _naming({Path(file).stem for file in texts})
        # `python -m` looks into its folder first, pytest into what it is told.
        for by, command, at in (
            ("goldens", replay if goldens else [], Path(folder)),
            ("tests", [*pytest, *own] if own else [], ROOT),
            ("tests", [*pytest, *_TESTS], ROOT),
        ):
            if command and (said := _failure(command, at, folder)):
                return by, said
    return "", ""


def _naming(modules: AbstractSet[str]) -> list[str]:
    """The files of tests in which one of these modules is named: these are the likeliest to fail."""
    texts = {path: path.read_text(encoding="utf-8") for tests in _TESTS for path in (ROOT / tests).rglob("test_*.py")}
    named = {path for path, text in texts.items() if not modules.isdisjoint(re.findall(r"\w+", text))}
    return [str(path) for path in sorted(named) if not path.name.endswith("torch.py")]


def _failure(command: list[str], at: Path, folder: str) -> str:
    """Run a command in a folder with the reference of another; return how it failed, or nothing."""
    paths = os.pathsep.join([folder, str(ROOT)])
    environment: Mapping[str, str] = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            ["sh", "-c", 'ulimit -S -t "$0" && exec "$@"', str(_LIMIT_S), *command],
            cwd=at,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_PATIENCE * _LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no end in {_PATIENCE * _LIMIT_S} s"
    if done.returncode == -signal.SIGXCPU:
        return f"no end in {_LIMIT_S} s of processor time"
    if not done.returncode:
        return ""
    lines = [line for line in done.stdout.splitlines() if line.startswith("FAILED") or done.returncode == FAILED]
    return (lines or [*done.stderr.splitlines(), "failed"])[-1][:200]
