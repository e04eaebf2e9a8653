"""Text as Markdown takes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_MARKS = re.compile(r"([\\`*_{}\[\]<>|#$~])")
_JAPANESE = "[\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]"
_BROKEN = re.compile(f"(?<={_JAPANESE})\n(?={_JAPANESE})")


def plain(text: str) -> str:
    """Text in which nothing is markup, in one line."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """Text as code within a table's cell."""
    return f"`{text.replace('|', chr(92) + '|')}`" if text else ""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table's lines, and an empty one; nothing where there are no rows."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    rule = f"|{'---|' * len(heads)}"
    return [f"| {' | '.join(heads)} |", rule, *lines, ""] if lines else []


def fenced(language: str, text: str) -> list[str]:
    return [f"```{language}", text.rstrip("\n"), "```", ""]


def joined(text: str) -> str:
    """A text in Japanese without its lines' ends, for which a browser would draw a space between two words."""
    return _BROKEN.sub("", text)
