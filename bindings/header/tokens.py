"""Cuts C text into words, each with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from bindings.errors import HeaderError

Kind = Literal["comment", "directive", "word", "number", "string", "mark", "end"]

_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
      | (?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<number>\.?\d(?:[eE][+-]|[\w.])*)
      | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      | (?P<mark>==|!=|<=|>=|&&|\|\||<<|>>|->|\.\.\.|[^\s\w])""",
    re.S | re.M | re.X,
)
_FOR_CPLUSPLUS = re.compile(r"#\s*if(def\s+|\s+defined\s*\(?\s*)__cplusplus")
_LINE = re.compile(r"\s*#\s*line\s+(\d+)\s*")
_CONDITIONAL = re.compile(r"#\s*(if|ifdef|ifndef|else|elif|endif)\b")


class Token(NamedTuple):
    kind: Kind
    text: str
    line: int
    start: int
    stop: int


def tokenize(text: str, source: str) -> Iterator[Token]:
    """Yield the tokens of C text, without what stands there for C++ only.  Raises HeaderError on an open comment."""
    line, at, skipping = 1, 0, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at, stop = match.span()
        kind, word = match.lastgroup, match.group()
        if kind == "directive" and (moved := _LINE.fullmatch(word)):
            line = int(moved[1]) - 1  # of the line that follows
            continue
        token = Token(kind, word, line, at, stop)  # type: ignore[arg-type]
        if kind == "mark" and text.startswith("/*", at):
            raise HeaderError(source, line, "this comment does not end")
        if kind == "directive":
            skipping = _skipping(token.text.strip(), skipping)
        if not skipping:
            yield token


def _skipping(directive: str, depth: int) -> int:
    """Return how many conditionals deep a C++ part is, after this directive."""
    found = _CONDITIONAL.match(directive)
    if depth == 0:
        return 1 if _FOR_CPLUSPLUS.match(directive) else 0
    if found is None:
        return depth
    if found[1] == "endif" or (depth == 1 and found[1] == "else"):
        return depth - 1
    return depth + 1 if found[1].startswith("if") else depth
