"""Many mutants of a C or CUDA source in one text, each behind a switch that is read as the code runs.

Compiled once for many, a mutant costs what it takes to judge it (Untch, Offutt and Harrold 1993, "Mutation analysis
using mutant schemata").  A mutant of a whole statement becomes a branch beside what stands there, one of a part of a
line a choice between two expressions.  What is neither (a declaration, a constant of the compiler, a macro) is left
out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .mutator import Mutant
from .scopes import in_functions
from .source import Line, lines_of
from .spans import balanced, chosen, span_of, tokens_outside

SWITCH, REACHED = "assayer_mutant", "assayer_reached"  # the number in force; whether a mutant's place was come to
_DECLARED = f"extern int {SWITCH}; extern unsigned char {REACHED}[];"
_CONSTANT = re.compile(r"#|.*\b(?:constexpr|static_assert|static|template|using|typedef|case|__shared__|enum|struct)\b")
_WORDS = "return|else|goto|delete|throw|do|break|continue|if|for|while|switch"
_DECLARATION = re.compile(
    rf"(?!(?:{_WORDS})\b)(?:const\s+)?[\w:]+(?:<.*>)?(?:\s*\bconst\b)?[\s*&]+(?:const\s+)?\w+\s*[=;({{\[,]"
)
_COMMENT = re.compile(r"/\*.*?\*/")
_ELSE = re.compile(r"else\b\s*")
_FOLLOWS = re.compile(r"(?:[;{})]|\belse)$")  # what stands before a statement


@dataclass(frozen=True)
class Woven:
    """A text with mutants in it; of: the mutant whose code stands in a line, by the line's number from 1."""

    text: str
    of: Mapping[int, Mutant]

    @property
    def mutants(self) -> frozenset[Mutant]:
        """Those that could be woven."""
        return frozenset(self.of.values())


def woven(text: str, mutants: Iterable[Mutant], numbers: Mapping[Mutant, int]) -> Woven:
    """Return a source with mutants of it in one text; numbers: by which each is chosen, none of them 0."""
    lines, by_line = lines_of(text), _by_line(mutants)
    inside, written, of = in_functions([line.code for line in lines]), [_DECLARED], {}
    original = text.split("\n")
    place = 0
    while place < len(lines):
        some = by_line.get(place + 1, [])
        count = max((mutant.count for mutant in some), default=1)
        code = [line.code for line in lines[place : place + count]]
        is_free = some and not any(line.joint for line in lines[max(place - 1, 0) : place + count])
        before = _near(reversed(lines[:place])) if inside[place] else None
        if _ELSE.match(_near(lines[place + count :])):
            before = ""  # what an else belongs to is no statement by itself
        made = _line(" ".join(map(str.strip, code)), before, some, numbers) if is_free else None
        for part, mutant in made or [(line, None) for line in original[place : place + count]]:
            written.append(part)
            if mutant is not None:
                of[len(written)] = mutant
        place += count
    return Woven("\n".join(written), of)


def _by_line(mutants: Iterable[Mutant]) -> dict[int, list[Mutant]]:
    """Mutants by their first line; those of two lines where no other one is of either."""
    found: dict[int, list[Mutant]] = {}
    for mutant in sorted(mutants, key=lambda mutant: mutant.count):
        own = range(mutant.line, mutant.line + mutant.count)
        if mutant.count == 1 or (found.keys().isdisjoint(own) and not _is_covered(mutant.line, found)):
            found.setdefault(mutant.line, []).append(mutant)
    return found


def _is_covered(line: int, found: Mapping[int, Sequence[Mutant]]) -> bool:
    return any(mutant.count > 1 for mutant in found.get(line - 1, ()))


def _near(lines: Iterable[Line]) -> str:
    """The first code of some lines."""
    codes = (line.code.strip() for line in lines)
    return next((code for code in codes if code and not code.startswith("#")), "")


Parts = list[tuple[str, Mutant | None]]


def _line(code: str, before: str | None, mutants: Sequence[Mutant], numbers: Mapping[Mutant, int]) -> Parts | None:
    """A line with its mutants, in lines of their own; None where none can be woven.

    before: the code before it in the body of a function, None elsewhere.
    """
    possible = [mutant for mutant in mutants if _brackets(mutant.after) == _brackets(code)]
    if not possible or _CONSTANT.match(code):
        return None
    if before is not None and is_statement(code, before):
        return _branches(code, before, possible, numbers)
    if any(mutant.count > 1 for mutant in possible):
        return None
    spans = {mutant: span for mutant in possible if (span := span_of(code, mutant.after)) is not None}
    held = {mutant: span for mutant, span in spans.items() if before is not None or _is_held(code[: span.start])}
    return chosen(code, held, {mutant: in_force(numbers[mutant]) for mutant in held}) if held else None


def in_force(number: int) -> str:
    """Return the condition under which a mutant is in force; what asks it notes that it was asked."""
    return f"({REACHED}[{number}] = 1, {SWITCH} == {number})"


def _brackets(code: str) -> tuple[str, list[str]]:
    """What has to be the same of two lines so that the rest of the text can be read: a launch's brackets, too."""
    return balanced(code), re.findall(r"<<<=?|>>>=?", code)


def _is_held(begin: str) -> bool:
    """Whether a line begins so that what follows is in the body of a function."""
    return in_functions([begin, ""])[1]


def is_statement(code: str, before: str) -> bool:
    """Whether a line is one whole statement or several, none of which declares a name."""
    bare = _ELSE.sub("", code, count=1)
    if not (bare.endswith(";") and balanced(bare) == "" and _FOLLOWS.search(before)):
        return False
    return not bare.startswith("else") and not any(_DECLARATION.match(part.strip()) for part in bare.split(";"))


def _branches(code: str, before: str, mutants: Sequence[Mutant], numbers: Mapping[Mutant, int]) -> Parts | None:
    """A statement with its mutants as branches beside it.

    Of the body of an if or a loop that has no braces only one statement is the body: a second one runs in any case.
    """
    found = _ELSE.match(code)
    begin = found[0] if found else ""
    own, is_body = code[len(begin) :], bool(begin) or before[-1:] not in (";", "{", "}")
    if is_body and _statements(own) != 1:
        return None
    parts: Parts = [(f"{begin}{{", None)]
    for mutant in mutants:
        after = mutant.after[len(begin) :]
        if mutant.after.startswith(begin) and not (is_body and _statements(after) != 1):
            parts.append((f"if ({in_force(numbers[mutant])}) {{ {after} }} else", mutant))
    return [*parts, (f"{{ {own} }} }}", None)] if len(parts) > 1 else None


def _statements(code: str) -> int:
    """How many statements stand in a line outside of brackets; an if and its else are one."""
    tokens = tokens_outside(_COMMENT.sub("", code))
    return tokens.count(";") - tokens.count("else")
