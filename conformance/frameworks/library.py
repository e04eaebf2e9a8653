"""The library of the header's functions that calls a framework's: linked to theirs, or compiled with their sources."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from bindings import header_path
from bindings.shared_object.symbols import read_symbols
from conformance.builds import BuildError
from conformance.kernels import Boundary, Compiled, MapError, Project, compile_kernels
from conformance.kernels.project import shown
from conformance.kernels.sources import check_sources, own_files, text_of
from conformance.paths import CACHE, CUDA

from .map import FrameworkMap, read_map
from .shim import shim

_GLUE = CUDA / "glue"
_OPTIONS = ("-std=c11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden")
_KEPT = 8  # libraries


@dataclass(frozen=True)
class Framework:
    """A framework's library and its map, as the command line names them."""

    library: Path
    map: Path
    option = "--library"

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.library.name

    @property
    def words(self) -> tuple[str, ...]:
        """What the command line says behind --library."""
        return (shown(self.library), "--map", shown(self.map))

    @property
    def folder(self) -> Path:
        """Where its library of the header's functions lies, whatever it holds."""
        words = "\0".join(str(path.resolve()) for path in (self.library, self.map))
        return CACHE / "frameworks" / hashlib.sha256(words.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Linked:
    """A library of the header's functions that calls a framework's.

    mapped: the operations that it has.  environment: variables of a process that loads it.
    """

    project: Framework
    path: Path
    chart: FrameworkMap

    @property
    def mapped(self) -> tuple[str, ...]:
        return tuple(self.chart.entries)

    @property
    def environment(self) -> Mapping[str, str]:
        """The folder in which the framework lies is read by whoever loads the library."""
        folders = [os.environ.get("ASSAYER_READABLE", ""), str(self.project.library.resolve().parent)]
        return {"ASSAYER_READABLE": os.pathsep.join(filter(None, folders))}


def link(framework: Framework) -> Linked:
    """Make the library of the header's functions that a map says the framework has, or return the one that was made.

    Raises MapError, LibraryError where the framework is no library, and BuildError.
    """
    chart = read_map(framework.map)
    exported = read_symbols(framework.library).exported
    _check_known(framework.map, chart, exported, f"a function that {framework.name} exports")
    text = shim(chart.entries.values())
    folder = framework.folder
    path = folder / f"{_digest(text, framework)}.so"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # let go of when the file is closed
        if not path.is_file():
            _compile(text, framework.library.resolve(), path)
            for old in sorted(folder.glob("*.so"), key=lambda one: one.stat().st_mtime)[:-_KEPT]:
                old.unlink()
    return Linked(framework, path, chart)


def compile_sources(project: Project) -> Compiled:
    """Compile a framework's CUDA sources, and with them the header's functions that its map names.

    Raises MapError and BuildError.
    """
    assert project.map is not None
    chart = read_map(project.map)
    check_sources(project.files)
    own = own_files(project.files, ())
    words = {word for path in own for word in re.findall(r"\w+", text_of(path))}
    _check_known(project.map, chart, words, f'a function that {project.name} defines as extern "C"')
    return compile_kernels(project, Boundary(shim(chart.entries.values()), tuple(chart.entries), chart))


def _check_known(path: Path, chart: FrameworkMap, known: Collection[str], expected: str) -> None:
    """Raise MapError for a function that is none of those known."""
    for entry in chart.entries.values():
        if entry.call not in known:
            near = get_close_matches(entry.call, sorted(known), 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise MapError(f"{path}: {entry.operation}.call: expected {expected}, got {entry.call!r}{hint}")


def _compiler() -> list[str]:
    return shlex.split(os.environ.get("CC", "cc"))


def _digest(text: str, framework: Framework) -> str:
    """A name of all that the library is made of: the framework itself is loaded with it, as it is by then."""
    parts = [text, str(framework.library.resolve()), *_compiler(), *_OPTIONS]
    parts += [path.read_text(encoding="utf-8") for path in (_GLUE / "framework.h", header_path())]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _compile(text: str, library: Path, made: Path) -> None:
    with tempfile.TemporaryDirectory(dir=made.parent) as folder:
        source, output = Path(folder) / "framework.c", Path(folder) / made.name
        source.write_text(text, encoding="utf-8")
        command = [*_compiler(), *_OPTIONS, f"-I{_GLUE}", f"-I{header_path().parent}", str(source), "-o", str(output)]
        command += [str(library), "-Xlinker", "-rpath", "-Xlinker", str(library.parent)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise BuildError(f"{library.name}: expected a compiler, got: {error}; CC names another") from None
        if done.returncode:
            raise BuildError(f"{library.name}: {shlex.join(command)} failed:\n{done.stderr}", done.stderr)
        _check_found(library, output)
        output.replace(made)


def _check_found(library: Path, made: Path) -> None:
    """Raise BuildError where the loader will look for a framework by a name that it has not there."""
    name = read_symbols(made).needed[0]  # a path, where the framework has no name of its own
    if not (library.parent / name).is_file():
        expected = f"expected a file of the name that is in it, its SONAME {name}, beside it"
        raise BuildError(f"{library}: {expected}, got none: link it, or build it without -soname")
