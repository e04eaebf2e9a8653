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
_CONSTANT = re.compile(r"\b(\w+)\s*=(?!=)")  # of an enum
_FUNCTION_POINTER = re.compile(r"\(\*\w+\)")
_FORMATS = ("_bf16", "_fp16")


@dataclass(frozen=True)
class Definition:
    """A function, macro, type or constant of a file: its first line, from 1, and its text."""

    file: str
    line: int
    text: str
    is_hidden: bool = False  # in a namespace without a name: no other unit means it

    @cached_property
    def names(self) -> frozenset[str]:
        """What it is called; what is pasted together of a name and a format goes by the name, too."""
        text = _TEMPLATE.sub("", self.text).lstrip()
        found = _MACRO.match(text) or _TYPE.match(text) or _FUNCTION.search(text)
        names = {next(filter(None, found.groups()))} if found else set()
        names |= {*_CONSTANT.findall(text)} if text.startswith("enum") else set()
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
    lines = without_comments(text).split("\n")
    starts, depth, continued, hidden = [], 0, False, False
    for place, line in enumerate(lines):
        if depth == 0 and not continued and not _NO_START.match(line):
            starts.append((place, hidden))
        continued = line.endswith("\\") or line.startswith("template")
        if depth == 0 and line.startswith(("namespace", "}")):
            hidden = _HIDDEN.fullmatch(line.strip()) is not None
        if not line.startswith(("namespace", 'extern "C"', "#define")):
            depth = max(0, depth + line.count("{") - line.count("}"))
    spans = itertools.pairwise([*starts, (len(lines), False)])
    return [Definition(file, start + 1, "\n".join(lines[start:stop]), own) for (start, own), (stop, _) in spans]
