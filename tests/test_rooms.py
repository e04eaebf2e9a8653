"""The arrows between the rooms: who may import whom."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT: dict[str, set[str]] = {
    "reference": set(),
    "bindings": set(),
    "training": {"reference", "bindings"},
    "graph": {"reference", "bindings"},
    "sequential": {"reference", "bindings", "graph"},
    "tensors": {"reference", "bindings"},
    "conformance": {"reference", "bindings", "training", "graph", "tensors"},
    "assayer": {"conformance"},
}
OURS = {*MAY_IMPORT, "tests", "benchmarks", "noxfile"}
# Inside a folder each room may import those before it; a name is that of a folder or of a file.
ORDER: dict[str, tuple[str, ...]] = {
    "bindings": (
        "errors",
        "places",
        "header",
        "shared_object",
        "arrays",
        "declarations",
        "calls",
        "library",
        "__init__",
    ),
    "conformance": (
        "exit_codes",
        "version",
        "paths",
        "program",
        "scratch",
        "builds",
        "unsupported",
        "kernels",
        "frameworks",
        "operations",
        "ids",
        "pool",
        "decoding",
        "linking",
        "limits",
        "catalogue",
        "launches",
        "candidates",
        "variants",
        "judging",
        "positional",
        "steps",
        "graphs",
        "onnx",
        "report",
        "proof",
        "languages",
        "commands",
    ),
    "reference": (
        "arrays",
        "tensor_core",
        "cpu_matrix_unit",
        "philox",
        "special",
        "random",
        "namespace",
        "ops",
        "__init__",
        "model",
        "step",
        "generate",
        "readings",
    ),
}
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


def imports(file: Path) -> set[str]:
    """The full names of what the file imports, anywhere in it, relative ones resolved."""
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


def imported_from(folder: str) -> list[tuple[Path, list[str]]]:
    """Each (file, imported name in parts) of the folder."""
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files, f"{folder} holds no Python"
    return [(file, name.split(".")) for file in files for name in imports(file)]


def file_of(name: list[str]) -> Path | None:
    """The file that holds an imported name: the module itself, or the one that the name is taken from."""
    for length in range(len(name), 0, -1):
        path = ROOT.joinpath(*name[:length])
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file
    return None


def room_of(file: Path, folder: str) -> str:
    """The room of a file inside a folder: the first part of its path there."""
    return file.relative_to(ROOT / folder).parts[0].removesuffix(".py")


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_its_arrows_allow(room: str) -> None:
    allowed = MAY_IMPORT[room] | {room}
    assert [found for found in imported_from(room) if found[1][0] in OURS - allowed] == []


@pytest.mark.parametrize("folder", ORDER)
def test_a_room_inside_imports_only_those_before_it(folder: str) -> None:
    order = ORDER[folder]
    places = {path.name.removesuffix(".py") for path in (ROOT / folder).iterdir()} - {"__pycache__", "__init__"}
    assert {place for place in places if not place.startswith("__")} <= {*order}
    up = []
    for file, name in imported_from(folder):
        target = file_of(name) if name[0] == folder else None
        room = room_of(file, folder)
        if target is None or room not in order:  # the command line of a folder may import all of it
            continue
        if order.index(room) < order.index(room_of(target, folder)):
            up.append((file.relative_to(ROOT).as_posix(), ".".join(name)))
    assert up == []


def test_no_file_imports_itself_by_way_of_others() -> None:
    arrows: dict[Path, set[Path]] = {}
    for room in MAY_IMPORT:
        for file, name in imported_from(room):
            target = file_of(name) if name[0] in MAY_IMPORT else None
            if target not in (None, file):
                arrows.setdefault(file, set()).add(target)
    assert [[str(file.relative_to(ROOT)) for file in circle] for circle in circles(arrows)] == []


def circles(arrows: Mapping[Path, set[Path]]) -> Iterator[list[Path]]:
    """Yield a way round for each arrow that closes one."""
    done: set[Path] = set()
    way: list[Path] = []

    def walk(file: Path) -> Iterator[list[Path]]:
        if file in way:
            yield way[way.index(file) :]
        elif file not in done:
            way.append(file)
            for target in sorted(arrows.get(file, ())):
                yield from walk(target)
            done.add(way.pop())

    for file in arrows:
        yield from walk(file)


def test_a_circle_is_found() -> None:
    a, b, c = map(Path, "abc")
    assert list(circles({a: {b}, b: {c}, c: {a}})) == [[a, b, c]]


def test_the_reference_is_mathematics_only() -> None:
    for file, name in imported_from("reference"):
        extra = THREADS.get(file.relative_to(ROOT).as_posix(), set())
        assert name[0] in MATHEMATICS | extra | {"reference"}, f"{file} imports {'.'.join(name)}"


@pytest.mark.parametrize("folder", ["bindings", "conformance"])
def test_every_room_says_what_it_is_for(folder: str) -> None:
    for room in ORDER[folder]:
        if (path := ROOT / folder / room).is_dir():
            caption = ast.get_docstring(ast.parse((path / "__init__.py").read_text(encoding="utf-8"))) or ""
            assert all(f"{word}: " in caption for word in ("In", "Out", "Used by")), f"{path}: say In, Out, Used by"
