"""What a library is built of, and how: the C library, the kernels for the emulator, the example of a framework."""

from __future__ import annotations

import functools
import os
import posixpath
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bindings import header_path
from conformance.frameworks import read_map
from conformance.frameworks.shim import shim
from conformance.paths import CUDA, EXAMPLES

from .fault import FRAMEWORK, FaultError, RefusedError
from .run_mode import cxx_compiler

_EMULATOR = CUDA / "emulator"
_NO_MEMSET = ("-fno-tree-loop-distribute-patterns",)  # of loops that fill memory: sanitisers watch it
RUNTIME = "emulator.cpp"  # the emulator's own sources as one file


class CLibrary:
    """The C library of cuda/src, all of it."""

    name, folder, unit, header = "c", CUDA / "src", ".c", ".h"
    linked: Sequence[str] = ("-fopenmp", "-lm")
    # Those of cuda/CMakeLists.txt, for the instructions that all processors of a kind have: a fault looks the same on
    # each.
    _OPTIONS = ("-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-fopenmp", "-ffp-contract=fast", "-fno-math-errno",
                "-fno-trapping-math")  # fmt: skip

    def compiler(self) -> list[str]:
        return shlex.split(os.environ.get("CC", "cc"))

    def options(self, file: str) -> Sequence[str]:
        """How a file is compiled."""
        return (*self._OPTIONS, f"-I{header_path().parent}")

    def beside(self) -> list[str]:
        """The texts that objects depend on besides the library's own sources."""
        return [header_path().read_text(encoding="utf-8")]

    def read(self) -> dict[str, str]:
        """Return the text of every source and header, by its path below the folder."""
        files = sorted(path for path in self.folder.rglob("*") if path.suffix in {self.unit, self.header})
        if not files:
            raise FaultError(f"expected sources in {self.folder}, found none")
        return {path.relative_to(self.folder).as_posix(): path.read_text(encoding="utf-8") for path in files}

    def units(self, sources: Mapping[str, str], operations: Iterable[str]) -> list[str]:
        """Which files a library with these operations is linked from."""
        return [file for file in sources if file.endswith(self.unit)]

    def write(self, path: Path, text: str, name: str) -> None:
        """Lay out a file for the compiler."""
        path.write_text(text, encoding="utf-8")


def _entry(operation: str) -> str:
    """What matches a kernel's launcher: its own, or a macro's for each type that numbers are stored as."""
    stored = re.sub("_(bf16|fp16)$", "_?##suffix", operation)
    return rf"int32_t cuda_{stored if stored != operation else f'{operation}(##suffix)?'}\("


