"""What the wheel is made of; that it works shows tests/use_wheel.py."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("reference", "bindings", "training", "graph", "sequential", "tensors", "conformance")
MODULE = re.compile(rf"({'|'.join(PACKAGES)})(\.\w+)+(:\w+)?")


def moved(text: str) -> str:
    """The build's own function; the build's package need not be there for it."""
    source = (ROOT / "hatch_build.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    hatchling = (ast.ClassDef, ast.ImportFrom)
    tree.body = [
        node for node in tree.body if not isinstance(node, hatchling) or "BuildHookInterface" not in ast.unparse(node)
    ]
    names: dict[str, object] = {}
    exec(compile(tree, "hatch_build.py", "exec"), names)
    function = names["moved"]
    assert callable(function)
    return str(function(text))


@pytest.mark.parametrize(
    ("written", "installed"),
    [
        ("from bindings import Library\n", "from assayer.bindings import Library\n"),
        ("def f():\n    from training.data import (\n        A,\n    )\n", None),
        ("import reference\n", "from assayer import reference\n"),
        ("from .training import x\nfrom trainings import y\nimport numpy as np\n", "as it is"),
        ('"from bindings import Library"\n# import reference\n', "as it is"),
        ("é = 1; from bindings import Library\n", "é = 1; from assayer.bindings import Library\n"),
    ],
)
def test_imports_of_the_packages_follow_them(written: str, installed: str | None) -> None:
    if installed is None:
        installed = written.replace("from training.data", "from assayer.training.data")
    assert moved(written) == (written if installed == "as it is" else installed)


@pytest.mark.parametrize("written", ["import bindings.errors", "import os, reference", "import reference as r"])
def test_an_import_that_cannot_follow_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"line 1: expected `from package import name`"):
        moved(written)


def _is_a_module(text: str) -> bool:
    """Whether it is the name of a module of this checkout: a file may be called graph.json."""
    path = ROOT.joinpath(*text.split("."))
    return MODULE.fullmatch(text) is not None and (path.is_dir() or path.with_name(f"{path.name}.py").is_file())


@pytest.mark.slow
def test_no_text_names_a_module_that_lies_elsewhere_when_installed() -> None:
    """Such a name goes through bindings.places.module or is made of __package__."""
    named = []
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            through = {
                id(word)
                for call in ast.walk(tree)
                if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("module")
                for word in call.args
            }
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_a_module(node.value):
                    named += [f"{file.relative_to(ROOT)}: {node.value}"] if id(node) not in through else []
    assert named == []


def test_constraints_hold_the_version_of_whatever_is_asked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    asked += [word for group in project["dependency-groups"].values() for word in group if isinstance(word, str)]
    for requirement in asked:
        parts = re.fullmatch(r"([\w-]+)(==|>=)([\w.]+)(?:;.*)?", requirement.replace(" ", ""))
        assert parts, f"expected NAME==VERSION or NAME>=VERSION, got {requirement}"
        name, relation, version = parts.groups()
        found = pinned.get(re.sub(r"[-_.]+", "-", name).lower())
        assert found is not None, f"{name}: nox -s constraints"
        assert relation == ">=" or found == version, f"{requirement}, but constraints.txt has {found}"


def test_actions_are_pinned_by_their_commit() -> None:
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        for action in re.findall(r"uses: ((?!\./|OWNER)\S+)", file.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), f"{file.name}: {action}"
