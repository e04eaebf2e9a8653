"""What README and CONTRIBUTING say is there is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")}
QUOTED = re.findall(r"^`([^`]+)`:\n```\w+\n(.*?)^```", PAGES["CONTRIBUTING.md"], re.MULTILINE | re.DOTALL)


def plain(code: str) -> str:
    """The code without what a formatter may change."""
    return re.sub(r",\s*(?=[)\]}])|\s", "", code)


@pytest.mark.parametrize(("file", "code"), QUOTED, ids=[file for file, _ in QUOTED])
def test_quoted_code_stands_in_its_file(file: str, code: str) -> None:
    assert plain(code) in plain((ROOT / file).read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES)
def test_sessions_named_on_a_page_exist(page: str) -> None:
    sessions = set(re.findall(r"^def (\w+)\(session", (ROOT / "noxfile.py").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"nox -s (\w+)", PAGES[page]))
    assert named
    assert named <= sessions


@pytest.mark.parametrize("page", PAGES)
def test_paths_named_on_a_page_exist(page: str) -> None:
    rooms = "benchmarks|bindings|conformance|cuda|golden|reference|tests|training"
    named = re.findall(rf"`((?:{rooms})/[^`*]*)`", PAGES[page])
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []
