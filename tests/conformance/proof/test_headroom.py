"""The table of other people's libraries: rows of one replace its own, and the page says what the table holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.commands.cli import main
from conformance.exit_codes import HARNESS
from conformance.operations import OPERATIONS
from conformance.proof.headroom import HEAD, Row, TableError, read_table, write_rows

DOCS = Path(__file__).parents[3] / "docs"
OURS = "ported"  # what a library of this test is called


def test_rows_replace_those_of_the_library_s_other_versions(tmp_path: Path) -> None:
    path = tmp_path / "wild.tsv"
    kept, old, new = (
        Row("b 1", "add", 3, 0, 0, "0.5"),
        Row("a 1.0", "mul", 2, 1, 0, "0.1"),
        Row("a 2.0", "add", 4, 0, 0, "0.9"),
    )
    write_rows(path, [kept, old])
    write_rows(path, [new])
    assert read_table(path) == [new, kept]


@pytest.mark.parametrize(
    "text", ["", "a\tb\n", "\t".join(HEAD) + "\nx\ty\n", "\t".join(HEAD) + "\na 1\tadd\tmany\t0\t0\t1\n"]
)
def test_what_is_no_table_is_refused_and_left_as_it_is(text: str, tmp_path: Path) -> None:
    path = tmp_path / "wild.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TableError, match=r"wild\.tsv.*: expected"):
        write_rows(path, [Row("a 1", "add", 1, 0, 0, "0.1")])
    assert path.read_text(encoding="utf-8") == text


def test_the_command_keeps_what_it_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, table = tmp_path / "mine.py", tmp_path / "wild.tsv"
    module.write_text("def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return a + b\n", encoding="utf-8")
    words = ["false-alarms", "--module", f"{OURS} 1={module}", "--seed", "0", "-n", "1", "-k", "plain and not designed"]
    assert main([*words, "--table", str(table)]) == 1
    add, mul = read_table(table)
    assert (add.library, add.operation, add.failed) == (f"{OURS} 1", "add", 0)
    assert mul.failed == mul.runs > 0
    table.write_text("no table", encoding="utf-8")
    assert main([*words, "--table", str(table)]) == HARNESS
    assert "expected the columns" in capsys.readouterr().out


def test_the_page_says_what_the_table_holds() -> None:
    rows = read_table(DOCS / "wild.tsv")
    assert len({row.name for row in rows}) >= 8
    assert len({row.operation for row in rows}) >= 25
    assert {row.operation for row in rows} <= OPERATIONS.keys()
    page = (DOCS / "wild.md").read_text(encoding="utf-8")
    libraries = {row.library for row in rows}
    for library in libraries:
        mine = [row for row in rows if row.library == library]
        name, _, version = library.rpartition(" ")
        runs, failed, known = (sum(getattr(row, part) for row in mine) for part in ("runs", "failed", "known"))
        most = max(row.most for row in mine)
        assert f"| {name} | {version} | {len(mine)} | {runs:,} | {most} | {failed} |" in page
        assert failed == known, f"{name} differs by more than examples/modules/differences.toml says"
    assert len(re.findall(r"^\| .* \| [\d.]+ \| \d+ \| [\d,]+ \| [\d.]+ \| \d+ \|$", page, re.M)) == len(libraries)
