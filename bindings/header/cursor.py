"""Steps through the tokens of a header; comments and directives are kept aside as they pass."""

from __future__ import annotations

import re
from typing import NoReturn

from bindings.errors import HeaderError

from .records import Constant
from .tokens import Token, tokenize

_FAMILY = re.compile(r"/\*\s*-{3,}\s*(.*?)\s*-*\s*\*/", re.S)
_CONSTANT = re.compile(r"#\s*define\s+(\w+)\s+\(?(-?\d+)\)?\s*(?:/\*(.*)\*/|//(.*))?$", re.S)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_END = "the end of the file"


class Cursor:
    """`next` is the token to be read; `comment` the one that stands before it, `family` the section it is in."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source
        self.constants: dict[str, Constant] = {}
        self.family = self.comment = ""
        self._tokens = tokenize(text, source)
        self.next = Token("end", _END, 1, 0, 0)
        self.advance()

    def advance(self) -> None:
        """Step to the next token that is code."""
        line = self.next.line
        for token in self._tokens:
            line = token.line
            if token.kind == "comment":
                section = _FAMILY.match(token.text)
                self.family = section[1] if section else self.family
                self.comment = "" if section else _prose(token.text)
            elif token.kind == "directive":
                self._keep_constant(token.text.strip())
            else:
                self.next = token
                return
        self.next = Token("end", _END, line, len(self.text), len(self.text))

    def _keep_constant(self, directive: str) -> None:
        self.comment = ""
        if found := _CONSTANT.match(directive):
            comment = (found[3] or found[4] or "").strip()
            self.constants[found[1]] = Constant(found[1], int(found[2]), comment)

    def fail(self, problem: str) -> NoReturn:
        raise HeaderError(self.source, self.next.line, problem)

    def take(self, text: str) -> bool:
        """Step over the next token if it is this one."""
        if self.next.text != text:
            return False
        self.advance()
        return True

    def expect(self, text: str, where: str) -> None:
        if not self.take(text):
            self.fail(f"expected `{text}` {where}, found `{self.next.text}`")

    def skip_to(self, text: str) -> None:
        """Step over everything up to and with this token."""
        while self.next.kind != "end" and self.next.text != text:
            self.advance()
        self.expect(text, "before the end of the file")

    def word(self, what: str) -> str:
        """Step over a word and return it."""
        if self.next.kind != "word":
            self.fail(f"expected {what}, found `{self.next.text}`")
        text = self.next.text
        self.advance()
        return text

    def entries(self) -> list[str]:
        """Step over (...) and return the texts between its commas."""
        self.expect("(", "before the entries of an annotation")
        found: list[str] = []
        depth, start = 1, self.next.start
        while depth:
            if self.next.text in {";", _END}:
                self.fail("this annotation does not end")
            depth += {"(": 1, ")": -1}.get(self.next.text, 0)
            if depth == 0 or (depth == 1 and self.next.text == ","):
                found.append(_COMMENT.sub("", self.text[start : self.next.start]).strip())
                start = self.next.stop
            self.advance()
        if not all(found):
            self.fail("an entry of this annotation is empty")
        return found


def _prose(comment: str) -> str:
    lines = comment.removeprefix("/*").removesuffix("*/").removeprefix("//").splitlines()
    return "\n".join(re.sub(r"^\s*\*? ?", "", line).rstrip() for line in lines).strip()
