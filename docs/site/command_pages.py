"""A page for each command, as its --help has it; one on the settings of a training; one on the sessions."""

from __future__ import annotations

import ast
import contextlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from words import code, fenced, plain, table

from conformance.commands import cli
from training.settings import read_settings

ROOT = Path(__file__).resolve().parents[2]
_WIDE = {"COLUMNS": "100", "NO_COLOR": "1"}


def write_commands(folder: Path) -> None:
    """Write a page for each command of `assayer`, for `python -m training`, and for the sessions."""
    folder.mkdir(parents=True, exist_ok=True)
    every = {name: _help(name) for name in cli.MODULES}
    for name, text in every.items():
        (folder / f"{name}.md").write_text(
            "\n".join([f"# `assayer {name}`\n", *fenced("text", text)]), encoding="utf-8"
        )
    (folder / "training.md").write_text("\n".join(_training()), encoding="utf-8")
    (folder / "sessions.md").write_text("\n".join(_sessions()), encoding="utf-8")
    (folder / "index.md").write_text("\n".join(_index(every)), encoding="utf-8")


def _help(*words: str) -> str:
    printed = io.StringIO()
    with mock.patch.dict(os.environ, _WIDE), contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        cli.build_parser([*words[:1]]).parse_args([*words, "--help"])
    # A program that is not installed calls itself by how it was started.
    return printed.getvalue().replace("python -m conformance", "assayer")


def _index(every: dict[str, str]) -> Iterator[str]:
    yield "# Commands and settings\n"
    yield "Each page is the command's own `--help`.\n"
    rows = ((f"[`assayer {name}`]({name}.md)", plain(_what(text))) for name, text in every.items())
    yield from table(("command", "does"), rows)
    others = (
        ("[`python -m training`](training.md)", "trains a model: every setting"),
        ("[`nox -s NAME`](sessions.md)", "every session"),
    )
    yield from table(("beside it", ""), others)
    yield from fenced("{toctree}", ":hidden:\n:glob:\n\n*")


def _what(text: str) -> str:
    """The sentence behind the usage."""
    return next((part for part in text.split("\n\n")[1:] if part.strip()), "").strip()


def _training() -> Iterator[str]:
    printed = io.StringIO()
    with mock.patch.dict(os.environ, _WIDE), contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        read_settings(["--help"])
    yield "# `python -m training`\n"
    yield from fenced("text", printed.getvalue())


def _sessions() -> Iterator[str]:
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    sessions = [node for node in functions if any("session" in ast.unparse(each) for each in node.decorator_list)]
    yield "# Sessions\n"
    yield "What people and CI start in a clone; behind `--` stand a session's arguments.\n"
    yield from table(
        ("session", "does"), ((code(f"nox -s {node.name}"), plain(ast.get_docstring(node) or "")) for node in sessions)
    )
