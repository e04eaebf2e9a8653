"""What a stranger wrote reaches a terminal as text, never as an order to it."""

from __future__ import annotations

import io

import pytest
from rich.table import Table

from conformance.report.screen import Screen, escaped, say


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, naïve, 日本\n\tword", "plain, naïve, 日本\n\tword"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("over\rwritten\b", r"over\rwritten\x08"),
        ("right\u202eleft\u200b", r"right\u202eleft\u200b"),
        ("half\udcff", r"half\udcff"),
    ],
)
def test_what_is_not_to_be_seen_is_escaped(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_a_console_escapes_lines_markup_and_cells() -> None:
    file = io.StringIO()
    screen = Screen(file=file, force_terminal=True, color_system="standard", width=60)
    table = Table()
    table.add_column("head\x1b[2J")
    table.add_row("cell\x1b[2J")
    screen.print("plain\x1b[2J", markup=False, highlight=False)
    screen.print("[red]red\x1b[2J[/]", highlight=False)
    screen.print(table)
    assert file.getvalue().count(r"\x1b[2J") == 4
    assert "\x1b[2J" not in file.getvalue()
    assert "\x1b[31m" in file.getvalue()  # the judge's own colours


def test_plain_words_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    say("fine\x1b")
    say(ValueError("wrong\x1b"), wrong=True)
    assert capsys.readouterr() == ("fine\\x1b\n", "wrong\\x1b\n")
