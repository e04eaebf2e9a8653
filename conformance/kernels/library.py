"""The library that sources become: compiled once for each content, and kept in the user's cache."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from conformance.unsupported import UnsupportedCalls

from .making import Making
from .map import Boundary, Map, read_map
from .project import Project, content
from .sources import check_sources, own_files

_KEPT = 4  # libraries of earlier contents


@dataclass(frozen=True)
class Compiled:
    """A library of sources; mapped: the operations that it has by a map, whose functions are declared otherwise.

    chart: what tells which calls cannot be made of them, where there is something.
    """

    project: Project
    path: Path
    mapped: tuple[str, ...] = ()
    chart: UnsupportedCalls | None = None
    environment: ClassVar[Mapping[str, str]] = {}  # variables of a process that loads it


def compile_kernels(project: Project, boundary: Boundary | None = None) -> Compiled:
    """Compile a project, or return what was made of the same content before.

    boundary: what is compiled beside the sources in place of what their map names.  Raises BuildError with the file and
    line of theirs that does not compile, and MapError.
    """
    check_sources(project.files)
    chart = read_map(project.map) if project.map and not boundary else Map({})
    own = own_files(project.files, chart.include)
    key = content(project, own, boundary.text if boundary else "")
    folder = project.folder
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        there = _kept(project, folder / key)
        if not there:
            making = Making(project, chart, own, boundary)
            there = _keep(folder / key, Compiled(project, making.library(), making.mapped))
    return replace(there, chart=boundary.chart) if boundary else there


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time compile here."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # let go of when the file is closed
        yield


def _kept(project: Project, folder: Path) -> Compiled | None:
    record = folder / "record.json"
    if not record.is_file():
        return None
    record.touch()  # the oldest are those that were not asked for
    said = json.loads(record.read_text(encoding="utf-8"))
    return Compiled(project, folder / said["library"], tuple(said["mapped"]))


def _keep(kept: Path, made: Compiled) -> Compiled:
    """Keep a library in a folder named by the key of its content, the record last; forget the oldest."""
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir()
    shutil.copy2(made.path, kept / made.path.name)
    record = json.dumps({"library": made.path.name, "mapped": made.mapped})
    (kept / "record.json").write_text(record, encoding="utf-8")
    others = sorted(kept.parent.glob("*/record.json"), key=lambda path: path.stat().st_mtime)
    for old in others[:-_KEPT]:
        shutil.rmtree(old.parent, ignore_errors=True)
    return replace(made, path=kept / made.path.name)
