"""Rust: functions in `extern "C"` blocks and definitions that are exported."""

from __future__ import annotations

import re

from bindings.header.elements import spellings

from .model import Argument, Declaration, Type, closing, line_of, special, split

_TYPES = spellings("rust")
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|(?P<kept>"(?:\\.|[^"\\])*")', re.S)
_FUNCTION = re.compile(r"(?P<before>[^;{}]*?)\bfn\s+(?P<name>\w+)\s*(?:<[^(]*>)?\s*\(")
_EXPORTED = re.compile(r'\b(?:export_name|link_name)\s*=\s*"((?:cuda|assayer)_\w+)"')
_BLOCK = re.compile(r'\bextern\s*(?:"C(?:-unwind)?"\s*)?\{')
_ABI = re.compile(r'\bextern\s*(?:"C(?:-unwind)?"\s*)?$')
_POINTERS = (
    (r"\*\s*const\s+(.+)", True),
    (r"\*\s*mut\s+(.+)", False),
    (r"&\s*(?:'\w+\s+)?mut\s+(.+)", False),
    (r"&\s*(?:'\w+\s+)?(.+)", True),
    (r"(?:\w+::)*NonNull\s*<(.+)>", False),
)
_ALIAS = re.compile(r"\btype\s+(\w+)\s*=\s*([^;]+);")


def read_rust(text: str, source: str) -> list[Declaration]:
    """Return what the text declares or defines of the header's functions."""
    text = _COMMENT.sub(lambda match: match["kept"] or re.sub(r"[^\n]", " ", match[0]), text)
    aliases = {name: type_of(written, {}) for name, written in _ALIAS.findall(text)}
    blocks = [(match.end(), closing(text, match.end() - 1)) for match in _BLOCK.finditer(text)]
    found = []
    for match in _FUNCTION.finditer(text):
        exported = _EXPORTED.search(match["before"])
        symbol = exported[1] if exported else match["name"]
        if not symbol.startswith(("cuda_", "assayer_")):
            continue
        end = closing(text, match.end() - 1)
        foreign = any(start <= match.start("name") < stop for start, stop in blocks)
        problem = "" if foreign or _ABI.search(match["before"].rstrip()) else 'is not declared `extern "C"`'
        arguments = tuple(_argument(entry, aliases) for entry in split(text[match.end() : end]))
        line = line_of(text, match.start("name"))
        found.append(Declaration(symbol, arguments, _result(text[end + 1 :], aliases), line, problem))
    return found


def _argument(entry: str, aliases: dict[str, Type]) -> Argument:
    name, colon, written = entry.partition(":")
    name = name.removeprefix("mut ").strip().removeprefix("r#")
    if not colon or not re.fullmatch(r"\w+", name):
        return Argument(type_of(entry, aliases), entry)
    return Argument(type_of(written, aliases), entry, "" if name == "_" else name)


def _result(after: str, aliases: dict[str, Type]) -> Argument:
    match = re.match(r"\s*->\s*([^;{]+?)\s*(?:\bwhere\b|[;{]|$)", after)
    return Argument(type_of(match[1], aliases), match[1]) if match else Argument(Type("void"), "()")


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
