"""Reads the header's text: comments become documentation, SHAPE and its like become data."""

from __future__ import annotations

import re
from typing import Any

from bindings.errors import HeaderError

from .cursor import Cursor
from .elements import spellings
from .expressions import Expression
from .macros import expand
from .records import Axis, Function, Header, Parameter, Strides
from .validate import problem_of

_C_TYPES = spellings("c")


def parse_header(text: str, source: str = "<text>") -> Header:
    """Read the text of a header.  Raises HeaderError naming source and line of the first thing it cannot read."""
    cursor = Cursor(expand(text, source), source)
    functions: dict[str, Function] = {}
    while cursor.next.kind != "end":
        if cursor.take("typedef"):
            cursor.skip_to(";")
            continue
        function = _function(cursor)
        if function.symbol in functions:
            raise HeaderError(source, function.line, f"{function.symbol} is declared twice")
        functions[function.symbol] = function
    operations = {f.operation: f for f in functions.values() if f.symbol.startswith("cuda_")}
    services = {s.removeprefix("assayer_"): f for s, f in functions.items() if s.startswith("assayer_")}
    return Header(source, operations, services, cursor.constants)


def _function(cursor: Cursor) -> Function:
    """int32_t SYMBOL(PARAMETERS) REQUIRES(...);"""
    line, doc, family = cursor.next.line, cursor.comment, cursor.family
    cursor.comment = ""
    cursor.expect("int32_t", "at the start of a declaration")
    symbol = cursor.word("the name of a function")
    if not symbol.startswith(("cuda_", "assayer_")):
        raise HeaderError(cursor.source, line, f"{symbol}: a function is named cuda_... or assayer_...")
    cursor.expect("(", f"after {symbol}")
    parameters = [_parameter(cursor)]
    while cursor.take(","):
        parameters.append(_parameter(cursor))
    cursor.expect(")", f"after the arguments of {symbol}")
    conditions = cursor.entries() if cursor.take("REQUIRES") else []
    requires = tuple(_expression(cursor, text) for text in conditions)
    cursor.expect(";", f"after the declaration of {symbol}")
    function = Function(symbol, tuple(parameters), requires, doc, family, line)
    if problem := problem_of(function):
        raise HeaderError(cursor.source, line, f"{symbol}: {problem}")
    return function


def _parameter(cursor: Cursor) -> Parameter:
    """[const] TYPE [* [const]]... NAME ANNOTATIONS"""
    const = cursor.take("const")
    spelling = cursor.word("the type of an argument")
    if spelling not in _C_TYPES:
        cursor.fail(f"the type `{spelling}` is not in the table of element types")
    ctype, stars = ("const " if const else "") + spelling, 0
    while cursor.take("*"):
        stars += 1
        ctype += "*"
        if cursor.take("const"):
            ctype += " const"
    name = cursor.word("the name of an argument")
    element = _C_TYPES[spelling]
    given = const or stars == 0 or (stars == 1 and element == "void")
    found: dict[str, Any] = {"direction": "in" if given else "out"} | _annotations(cursor, name)
    return Parameter(name, element, stars, const, ctype, **found)


def _annotations(cursor: Cursor, name: str) -> dict[str, Any]:
    """The words after a name, with their entries, in any order."""
    found: dict[str, Any] = {}
    while cursor.next.kind == "word":
        match word := cursor.word("an annotation"):
            case "SHAPE":
                found["shape"] = tuple(_axis(cursor, text) for text in cursor.entries())
            case "EACH":
                found["each"] = tuple(cursor.entries())
                if len(found["each"]) != 2:
                    cursor.fail(f"{name}: EACH takes a count and the name of an array of sizes")
            case "STRIDED":
                if len(entries := cursor.entries()) != 3:
                    cursor.fail(f"{name}: STRIDED takes the names of a shape, of strides and of an offset")
                found["strided"] = Strides(*entries)
            case "HOST" | "MOVING":
                found[word.lower()] = True
            case "UPDATED" | "WORKSPACE":
                found["direction"] = word.lower()
            case "UPDATED_IF":
                found |= {"direction": "updated", "read_if": _expression(cursor, *cursor.entries())}
            case "READ_IF":
                found["read_if"] = _expression(cursor, *cursor.entries())
            case "WITHIN" | "BELOW":
                found["limit"] = (word, _expression(cursor, *cursor.entries()))
            case _:
                cursor.fail(f"{name}: `{word}` is no annotation")
    return found


def _axis(cursor: Cursor, text: str) -> Axis:
    inner = re.fullmatch(r"(AT_LEAST|OR_ZERO)\((.*)\)", text, re.S)
    word, size = inner.groups() if inner else ("", text)
    return Axis(_expression(cursor, size), word == "AT_LEAST", word == "OR_ZERO")


def _expression(cursor: Cursor, text: str, *more: str) -> Expression:
    if more:
        cursor.fail(f"expected one entry, found {1 + len(more)}")
    try:
        return Expression.read(text)
    except ValueError as error:
        cursor.fail(str(error))
