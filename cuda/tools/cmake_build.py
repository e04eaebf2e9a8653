"""Configures and builds with CMake, also where the folder was made by another checkout.

    python cuda/tools/cmake_build.py build/stub assayer_stub [-D NAME=VALUE ...] [--source FOLDER]

CMake keeps absolute paths and refuses a folder that was copied or moved with its checkout; such a one is configured
afresh.  Exit code: that of CMake.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

CUDA = Path(__file__).resolve().parents[1]


def is_foreign(folder: Path, source: Path) -> bool:
    """Whether the folder holds what CMake configured of another source, or when the folder lay elsewhere."""
    cache = folder / "CMakeCache.txt"
    if not cache.is_file():
        return False
    said = dict(re.findall(r"^(\w+):INTERNAL=(.*)$", cache.read_text(encoding="utf-8"), re.MULTILINE))
    expected = {"CMAKE_HOME_DIRECTORY": source, "CMAKE_CACHEFILE_DIR": folder}
    return any(Path(said.get(name, "")).resolve() != path.resolve() for name, path in expected.items())


def commands(folder: Path, target: str, source: Path = CUDA, **defines: str) -> list[list[str]]:
    """Return the commands that configure and build; a second time they compile only what changed."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    fresh = ["--fresh"] if is_foreign(folder, source) else []
    options = [f"-D{name}={value}" for name, value in defines.items()]
    configure = ["cmake", "-S", str(source), "-B", str(folder), *fresh, *generator, *options]
    return [configure, ["cmake", "--build", str(folder), "--target", target]]


def built_library(folder: Path, target: str) -> Path:
    """Return the library in the folder.  Raises FileNotFoundError where there is not exactly one."""
    built = [path for path in folder.glob(f"*{target}.*") if path.suffix in {".so", ".dylib", ".dll"}]
    if len(built) != 1:
        raise FileNotFoundError(f"expected one {target} library in {folder}, found {len(built)}")
    return built[0]


def main() -> int:
    parser = argparse.ArgumentParser(description="Configure and build with CMake.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("target")
    parser.add_argument("-D", action="append", default=[], dest="defines", metavar="NAME=VALUE")
    parser.add_argument("--source", type=Path, default=CUDA)
    given = parser.parse_args()
    defines: Mapping[str, str] = dict(each.split("=", 1) for each in given.defines)
    for command in commands(given.folder, given.target, given.source, **defines):
        if code := subprocess.run(command).returncode:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
