"""The part of a line that a mutant writes otherwise, made as wide as an expression."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .mutator import Mutant

_TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|\w+(?:\.\w*)?'
    r"|<<<|>>>|<<=|>>=|->|::|[-+*/%&|^<>=!]=|&&|\|\||\+\+|--|<<|>>|\s+|."
)
_OPENS, _CLOSES = "([{", ")]}"
_ASSIGNS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})
_BETWEEN = frozenset({",", ";", "return", "<<<", ">>>", *_ASSIGNS})  # the brackets of a launch among them
_TEMPLATE = re.compile(r"\w<(?=[\w:(])|(?<=[\w)*&])>(?=[\w(:{;,>)])")  # a bracket, which has no blanks around it


class Span(NamedTuple):
    """Characters of a line, from and to, and what stands in their place."""

    start: int
    stop: int
    after: str


def balanced(code: str) -> str:
    """Return the brackets of a line that neither open nor close in it: "" of a whole statement."""
    left: list[str] = []
    for token in _tokens(code):
        if token in _CLOSES and left and left[-1] == _OPENS[_CLOSES.index(token)]:
            left.pop()
        elif token in _OPENS or token in _CLOSES:
            left.append(token)
    return "".join(left)


def tokens_outside(code: str) -> list[str]:
    """Return the tokens of a line that stand in no bracket."""
    outside, depth = [], 0
    for token in _tokens(code):
        depth -= token in _CLOSES
        outside += [token] if depth == 0 else []
        depth += token in _OPENS
    return outside


def _tokens(code: str) -> list[str]:
    return _TOKEN.findall(code)


def span_of(before: str, after: str) -> Span | None:
    """Return the expression in which two lines differ; None where that is none, or one of the compiler's constants."""
    old, new = _tokens(before), _tokens(after)
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    end = next((at for at in range(shorter - start) if old[-1 - at] != new[-1 - at]), shorter - start)
    stop = len(old) - end
    while True:
        start, stop = _closed(old, start, stop)
        low, high = _out(old, start, -1), _out(old, stop - 1, 1)
        text, instead = "".join(old[low:high]), "".join(new[low : high + len(new) - len(old)])
        if _is_one(text) and _is_one(instead):
            break
        if low == 0 and high == len(old):
            return None
        start, stop = max(low - 1, 0), min(high + 1, len(old))
    if not text.strip() or not instead.strip() or _is_no_expression(text) or _is_no_expression(instead):
        return None
    if _is_size(old, low) or _begins_statement(old, low, text):
        return None
    first = len("".join(old[:low]))
    return Span(first, first + len(text), instead)


def _is_one(text: str) -> bool:
    """Whether brackets close in a text, and no comma stands outside of them."""
    depth = 0
    for token in _tokens(text):
        depth += (token in _OPENS) - (token in _CLOSES)
        if depth == 0 and token == ",":
            return False
    return balanced(text) == ""


def _closed(tokens: Sequence[str], start: int, stop: int) -> tuple[int, int]:
    """Places from which on, and up to which, every bracket closes that opens between two places, where that is so."""
    while stop < len(tokens) and set(_OPENS) & {*balanced("".join(tokens[start:stop]))}:
        stop += 1
    while start > 0 and set(_CLOSES) & {*balanced("".join(tokens[start:stop]))}:
        start -= 1
    return start, stop


def _out(tokens: Sequence[str], at: int, step: int) -> int:
    """Go outwards to a separator or an open bracket; return the boundary."""
    depth, opens, closes = 0, *((_CLOSES, _OPENS) if step < 0 else (_OPENS, _CLOSES))
    at += step
    while 0 <= at < len(tokens):
        token = tokens[at]
        if token in opens:
            depth += 1
        elif token in closes:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and token in _BETWEEN:
            break
        at += step
    return at + 1 if step < 0 else at


def _is_no_expression(text: str) -> bool:
    """Whether a text holds a statement, a list in braces, or half of a template's brackets."""
    bare = text.strip()
    brackets = _TEMPLATE.findall(bare)
    opened = sum(bracket.endswith("<") for bracket in brackets)
    return bool(re.search(r"[;{}]|,\s*$", bare)) or opened * 2 != len(brackets) or bare in ("this", "const")


def _is_size(tokens: Sequence[str], start: int) -> bool:
    """Whether an expression is the size of an array that is declared, or an argument of a template."""
    before = "".join(tokens[:start])
    return bool(re.search(r"^(?:const )?[\w:]+(?:<[^=]*>)? [*&]?\w+\[[^=]*$", before.strip())) or (
        len(re.findall(r"\w<(?=[\w:(]|$)", before)) > len(re.findall(r"(?<=[\w)*&])>(?=[\w(:{;,>)\s])", before))
    )


def _begins_statement(tokens: Sequence[str], start: int, text: str) -> bool:
    """Whether an expression is what declares a name."""
    is_first = not "".join(tokens[:start]).strip() or "".join(tokens[:start]).rstrip()[-1] in ";{}"
    declared = re.match(r"(?:const\s+)?[\w:]+(?:<.*>)?[\s*&]+(?:const\s+)?\w+\s*(?:[=({\[,;]|$)", text.strip())
    return is_first and declared is not None


def chosen(
    code: str, spans: Mapping[Mutant, Span], conditions: Mapping[Mutant, str]
) -> list[tuple[str, Mutant | None]]:
    """Return a line in which each mutant's expression stands where its condition holds, in a line of its own."""
    parts: list[tuple[str, Mutant | None]] = []
    at = 0
    for start, stop in _outermost(spans.values()):
        parts.append((f"{code[at:start]} (", None))
        for mutant, span in spans.items():
            if start <= span.start and span.stop <= stop:
                after = code[start : span.start] + span.after + code[span.stop : stop]
                parts.append((f"{conditions[mutant]} ? ({after}) :", mutant))
        parts.append((f"({code[start:stop]}))", None))
        at = stop
    return [*parts, (code[at:], None)]


def _outermost(spans: Iterable[Span]) -> list[tuple[int, int]]:
    """Where spans begin and end that lie in no other one; they nest or lie apart."""
    found: list[tuple[int, int]] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.stop)):
        if not found or span.start >= found[-1][1]:
            found.append((span.start, span.stop))
    return found
