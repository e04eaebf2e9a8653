"""`new` writes what stands in examples/, and the commands of its page judge that: each conforms in what it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.commands.cli import main
from conformance.commands.new import BESIDE, KINDS
from tests.pages import ROOT, blocks
from tests.test_docs import Reader

EXAMPLES = ROOT / "examples"


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_new_writes_stands_in_examples_and_is_judged_as_its_page_says(
    kind: str, tmp_path: Path, stub_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "--kind", kind, "mine"]) == 0
    said = capsys.readouterr().out
    assert "wrote mine/" in said
    assert f"assayer {'graph' if kind == 'graphs' else 'run'}" in said
    beside = {path.name: path.read_bytes() for path in BESIDE.get(kind, ())}
    assert content(tmp_path / "mine") == content(EXAMPLES / kind) | beside
    reader = Reader(tmp_path, stub_path)
    reader.home = tmp_path / "mine"
    for block in blocks(f"examples/{kind}/README.md"):
        reader.follow(block)  # fails where a command ends with anything but 0
        if reader.lacked:
            pytest.skip(
                f"the example in {kind} was not judged: there is no {' and no '.join(reader.lacked)} that works"
            )


@pytest.mark.parametrize("held", ["a_file", "a_folder_with_something"])
def test_nothing_is_written_over(held: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "mine"
    if held == "a_file":
        place.write_text("mine")
    else:
        place.mkdir()
        (place / "rmsnorm.c").write_text("mine")
    assert main(["new", "--kind", "c", str(place)]) == 2
    said = capsys.readouterr().err
    assert "expected a folder that is empty or not there yet, got " in said
    assert said.strip().endswith("a file" if held == "a_file" else "holds rmsnorm.c")
    assert (place if held == "a_file" else place / "rmsnorm.c").read_text() == "mine"


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    assert main(["new", "--kind", "python", str(tmp_path)]) == 0
    assert content(tmp_path) == content(EXAMPLES / "python")


def test_every_kind_has_a_page_with_commands() -> None:
    for kind in KINDS:
        assert any(block.language == "sh" for block in blocks(f"examples/{kind}/README.md")), kind
