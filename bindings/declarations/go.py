"""Go: cgo exports, C prototypes in a cgo preamble, and functions registered with purego."""

from __future__ import annotations

import re
from itertools import zip_longest

from bindings.header.elements import spellings

from .c import read_c
from .model import Argument, Declaration, Type, special, split
from .places import Places

_TYPES = spellings("go")
_TOKEN = re.compile(
    r"""/\*(?P<comment>.*?)(?:\*/|\Z)|//[^\n]*|"(?:\\.|[^"\\\n])*+"?|`[^`]*(?:`|\Z)|\w+|[^\s\w]""", re.S
)
# Behind the mark lines that are empty or hold another comment, as far as the next mark.
_EXPORT = re.compile(
    r"^//export[ \t]+(\w+)[ \t]*\n(?:[ \t]*(?://(?!export\b)[^\n]*)?\n)*+[ \t]*func[ \t]+\w+[ \t]*\(", re.M
)
_REGISTERED = re.compile(r'RegisterLibFunc\s*\(\s*&(?:\w+\.)*(\w+)\s*,[^,]+,\s*"((?:cuda|assayer)_\w+)"')
_VARIABLE = re.compile(r"\b(\w+)[ \t]+func[ \t]*\(")
_ALIAS = re.compile(r"^[ \t]*type[ \t]+(\w+)[ \t]*=?[ \t]*([\w.*]+)[ \t]*$", re.M)
_RESULT = re.compile(r"[ \t]*(\([^()]*\)|[\w.*]*)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.S)


def read_go(text: str, source: str) -> list[Declaration]:
    """Return what the text declares or defines of the header's functions; time grows as the text does."""
    places = Places(text)
    aliases = {name: type_of(written, {}) for name, written in _ALIAS.findall(text)}
    found = read_c(_preambles(text, places), source)
    exports = [match for match in _EXPORT.finditer(text) if match[1].startswith(("cuda_", "assayer_"))]
    for match, after in zip_longest(exports, exports[1:]):
        last = after.start() if after else len(text)  # no function stands within the arguments of another
        found.append(_function(places, match.end() - 1, last, match[1], aliases))
    variables = list(_VARIABLE.finditer(text))
    declared: dict[str, tuple[int, int]] = {}
    for variable, after in zip_longest(variables, variables[1:]):
        declared.setdefault(variable[1], (variable.end() - 1, after.start() if after else len(text)))
    for name, symbol in _REGISTERED.findall(text):
        if name in declared:
            found.append(_function(places, *declared[name], symbol, aliases))
    return found


def _preambles(text: str, places: Places) -> str:
    """Return the C of each comment that stands right before `import "C"`, on the lines where it stood."""
    kept: list[str] = []
    lines, comment, is_import = 1, None, False
    for token in _TOKEN.finditer(text):
        if token["comment"] is not None:
            comment, is_import = token, False
        elif token[0] == "import":
            is_import = True
        else:
            if token[0] == '"C"' and is_import and comment:
                start = places.line(comment.start("comment"))
                kept.append("\n" * (start - lines) + comment["comment"])
                lines = start + comment["comment"].count("\n")
            comment, is_import = None, False
    return "".join(kept)


def _function(places: Places, opening: int, last: int, symbol: str, aliases: dict[str, Type]) -> Declaration:
    end = min(places.closing(opening), last)
    rest = _RESULT.match(places.text, end + 1)
    written = rest[1].strip("() \t") if rest else ""
    result = Argument(type_of(written.split()[-1], aliases) if written else Type("void"), written or "nothing")
    code = _COMMENT.sub("", places.text[opening + 1 : end])
    return Declaration(symbol, tuple(_arguments(split(code), aliases)), result, places.line(opening))


def _arguments(entries: list[str], aliases: dict[str, Type]) -> list[Argument]:
    """Names may share a type (`a, b unsafe.Pointer`), or be left out altogether."""
    named = any(" " in entry for entry in entries)
    found: list[Argument] = []
    written = ""
    for entry in reversed(entries):
        name, _, own = entry.partition(" ") if named else ("", "", entry)
        written = own or written
        found.insert(0, Argument(type_of(written, aliases), f"{name} {written}".strip(), "" if name == "_" else name))
    return found


def type_of(written: str, aliases: dict[str, Type]) -> Type:
    """Read `unsafe.Pointer`, `*C.float`, `float32`, `uintptr`; Go does not tell const."""
    stars = len(written) - len(written.lstrip("*"))
    word = written[stars:].strip()
    if word == "unsafe.Pointer":
        return Type("void", stars + 1)
    if word in aliases:
        return Type(aliases[word].element, aliases[word].stars + stars)
    if known := special(word.removeprefix("C.")):
        return Type(known.element, known.stars + stars)
    return Type(_TYPES.get(word, word), stars)
