"""Reads the header's text: comments become documentation, SHAPE and its like become data."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, NoReturn

from .elements import spellings
from .errors import HeaderError
from .expressions import Expression
from .records import Axis, Constant, Function, Header, Parameter
from .tokens import Token, tokenize
from .validate import problem_of

_FAMILY = re.compile(r"/\*\s*-{3,}\s*(.*?)\s*-*\s*\*/", re.S)
_CONSTANT = re.compile(r"#\s*define\s+(\w+)\s+\(?(-?\d+)\)?\s*(?:/\*(.*)\*/|//(.*))?$", re.S)
_C_TYPES = spellings("c")
_END = Token("end", "the end of the file", 0, 0, 0)


def parse_header(text: str, source: str = "<text>") -> Header:
    """Read the text of a header.  Raises HeaderError naming source and line of the first thing it cannot read."""
    parser = _Parser(text, source)
    functions: list[Function] = []
    while parser.next.kind != "end":
        functions.append(parser.function())
    symbols: dict[str, Function] = {}
    for function in functions:
        if function.symbol in symbols:
            raise HeaderError(source, function.line, f"{function.symbol} is declared twice")
        symbols[function.symbol] = function
    services = {f.symbol.removeprefix("assayer_"): f for f in functions if f.symbol.startswith("assayer_")}
    operations = {f.operation: f for f in functions if f.symbol.startswith("cuda_")}
    return Header(source, operations, services, parser.constants)


def _prose(comment: str) -> str:
    lines = comment.removeprefix("/*").removesuffix("*/").removeprefix("//").splitlines()
    return "\n".join(re.sub(r"^\s*\*? ?", "", line).rstrip() for line in lines).strip()


class _Parser:
    """Recursive descent over the tokens; comments and directives are kept aside as they pass."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source
        self.tokens = tokenize(text, source)
        self.constants: dict[str, Constant] = {}
        self.family = self.comment = ""
        self.line = 1
        self.advance()

    def advance(self) -> Token | None:
        """Step to the next token that is code, and return the one before it."""
        passed = getattr(self, "next", None)
        for token in self.tokens:
            self.line = token.line
            if token.kind == "comment":
                section = _FAMILY.match(token.text)
                self.family = section[1] if section else self.family
                self.comment = "" if section else _prose(token.text)
            elif token.kind == "directive":
                self.constant(token.text.strip())
            else:
                self.next = token
                return passed
        self.next = replace(_END, line=self.line)
        return passed

    def constant(self, directive: str) -> None:
        self.comment = ""
        if found := _CONSTANT.match(directive):
            self.constants[found[1]] = Constant(found[1], int(found[2]), (found[3] or found[4] or "").strip())

    def fail(self, problem: str) -> NoReturn:
        raise HeaderError(self.source, self.next.line, problem)

    def take(self, *texts: str) -> bool:
        """Step over the next token if it is one of these."""
        if self.next.text not in texts:
            return False
        self.advance()
        return True

    def expect(self, text: str, where: str) -> None:
        if not self.take(text):
            self.fail(f"expected `{text}` {where}, found `{self.next.text}`")

    def word(self, what: str) -> str:
        if self.next.kind != "word":
            self.fail(f"expected {what}, found `{self.next.text}`")
        text = self.next.text
        self.advance()
        return text

    def function(self) -> Function:
        """int32_t SYMBOL(PARAMETERS) REQUIRES(...);"""
        line, doc, family = self.next.line, self.comment, self.family
        self.comment = ""
        self.expect("int32_t", "at the start of a declaration")
        symbol = self.word("the name of a function")
        if not symbol.startswith(("cuda_", "assayer_")):
            raise HeaderError(self.source, line, f"{symbol}: a function is named cuda_... or assayer_...")
        self.expect("(", f"after {symbol}")
        parameters = [self.parameter()]
        while self.take(","):
            parameters.append(self.parameter())
        self.expect(")", f"after the arguments of {symbol}")
        requires = tuple(map(self.expression, self.entries())) if self.take("REQUIRES") else ()
        self.expect(";", f"after the declaration of {symbol}")
        function = Function(symbol, tuple(parameters), requires, doc, family, line)
        if problem := problem_of(function):
            raise HeaderError(self.source, line, f"{symbol}: {problem}")
        return function

    def parameter(self) -> Parameter:
        """[const] TYPE [*[const]...] NAME ANNOTATIONS"""
        const = self.take("const")
        spelling = self.word("the type of an argument")
        if spelling not in _C_TYPES:
            self.fail(f"the type `{spelling}` is not in the table of element types")
        ctype, stars = ("const " if const else "") + spelling, 0
        while self.take("*"):
            stars += 1
            ctype += "*"
            if self.take("const"):
                ctype += " const"
        name = self.word("the name of an argument")
        element = _C_TYPES[spelling]
        given = const or stars == 0 or (stars == 1 and element == "void")
        return self.annotations(Parameter(name, element, stars, const, ctype, "in" if given else "out"))

    def annotations(self, parameter: Parameter) -> Parameter:
        """SHAPE(...), EACH(...), HOST, UPDATED, UPDATED_IF(...), WORKSPACE, WITHIN(...), BELOW(...) in any order."""
        found: dict[str, Any] = {}
        while self.next.kind == "word":
            match word := self.word("an annotation"):
                case "SHAPE":
                    found["shape"] = tuple(map(self.axis, self.entries()))
                case "EACH":
                    entries = self.entries()
                    if len(entries) != 2:
                        self.fail(f"{parameter.name}: EACH takes a count and the name of an array of sizes")
                    found["each"] = (entries[0], entries[1])
                case "HOST":
                    found["host"] = True
                case "UPDATED" | "WORKSPACE":
                    found["direction"] = word.lower()
                case "UPDATED_IF":
                    found |= {"direction": "updated", "updated_if": self.expression(*self.entries())}
                case "WITHIN" | "BELOW":
                    found["limit"] = (word, self.expression(*self.entries()))
                case _:
                    self.fail(f"{parameter.name}: `{word}` is no annotation")
        return replace(parameter, **found)

    def entries(self) -> list[str]:
        """Return the texts between the commas of (...)."""
        self.expect("(", "before the entries of an annotation")
        depth, entries, start = 0, [], self.next.start
        while depth or self.next.text not in {",", ")"}:
            if self.next.text in {";", "the end of the file"}:
                self.fail("this annotation does not end")
            depth += {"(": 1, ")": -1}.get(self.next.text, 0)
            self.advance()
            if not depth and self.next.text in {",", ")"}:
                entries.append(self.text[start : self.next.start].strip())
                if self.next.text == ",":
                    self.advance()
                    start = self.next.start
        if not entries:
            self.fail("an entry of this annotation is empty")
        self.advance()
        return entries

    def axis(self, text: str) -> Axis:
        inner = re.fullmatch(r"AT_LEAST\((.*)\)", text, re.S)
        return Axis(self.expression(inner[1] if inner else text), inner is not None)

    def expression(self, text: str, *more: str) -> Expression:
        if more:
            self.fail(f"expected one entry, found {1 + len(more)}")
        try:
            return Expression.read(text)
        except ValueError as error:
            self.fail(str(error))
