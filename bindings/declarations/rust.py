"""Rust: functions in `extern "C"` blocks and definitions that are exported."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate, zip_longest
from typing import NamedTuple

from bindings.header.elements import spellings

from .model import Argument, Declaration, Type, special, split
from .places import Places

_TYPES = spellings("rust")
# In one pass: comments, and strings, in which nothing is a comment.  What does not end goes on to the end of the text.
_ASIDE = re.compile(
    r"""//[^\n]*
      | /\*.*?(?:\*/|\Z)
      | (?P<short>"[\w. -]*")
      | \br(?P<fence>\#*)".*?(?:"(?P=fence)|\Z)
      | "(?:\\.|[^"\\])*+(?:"|\Z)
      | '(?:\\.|[^'\\\n])'""",
    re.S | re.X,
)
_MARK = re.compile(r"[;{}(]|\bfn\s+(?P<name>\w+)")
_EXPORTED = re.compile(r'\b(?:export_name|link_name)\s*=\s*"((?:cuda|assayer)_\w+)"')
_BLOCK = re.compile(r'\bextern\s*(?:"C(?:-unwind)?"\s*)?\{')
_ABI = re.compile(r'\bextern\s*(?:"C(?:-unwind)?"\s*)?$')
_RESULT = re.compile(r"\s*->([^;{]*)")
_NOT_NEWLINE = re.compile(r"[^\n]")
_WHERE = re.compile(r"\bwhere\b")
_POINTERS = (
    (r"\*\s*const\s+(.+)", True),
    (r"\*\s*mut\s+(.+)", False),
    (r"&\s*(?:'\w+\s+)?mut\s+(.+)", False),
    (r"&\s*(?:'\w+\s+)?(.+)", True),
    (r"(?:\w+::)*NonNull\s*<(.+)>", False),
)
_ALIAS = re.compile(r"\btype\s+(\w+)\s*=([^;=]+);")


class Function(NamedTuple):
    """Where a function stands: what is said before its name, its name, the bracket of its arguments."""

    before: str
    name: str
    start: int
    opening: int


def read_rust(text: str, source: str) -> list[Declaration]:
    """Return what the text declares or defines of the header's functions; time grows as the text does."""
    text = _ASIDE.sub(lambda match: match["short"] or _NOT_NEWLINE.sub(" ", match[0]), text)
    places = Places(text)
    aliases = {name: type_of(written, {}) for name, written in _ALIAS.findall(text)}
    is_foreign = _foreign(text, places)
    functions = list(_functions(text))
    found = []
    for function, after in zip_longest(functions, functions[1:]):
        exported = _EXPORTED.search(function.before)
        symbol = exported[1] if exported else function.name
        if not symbol.startswith(("cuda_", "assayer_")):
            continue
        last = after.start if after else len(text)  # no function stands within the arguments of another
        end = min(places.closing(function.opening), last)
        is_c = is_foreign(function.start) or _ABI.search(function.before.rstrip())
        problem = "" if is_c else 'is not declared `extern "C"`'
        arguments = tuple(_argument(entry, aliases) for entry in split(text[function.opening + 1 : end]))
        result = _result(text[end + 1 : last], aliases)
        found.append(Declaration(symbol, arguments, result, places.line(function.start), problem))
    return found


def _functions(text: str) -> Iterator[Function]:
    """Yield every `fn NAME<...>(`, in one pass: each part of the text stands before one function at most."""
    begin, pending = 0, None
    for mark in _MARK.finditer(text):
        if mark["name"]:
            pending = (text[begin : mark.start()], mark)
            begin = mark.end()
        elif mark[0] == "(" and pending:
            before, named = pending
            generic = text[named.end() : mark.start()].strip()
            if not generic or (generic[0] == "<" and generic[-1] == ">"):
                yield Function(before, named["name"], named.start("name"), mark.start())
            pending = None
        elif mark[0] != "(":
            begin, pending = mark.end(), None


def _foreign(text: str, places: Places) -> Callable[[int], bool]:
    """Return what tells whether a place lies within an `extern "C" {` block."""
    starts = [match.end() for match in _BLOCK.finditer(text)]
    ends = list(accumulate((places.closing(start - 1) for start in starts), max))

    def is_foreign(position: int) -> bool:
        block = bisect_right(starts, position)
        return block > 0 and position < ends[block - 1]

    return is_foreign


def _argument(entry: str, aliases: dict[str, Type]) -> Argument:
    name, colon, written = entry.partition(":")
    name = name.removeprefix("mut ").strip().removeprefix("r#")
    if not colon or not re.fullmatch(r"\w+", name):
        return Argument(type_of(entry, aliases), entry)
    return Argument(type_of(written, aliases), entry, "" if name == "_" else name)


def _result(after: str, aliases: dict[str, Type]) -> Argument:
    match = _RESULT.match(after)
    if match is None:
        return Argument(Type("void"), "()")
    written = _WHERE.split(match[1], 1)[0].strip()
    return Argument(type_of(written, aliases), written)


def type_of(written: str, aliases: dict[str, Type]) -> Type:
    """Read `*const f32`, `&mut f32`, `Option<&f32>`, `std::ffi::c_void`, `Stream`."""
    written = re.sub(r"^Option\s*<(.*)>$", r"\1", " ".join(written.split()))
    for pattern, const in _POINTERS:
        if match := re.fullmatch(pattern, written):
            inner = type_of(match[1], aliases)
            return Type(inner.element, inner.stars + 1, inner.const if inner.stars else const)
    word = written.rpartition("::")[2]
    if word in aliases:
        return aliases[word]
    return special(word) or Type(_TYPES.get(word, written))
