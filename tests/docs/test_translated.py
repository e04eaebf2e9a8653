"""Pages in Japanese say what those in English say, or a test fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "site"))  # scripts
import translated

DUE = {"README", "tutorial", "judge_c", "judge_cuda", "judge_rust", "judge_go", "judge_python", "judge_offline"}


def test_what_is_translated() -> None:
    assert {page.stem for page in translated.translations()} == DUE


@pytest.mark.parametrize("page", translated.translations(), ids=lambda page: page.stem)
def test_a_page_is_in_step(page: Path) -> None:
    assert translated.problems(page) == []


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setattr(translated, "ROOT", tmp_path)
    (tmp_path / "docs" / "ja").mkdir(parents=True)
    source, page = tmp_path / "docs" / "judge_c.md", tmp_path / "docs" / "ja" / "judge_c.md"
    source.write_text("# C\n\n```sh\nmake\n```\n")
    page.write_text("# C 言語\n\n```sh\nmake\n```\n")
    return source, page


def test_each_side_alone(pair: tuple[Path, Path]) -> None:
    source, page = pair
    assert translated.problems(page) == [
        "judge_c.md: expected its last line to hold two hashes: python docs/site/translated.py writes it"
    ]
    translated.accept(page)
    translated.accept(page)  # a second time changes nothing
    assert translated.problems(page) == []
    right = source.read_text()
    source.write_text(right.replace("# C", "# C11"))
    assert translated.problems(page) == ["judge_c.md: docs/judge_c.md has changed since; change this page too"]
    source.write_text(right)
    page.write_text(page.read_text().replace("言語", "の言語"))
    assert translated.problems(page) == ["judge_c.md: has changed; look whether docs/judge_c.md says the same"]
    translated.accept(page)
    source.write_text(right.replace("make", "make all"))
    translated.accept(page)
    assert translated.problems(page) == ["judge_c.md: its blocks are not those of docs/judge_c.md, which tests run"]
