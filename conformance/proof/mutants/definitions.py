"""The definitions of a C or CUDA source: where each begins, its names, and what it mentions."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cached_property

from .source import without_comments

# What begins no definition: directives, the end of one, and blocks around several.
_NO_START = re.compile(r"\s|[{}]|$|namespace\b|extern \"C\"|#(?!define)")
_HIDDEN = re.compile(r"namespace\s*\{")
_OPERATION = re.compile(r"\bint32_t\s+(HALF\()?cuda_(\w+?)\)?(_?##\w+)?\s*\(")
_MACRO = re.compile(r"#define (\w+)")
_TYPE = re.compile(r"(?:typedef )?(?:struct|union|class)(?: (?:alignas|__\w+__)\([^)]*\))? (\w+)\s*[{;:]|using (\w+)")
_FUNCTION = re.compile(r"\b(?!__\w+__\b|alignas\b|NAME\b|HALF\b|enum\b)(\w+)\)?\s*[(=;\[{]")
_TEMPLATE = re.compile(r"template\s*<[^\n]*?>(?=\s+\w)")
_CONSTANT = re.compile(r"\b(\w+)\s*=(?!=)")
_CONSTANTS = re.compile(r"static const \w+ [^(){}]*;")  # of one type, as those of an enum
_NONE: frozenset[str] = frozenset()
_MADE = re.compile(r"(?!NAME\b|HALF\b)[A-Z][A-Z_]+\((\w+),")
_MAKER = re.compile(r"#define (\w+)\((\w+)((?:[^\n]*\\\n)*)")
_FILLS = re.compile(r"\bNAME\(fill_\w+\)\(struct \w+\* table\) *\{")  # the table by which other files call
_ARRAY = re.compile(r"\btable->(\w+)\[")  # of functions, which are called by their number
_MEMBER = re.compile(r"\btable->(\w+) = (\w+);")
_STATIC = re.compile(r"(?:[A-Z]+ )?static\b|INLINE\b")
_BODY = re.compile(r"\)\s*(?:const\s*|noexcept\s*)*\{")  # of a member function
_FUNCTION_POINTER = re.compile(r"\(\*\w+\)")
_FORMATS = ("_bf16", "_fp16")


@dataclass(frozen=True)
class Definition:
    """A function, macro, type or constant of a file: its first line, from 1, and its text."""

    file: str
    line: int
    text: str
    members: frozenset[tuple[str, str]] = frozenset()  # of the table that the file fills, with the functions
    pasted: frozenset[str] = frozenset()  # where a macro makes functions: what it pastes to their common name
    is_hidden: bool = False  # in a namespace without a name, or static and in no table: no other unit means it

    @cached_property
    def names(self) -> frozenset[str]:
        """What it is called; what is pasted together of a name and a format goes by the name, too."""
        text = _TEMPLATE.sub("", self.text).lstrip()
        found = _MACRO.match(text) or _TYPE.match(text) or _FUNCTION.search(text)
        names = {next(filter(None, found.groups()))} if found else set()
        several = text.startswith("enum") or _CONSTANTS.match(text)
        names |= {*_CONSTANT.findall(text)} if several else set()
        if self.pasted and (made := _MADE.match(text)):
            names = {made[1] + suffix for suffix in self.pasted}
        names |= {*_ARRAY.findall(text)} if _FILLS.search(text) else set()
        names |= {member for member, function in self.members if function in names}
        return frozenset(names | {name.removesuffix(format) for name in names for format in _FORMATS})

    @property
    def name(self) -> str:
        """What it is called, in a word."""
        return min(self.names, key=lambda name: (-len(name), name), default="")

    @cached_property
    def operations(self) -> frozenset[str]:
        """The operations that it is the entry of."""
        found = set()
        for in_16_bits, name, pasted in _OPERATION.findall(self.text):
            found |= {name} if not in_16_bits else set()
            found |= {name + format for format in _FORMATS} if in_16_bits or pasted else set()
        return frozenset(found)

    @cached_property
    def is_function(self) -> bool:
        """Whether it is a function, and neither macro, type nor constant."""
        text = _TEMPLATE.sub("", self.text).lstrip()
        found = None if _MACRO.match(text) or _TYPE.match(text) else _FUNCTION.search(text)
        return found is not None and found[0].endswith("(")

    @cached_property
    def is_record(self) -> bool:
        """Whether it is a type that holds members alone, which calls nothing, whatever they are called."""
        return _TYPE.match(self.text) is not None and not _BODY.search(self.text) and "=" not in self.text

    @property
    def is_service(self) -> bool:
        """Whether it is the entry of what a library does besides operations: memory, streams, facts."""
        return self.text.startswith("int32_t assayer_")

    @cached_property
    def mentions(self) -> frozenset[str]:
        """The names in its text; a table that has a function of a name as its member does not call it."""
        return frozenset(re.findall(r"\w+", _FUNCTION_POINTER.sub("", self.text)))


def definitions_of(file: str, text: str) -> list[Definition]:
    """Return the definitions of a file: each begins at the margin, outside of braces, and lasts until the next one."""
    code = without_comments(text)
    lines, fills = code.split("\n"), _FILLS.search(code) is not None
    made = {macro: _made(name, body) for macro, name, body in _MAKER.findall(code)} if fills else {}
    members = frozenset(_MEMBER.findall(code))
    is_alone = file.endswith(".c") and not fills
    starts, depth, continued, hidden = [], 0, False, False
    for place, line in enumerate(lines):
        if depth == 0 and not continued and not _NO_START.match(line):
            starts.append((place, hidden or (is_alone and _STATIC.match(line) is not None)))
        continued = line.endswith("\\") or line.startswith("template")
        if depth == 0 and line.startswith(("namespace", "}")):
            hidden = _HIDDEN.fullmatch(line.strip()) is not None
        if not line.startswith(("namespace", 'extern "C"', "#define")):
            depth = max(0, depth + line.count("{") - line.count("}"))
    spans = itertools.pairwise([*starts, (len(lines), False)])
    return [
        Definition(
            file,
            start + 1,
            (body := "\n".join(lines[start:stop])),
            members,
            made.get(body.partition("(")[0], _NONE),
            own,
        )
        for (start, own), (stop, _) in spans
    ]


def _made(name: str, body: str) -> frozenset[str]:
    """What a macro pastes to a name that it is given, nothing among it, where it makes functions."""
    return frozenset(re.findall(rf"\b{name}(?:##(\w+))?\(", body))
