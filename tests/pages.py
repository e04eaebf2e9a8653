"""The fenced blocks of the pages, each with what stands before it.

A block is what a reader types, or a file that the reader writes.  What a test does with it is said by comments that the
rendered page does not show, right before its fence:

    <!-- file: mine.c -->               the reader saves it under this name
    <!-- run: s|--steps 1000|--steps 2| -->   it is run with this text in place of that: for what takes minutes
    <!-- exit: 1 -->                    its last command ends with this code
    <!-- output -->                     what the commands before it print; `...` stands for anything
    <!-- not run: REASON -->            a reader runs it, a test cannot

A line `path`: before the fence says that the block quotes this file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
_COMMENT = re.compile(r"<!-- (file|run|exit|output|not run)(?:: (.+))? -->")
_QUOTE = re.compile(r"`([^`]+)`:")
_SHORTER = re.compile(r"s\|([^|]+)\|([^|]*)\|")


@dataclass(frozen=True)
class Block:
    """One fenced block: where its first line stands, its language and text, and what the lines before it say."""

    page: str
    line: int
    language: str
    text: str
    comments: dict[str, str] = field(default_factory=dict)
    shorter: tuple[tuple[str, str], ...] = ()  # (a text, what is run in its place)
    quotes: str | None = None  # the file that it is a part of

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def as_run(self) -> str:
        """The text with what stands in place of something dearer."""
        text = self.text
        for dear, cheap in self.shorter:
            if dear not in text:
                raise ValueError(f"{self}: expected {dear!r} in the block, for its comment replaces it")
            text = text.replace(dear, cheap)
        return text


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page below ROOT.  Raises ValueError for a fence that is not closed."""
    return list(_blocks(page, (ROOT / page).read_text(encoding="utf-8").splitlines()))


def _blocks(page: str, lines: Sequence[str]) -> Iterator[Block]:
    begin: int | None = None
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if begin is None:
            begin = number
            continue
        comments, shorter, quotes = _before(lines[:begin])
        text = "".join(f"{each}\n" for each in lines[begin + 1 : number])
        yield Block(page, begin + 2, lines[begin][3:].strip(), text, comments, shorter, quotes)
        begin = None
    if begin is not None:
        raise ValueError(f"{page}:{begin + 1}: expected the block's end, found the page's")


def _before(lines: Sequence[str]) -> tuple[dict[str, str], tuple[tuple[str, str], ...], str | None]:
    """Return what the lines right before a fence say: comments by kind, replacements, the file that is quoted."""
    comments: dict[str, str] = {}
    shorter: list[tuple[str, str]] = []
    for line in reversed(lines):
        if quote := _QUOTE.fullmatch(line):
            return comments, tuple(shorter), quote[1]
        comment = _COMMENT.fullmatch(line)
        if not comment:
            break
        comments[comment[1]] = comment[2] or ""
        if comment[1] == "run":
            shorter = [*_SHORTER.findall(comment[2] or ""), *shorter]
    return comments, tuple(shorter), None
