"""Prototypes and definitions in C, C++ and CUDA, in any spelling, with or without SHAPE."""

from __future__ import annotations

from collections.abc import Iterator

from bindings.header.elements import spellings
from bindings.header.tokens import Token, tokenize

from .model import OURS, Argument, Declaration, Type, special

_QUALIFIERS = {"const", "volatile", "restrict", "__restrict__", "__restrict", "struct", "enum", "register", "std", ":"}
_LONGEST = 4  # words of a type: unsigned long long int
_NUMBER_WORDS = {"signed", "unsigned", "short", "long", "int", "char"}


def read_c(text: str, source: str) -> list[Declaration]:
    """Return what the text declares or defines of the header's functions."""
    aliases: dict[str, Type] = {}
    found = []
    for statement in _statements(text, source):
        words = [token.text for token in statement]
        if words[0] == "typedef" and "(" not in words:
            alias = _argument(statement[1:], aliases)
            aliases[alias.name] = alias.type
        elif at := next((i for i, w in enumerate(words) if OURS.fullmatch(w) and words[i + 1 : i + 2] == ["("]), 0):
            found.append(_declaration(statement, at, aliases))
    return found


def _statements(text: str, source: str) -> Iterator[list[Token]]:
    """Yield what stands before each `;` or `{` outside function bodies; extern "C" and namespaces are no bodies."""
    statement: list[Token] = []
    depth = 0
    for token in tokenize(text, source):
        if token.kind in {"comment", "directive"}:
            continue
        if depth:
            depth += {"{": 1, "}": -1}.get(token.text, 0)
        elif token.text in {";", "{", "}"}:
            if statement:
                yield statement
            opens = token.text == "{" and not _is_room(statement)
            depth, statement = int(opens), []
        else:
            statement.append(token)


def _is_room(statement: list[Token]) -> bool:
    return bool(statement) and (
        statement[0].text == "namespace" or [token.text for token in statement] == ["extern", '"C"']
    )


def _declaration(statement: list[Token], at: int, aliases: dict[str, Type]) -> Declaration:
    arguments, entry, depth = [], list[Token](), 0
    for token in statement[at + 1 :]:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token.text, 0)
        if (token.text == "," and depth == 1) or depth == 0:
            arguments.append(entry)
            entry = []
        else:
            entry.append(token)
        if depth == 0:
            break
    arguments = [entry[1:] if index == 0 else entry for index, entry in enumerate(arguments)]
    given = [entry for entry in arguments if entry and [token.text for token in entry] != ["void"]]
    result = _argument(_result(statement[:at]), aliases)
    return Declaration(
        statement[at].text, tuple(_argument(entry, aliases) for entry in given), result, statement[at].line
    )


def _result(before: list[Token]) -> list[Token]:
    """Return the type that stands last before a function's name: what precedes it are macros and attributes."""
    kept: list[Token] = []
    for token in reversed(before):
        is_number = token.text in _NUMBER_WORDS
        if token.kind == "word" and not is_number and any(t.kind == "word" for t in kept):
            break
        if token.kind == "string" or token.text in {")", "]"}:
            break
        kept.insert(0, token)
    return kept


def _argument(tokens: list[Token], aliases: dict[str, Type]) -> Argument:
    """[const] TYPE [*...] [NAME] [= default] [ANNOTATIONS(...)]"""
    words, stars, const, depth = list[str](), 0, False, 0
    for token in tokens:
        depth += {"(": 1, ")": -1, "]": -1}.get(token.text, 0)
        if token.text == "=":
            break
        if token.text == "[":
            depth, stars = depth + 1, stars + 1
        elif depth or token.text in {")", "]"}:
            continue
        elif token.text == "*":
            stars += 1
        elif token.text == "const" and stars == 0:
            const = True
        elif token.kind == "word" and token.text not in _QUALIFIERS:
            words.append(token.text)
    return _typed(words, stars, const, aliases, _text(tokens))


def _typed(words: list[str], stars: int, const: bool, aliases: dict[str, Type], text: str) -> Argument:
    """Take the longest run of words that is a type; the next word is the name."""
    for length in range(min(len(words), _LONGEST), 0, -1):
        spelling = words[:length]
        known = _C_TYPES.get(" ".join(sorted(_shortest(spelling))))
        name = words[length] if len(words) > length else ""
        if known:
            return Argument(Type(known, stars, const), text, name)
        if length == 1 and (alias := aliases.get(words[0]) or special(words[0])):
            return Argument(Type(alias.element, alias.stars + stars, const or alias.const), text, name)
    return Argument(Type(words[0] if words else "", stars, const), text, words[1] if len(words) > 1 else "")


def _shortest(spelling: list[str]) -> list[str]:
    """Return a C type without the words that add nothing: `signed int` is int, `long int` long."""
    if "char" not in spelling:
        spelling = [word for word in spelling if word != "signed"] or ["int"]
    if {"long", "short", "unsigned"} & set(spelling):
        spelling = [word for word in spelling if word != "int"]
    return spelling


def _text(tokens: list[Token]) -> str:
    text = " ".join(token.text for token in tokens)
    for mark in ("*", "[", "]", "(", ")", ","):
        text = text.replace(f" {mark}", mark)
    return text


_C_TYPES = {" ".join(sorted(_shortest(words.split()))): name for words, name in spellings("c").items()}