class Kernels(CLibrary):
    """The kernels of cuda/kernels in a mode of the emulator, of which a library holds no more than it is asked for."""

    folder, unit, header = CUDA / "kernels", ".cu", ".cuh"

    def __init__(self, mode: str) -> None:
        self.name = f"kernels-{mode}"
        self._mode = mode
        self._cmake = (_EMULATOR / "emulator.cmake").read_text(encoding="utf-8")
        self.linked = (*self._flags(f"LINK_{mode}"), *self._flags("LINK_FUNCTIONS"), "-pthread", "-ldl")

    def _flags(self, name: str) -> list[str]:
        """What emulator.cmake sets a list of flags to, but for those that CMake makes of its own expressions."""
        found = re.search(rf"^set\(EMULATOR_{name}\b([^)]*)\)", self._cmake, re.MULTILINE)
        if not found:
            raise FaultError(f"expected EMULATOR_{name} in {_EMULATOR / 'emulator.cmake'}")
        return [flag for flag in found[1].split() if "$<" not in flag]

    def compiler(self) -> list[str]:
        return cxx_compiler()

    def options(self, file: str) -> Sequence[str]:
        shared = ("-std=gnu++17", "-fPIC", "-fvisibility=hidden", f"-I{_EMULATOR / 'include'}")
        if file == RUNTIME:
            mode = f"-DEMULATOR_MODE=EMULATOR_MODE_{self._mode.upper()}"
            return (*shared, *self._flags("RUNTIME_FLAGS"), *_NO_MEMSET, mode)
        own = (*self._flags("KERNEL_FLAGS"), *self._flags(f"FLAGS_{self._mode}"), "-DASSAYER_EMULATED=1")
        return (*shared, *own, f"-I{header_path().parent}", "-x", "c++")

    def beside(self) -> list[str]:
        files = [
            *_EMULATOR.rglob("*.h"),
            *_EMULATOR.rglob("*.cpp"),
            *_EMULATOR.rglob("*.py"),
            *CLibrary.folder.glob("*.h"),
        ]
        return [*super().beside(), *(path.read_text(encoding="utf-8") for path in sorted(files))]

    def read(self) -> dict[str, str]:
        runtime = [f'#include "{path}"\n' for path in sorted((_EMULATOR / "src").glob("*.cpp"))]
        return {**super().read(), RUNTIME: "".join(runtime)}

    def units(self, sources: Mapping[str, str], operations: Iterable[str]) -> list[str]:
        """Those that define the operations, and beside each header that they include the file of its name."""
        entry = re.compile("|".join(_entry(operation) for operation in operations))
        due = ["runtime.cu", *(file for file, text in sources.items() if entry.search(text))]
        chosen = [RUNTIME]
        while due:
            chosen.append(file := due.pop())
            named = {str(Path(header).with_suffix(self.unit)) for header in reached(file, sources)}
            called = {f"int32_t {call}" for call in re.findall(r"\bcuda_\w+\(", sources[file])}
            named |= {other for other, text in sources.items() if any(call in text for call in called)}
            named |= self._defining(_declared_and_called(file, sources), sources)
            due += sorted(named & sources.keys() - {*chosen, *due})
        return chosen

    def _defining(self, names: Iterable[str], sources: Mapping[str, str]) -> set[str]:
        """The files that define functions of these names."""
        patterns = [re.compile(rf"^int32_t {name}\([^;{{]*\) {{", re.MULTILINE) for name in names]
        units = [file for file in sources if file.endswith(self.unit)]
        return {file for file in units for pattern in patterns if pattern.search(sources[file])}

    def write(self, path: Path, text: str, name: str) -> None:
        """As C++: launches and shared memory are CUDA's grammar.  Raises RefusedError where the text is not of it."""
        is_plain = "<<<" not in text and "__shared__" not in text
        super().write(path, f'#line 1 "kernels/{name}"\n{text}' if is_plain else _rewritten(text, name), name)


class Example(CLibrary):
    """The framework of examples/framework, and the functions of the header's names that its map makes of it."""

    name, folder = "framework", EXAMPLES / "framework"
    linked = ("-lm",)
    _HEADER = CUDA / "glue" / "framework.h"

    def __init__(self) -> None:
        self.map = read_map(self.folder / "tensors.toml")

    def options(self, file: str) -> Sequence[str]:
        return (*super().options(file), f"-I{self._HEADER.parent}")

    def beside(self) -> list[str]:
        return [*super().beside(), self._HEADER.read_text(encoding="utf-8")]

    def read(self) -> dict[str, str]:
        own = {f"{FRAMEWORK}{file}": text for file, text in super().read().items()}
        return {**own, f"{FRAMEWORK}map.c": shim(self.map.entries.values())}


@functools.lru_cache(maxsize=200)  # of which a library's own sources are a part, whatever becomes of one of them
def _rewritten(text: str, name: str) -> str:
    """A kernel's source as C++.  Raises RefusedError where it is not CUDA's grammar."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(name).name
        path.write_text(text, encoding="utf-8")
        # -S -E: it needs nothing but the standard library.
        command = [sys.executable, "-S", "-E", str(_EMULATOR / "rewrite"), str(path), str(path), f"kernels/{name}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RefusedError(f"{name}: {done.stderr}")
        return path.read_text(encoding="utf-8")


def _declared_and_called(file: str, sources: Mapping[str, str]) -> list[str]:
    """The functions that a header declares and that the file, or a header that it includes, calls."""
    text = "\n".join([sources[file], *(sources[header] for header in sorted(reached(file, sources)))])
    declared = dict.fromkeys(re.findall(r"^int32_t (\w+)\([^;{]*\);", text, re.MULTILINE))
    return [name for name in declared if re.search(rf"(?<!int32_t )\b{name}\(", text)]


def reached(file: str, sources: Mapping[str, str]) -> set[str]:
    """The sources that a file includes, and those that they include."""
    found: set[str] = set()
    due = [file]
    while due:
        at = due.pop()
        for name in re.findall(r'^#include "([^"]+)"', sources[at], re.MULTILINE):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(at), name))
            if path in sources and path not in found:
                found.add(path)
                due.append(path)
    return found
