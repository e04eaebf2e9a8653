"""One compilation of sources: what is wrong with them first, then the wrappers, then CMake."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bindings.header.read import read_header
from bindings.shared_object.symbols import exported_symbols
from conformance.builds import BuildError, build_target, nvcc
from conformance.paths import CUDA

from .entry import Entry
from .functions import Defined, functions
from .glue import by_header, included, wrapper
from .map import Boundary, Map
from .messages import message
from .project import Project
from .resolve import draft, listed, resolved
from .sources import own_files, root_of, text_of

_GLUE = CUDA / "glue"
_OWN_SERVICES = "assayer_capability"  # who answers for it answers for the device's memory too


class Making:
    """One compilation, and a second one where the first shows which functions cannot be found by their symbols."""

    def __init__(self, project: Project, chart: Map, own: Sequence[Path], boundary: Boundary | None = None) -> None:
        self.project, self.map, self.own, self.boundary = project, chart, own, boundary
        self.root = root_of(own)
        self.defined = [one for path in own for one in functions(path)]
        words = frozenset(re.findall(r"\w+", " ".join(map(text_of, own))))
        found = [resolved(entry, self.defined, words) for entry in chart.entries.values()]
        self.entries: list[tuple[Entry, Defined]] = found
        if not boundary:
            self.check_something()

    def check_something(self) -> None:
        """Raise BuildError where neither a map nor a name says what the sources compute."""
        named = {function.symbol for function in read_header().operations.values()}
        launched = {entry.called for entry, _ in self.entries if entry.is_launch}
        bare = [one for one in self.defined if one.bare in named and one.is_kernel and one.name not in launched]
        if bare:
            such = f"a map says how it is launched (--map FILE), such as\n{draft(bare)}"
            raise BuildError(f"{bare[0]}: expected a function of the host by the header's name, got a kernel; {such}")
        if self.entries or any(one.bare in named for one in self.defined) or self._mentions(named):
            return
        theirs = listed([str(one) for one in self.defined])
        files = " ".join(path.name for path in self.project.files)
        sentence = f"{files}: none of the header's {len(named)} operations, by their names; defines {theirs}"
        such = f", such as\n{drafted}" if (drafted := draft(self.defined)) else ""
        raise BuildError(f"{sentence}; --map FILE says which they are{such}")

    def _mentions(self, named: set[str]) -> bool:
        """Whether a name stands in the sources at all: a macro may define the function."""
        return not named.isdisjoint(word for path in self.own for word in re.findall(r"\bcuda_\w+", text_of(path)))

    @property
    def mapped(self) -> tuple[str, ...]:
        """The operations that the map names."""
        return self.boundary.mapped if self.boundary else tuple(self.map.entries)

    def library(self) -> Path:
        """Compile, and return the library's path.  Raises BuildError and MapError."""
        library = self._built()
        if hidden := list(self._hidden(library)):
            self.entries += hidden
            return self._built()
        return library

    def _hidden(self, library: Path) -> Iterator[tuple[Entry, Defined]]:
        """Functions of the header's names that the library does not export: mangled by C++, static, in a namespace."""
        exported = exported_symbols(library)
        for function in read_header().operations.values():
            found = next((one for one in self.defined if one.bare == function.symbol), None)
            if function.symbol in exported or not found or found.is_kernel or found.is_template:
                continue
            if len(found.parameters) == len(function.parameters):
                yield by_header(function, found.name), found

    def _built(self) -> Path:
        folder = self.project.folder
        sources = self._write_wrappers(folder / "glue")
        is_device = self.project.mode == "device"
        environment = {"LC_ALL": "C"} | ({"CUDACXX": nvcc()} if is_device else {})  # messages in plain English
        try:
            kind = "cuda" if is_device else "emulated"
            return build_target(kind, folder / "build", "theirs", self._defines(folder, sources), environment, _GLUE)
        except BuildError as error:
            if not error.said:
                raise
            said = message(error.said, self.own, self.root, self.project.map, not is_device)
            raise BuildError(said, error.said) from None

    def _defines(self, folder: Path, sources: Sequence[Path]) -> Mapping[str, str]:
        defines = {
            "GLUE_FOLDER": str(folder / "glue"),
            "GLUE_SOURCES": ";".join(map(str, sources)),
            "GLUE_FILES": ";".join(map(str, self.own)),
            "GLUE_ROOT": str(self.root),
            "GLUE_INCLUDE": ";".join(map(str, self.map.include)),
            "GLUE_DEFINE": ";".join(self.map.define),
            "GLUE_LINK": ";".join(self.map.link),
            "GLUE_MODE": self.project.mode,
            "GLUE_ON_HOST": "1" if self.boundary else "0",
        }
        return defines | ({"CMAKE_CUDA_ARCHITECTURES": f"{self.project.arch}"} if self.project.arch else {})

    def _write_wrappers(self, folder: Path) -> list[Path]:
        """Write the source that stands for each of theirs; one that has not changed keeps its time."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for number, file in enumerate(self.project.files):
            text = wrapper(included(file.resolve(), self.root), number, self._entries_of(file))
            paths.append(_written(folder / f"theirs_{number}.cu", text))
        if self.boundary:
            paths.append(_written(folder / "boundary.cu", self.boundary.text))
        has_services = any(one.bare == _OWN_SERVICES for one in self.defined)
        return paths if has_services else [*paths, _GLUE / "services.cu"]

    def _entries_of(self, file: Path) -> list[Entry]:
        """The entries whose functions stand in a source or in a header that it is the first to include."""
        reached = own_files([file], self.map.include)
        before = self.project.files[: self.project.files.index(file)]
        earlier = {path for one in before for path in own_files([one], self.map.include)}
        mine = {*reached} - earlier
        return [entry for entry, found in self.entries if found.file in mine]


def _written(path: Path, text: str) -> Path:
    """A file with this text, which keeps its time where it holds that already."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path
