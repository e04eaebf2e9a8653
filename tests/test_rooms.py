"""The arrows between the rooms: who may import whom."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT: dict[str, set[str]] = {
    "reference": set(),
    "bindings": set(),
    "training": {"reference", "bindings"},
    "conformance": {"reference", "bindings", "training"},
}
OURS = {*MAY_IMPORT, "tests", "benchmarks", "noxfile"}
# The reference is mathematics only: no files, no processes, no command line.
MATHEMATICS = {
    "numpy",
    "ml_dtypes",
    "__future__",
    "collections",
    "dataclasses",
    "functools",
    "hashlib",
    "inspect",
    "itertools",
    "math",
    "typing",
}
# One file of it lets the cores share the work, and knows of threads.
THREADS = {"reference/ops/blocks.py": {"concurrent", "contextvars", "os", "threading"}}
# Inside it: operations, then the model, then the step; never back.
LATER = {
    "reference/ops": {"model", "step", "generate", "readings"},
    "reference/model": {"step", "generate", "readings"},
}


def imports(file: Path) -> set[str]:
    """The full names of what the file imports, relative ones resolved."""
    package = file.relative_to(ROOT).parent.parts
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            module = [*start, *([node.module] if node.module else [])]
            found |= {".".join([*module, alias.name]) for alias in node.names}
    return found


def imported_from(folder: str) -> list[tuple[str, list[str]]]:
    """Each (file, imported name in parts) of the folder."""
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files, f"{folder} holds no Python"
    return [(str(file), name.split(".")) for file in files for name in imports(file)]


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_its_arrows_allow(room: str) -> None:
    allowed = MAY_IMPORT[room] | {room}
    assert [found for found in imported_from(room) if found[1][0] in OURS - allowed] == []


def test_the_reference_is_mathematics_only() -> None:
    for file, name in imported_from("reference"):
        extra = THREADS.get(Path(file).relative_to(ROOT).as_posix(), set())
        assert name[0] in MATHEMATICS | extra | {"reference"}, f"{file} imports {'.'.join(name)}"


@pytest.mark.parametrize("folder", LATER)
def test_the_reference_never_points_back(folder: str) -> None:
    found = [(file, name) for file, name in imported_from(folder) if name[0] == "reference"]
    assert [(file, name) for file, name in found if name[1] in LATER[folder]] == []
