"""What makes the site of the pages: links as it has them, a page for each operation, links that lead nowhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from conformance.commands import cli
from conformance.operations import OPERATIONS
from reference.readings import READINGS

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "site"))  # scripts
import links
import stage
import words
from command_pages import write_commands
from operation_pages import write_operations

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def operations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("operations")
    write_operations(folder)
    return folder


def test_every_operation_has_a_page_with_its_formula_and_all_its_readings(operations: Path) -> None:
    for name, function in OPERATIONS.items():
        text = (operations / f"{name}.md").read_text()
        assert function.doc.splitlines()[0] in text or " ".join(function.doc.split())[:60] in text, name
        for parameter in function.parameters:
            assert f"| `{parameter.name}` |" in text, (name, parameter.name)
        for reading in READINGS:
            if reading.operation == name:
                assert words.plain(reading.name) in text, reading.id
                assert words.plain(reading.equal or reading.why) in text, reading.id


def test_a_page_of_an_operation(operations: Path) -> None:
    text = (operations / "rmsnorm.md").read_text()
    assert "output = x * r * weight, r = 1 / sqrt(mean(x^2) + eps)" in text
    assert "| `weight` | `const float*` | `(hidden_dim)` | read |" in text
    assert "unless `eps >= 0`" in text
    assert "| eps outside the root | eps is added to the root mean square. |" in text
    assert "def rmsnorm(input: Array, weight: Array, eps: float)" in text
    assert "`rmsnorm/plain/" in text
    index = (operations / "index.md").read_text()
    assert all(f"]({name}.md)" in index for name in OPERATIONS)


def test_every_command_has_a_page(tmp_path: Path) -> None:
    write_commands(tmp_path)
    index = (tmp_path / "index.md").read_text()
    for name in cli.MODULES:
        assert f"usage: assayer {name}" in (tmp_path / f"{name}.md").read_text()
        assert f"[`assayer {name}`]({name}.md)" in index
    assert "--seq" in (tmp_path / "training.md").read_text()
    assert "nox -s docs" in (tmp_path / "sessions.md").read_text()


def test_links_as_the_site_has_them(tmp_path: Path) -> None:
    stage.stage(tmp_path)
    front = (tmp_path / "index.md").read_text()
    assert "](docs/tutorial.md)" in front
    assert (tmp_path / "docs" / "page.png").is_file()
    assert (tmp_path / "cuda" / "include" / "assayer.h").is_file()
    assert "](../../index.md)" in (tmp_path / "docs" / "ja" / "README.md").read_text()
    port = (tmp_path / "docs" / "port.md").read_text()
    assert "](../examples)" not in port  # a folder without a page is no link


def test_a_link_to_what_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "ROOT", tmp_path)
    (tmp_path / "README.md").write_text("# A\n\n[gone](docs/gone.md)\n")
    with pytest.raises(stage.StageError, match=r"README.md: links to docs/gone.md, which is not there"):
        stage.stage(tmp_path / "site")


def test_what_a_browser_would_not_find(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="here">A</h1><a href="#here">1</a><a href="#gone">2</a><a href="b.html">3</a><a href="c.html">4</a>'
        '<a href="b.html#there">5</a><a href="b.html#gone">6</a><img src="d.png"><script src="https://cdn/x.js"></script>'
        '<a href="https://elsewhere/">7</a>'
    )
    (tmp_path / "b.html").write_text('<p id="there"></p>')
    assert links.broken(tmp_path) == [
        "a.html: links to #gone: no such place",
        "a.html: links to b.html#gone: no such place",
        "a.html: links to c.html: no such file",
        "a.html: links to d.png: no such file",
        "a.html: fetches https://cdn/x.js, which lies elsewhere",
    ]


def test_every_variable_is_told() -> None:
    told = (ROOT / "docs" / "settings.md").read_text()
    sources = [*ROOT.glob("cuda/**/*.[ch]*"), *ROOT.glob("conformance/**/*.py"), *ROOT.glob("training/**/*.py")]
    asked = re.compile(r'(?:getenv|number|environ\.get|environ)[(\[]"(ASSAYER_\w+)"|name = "(ASSAYER_\w+)"')
    found = {a or b for path in sources for a, b in asked.findall(path.read_text(encoding="utf-8", errors="replace"))}
    found -= {"ASSAYER_PRELOAD", "ASSAYER_SESSION"}  # by which this project's own parts tell each other
    assert len(found) > 8
    assert {name for name in found if f"`{name}`" not in told} == set()


def test_lines_of_japanese_are_joined_and_no_others() -> None:
    assert words.joined("違って\nいれば、\nどこで") == "違っていれば、どこで"
    assert words.joined("a port\nof CUDA や\nC の") == "a port\nof CUDA や\nC の"
