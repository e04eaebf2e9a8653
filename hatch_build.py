"""The wheel: one package, `assayer`, with the folders of the checkout below it.

In a checkout `reference`, `bindings`, `training`, `graph`, `sequential`, `tensors` and `conformance` are packages
by themselves.  Installed so, they would collide with anybody's package of such a name; below `assayer` they collide
with none.  Their imports of each other follow: `from bindings import Library` becomes `from assayer.bindings import
Library`.  Nothing else in a file changes, and no line moves.

Editable installations put the checkout itself on the path, and change nothing.
"""

from __future__ import annotations

import ast
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "assayer"
PACKAGES = ("reference", "bindings", "training", "graph", "sequential", "tensors", "conformance")
DATA = ("golden", "cuda", "examples")  # conformance/paths.py finds them beside its package
PASSED_OVER = {"__pycache__", ".cache"}


class WheelLayout(BuildHookInterface[Any]):
    """Adds the folders to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before the wheel is built; version: "standard" or "editable"."""
        if version == "editable":
            return
        self._changed = tempfile.TemporaryDirectory()
        root, changed = Path(self.root), Path(self._changed.name)
        for folder in (NAME, *PACKAGES, *DATA):
            for path in _files(root / folder):
                place = path.relative_to(root)
                source = path
                if path.suffix == ".py" and folder not in DATA:
                    source = changed / place
                    source.parent.mkdir(parents=True, exist_ok=True)
                    source.write_text(moved(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
                build_data["force_include"][str(source)] = str(place if folder == NAME else NAME / place)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called after the wheel is built."""
        if version != "editable":
            self._changed.cleanup()


def _files(folder: Path) -> list[Path]:
    """The files below a folder that belong to the project: in a clone those that git does not ignore, else all."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "."]
    listed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found = [folder / name for name in listed.stdout.split("\0") if name] if listed.returncode == 0 else []
    every = found or sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in every if path.is_file() and not PASSED_OVER & set(path.parts)]


def moved(text: str) -> str:
    """Return a module's text with its absolute imports of the packages below `assayer`.

    Raises ValueError for `import bindings.errors`, which binds a name that is not there any more.
    """
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and not node.level and _is_ours(node.module or ""):
            _replace(lines, node, f"from {node.module}", f"from {NAME}.{node.module}")
        elif isinstance(node, ast.Import):
            for alias in filter(lambda alias: _is_ours(alias.name), node.names):
                if len(node.names) > 1 or alias.asname or "." in alias.name:
                    raise ValueError(f"line {node.lineno}: expected `from package import name`, got {alias.name}")
                _replace(lines, node, f"import {alias.name}", f"from {NAME} import {alias.name}")
    return "".join(lines)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in PACKAGES


def _replace(lines: list[str], node: ast.stmt, old: str, new: str) -> None:
    line = lines[node.lineno - 1].encode()
    before, rest = line[: node.col_offset].decode(), line[node.col_offset :].decode()  # columns are counted in bytes
    if not rest.startswith(old):
        raise ValueError(f"line {node.lineno}: expected {old!r}, got {rest!r}")
    lines[node.lineno - 1] = before + new + rest.removeprefix(old)
