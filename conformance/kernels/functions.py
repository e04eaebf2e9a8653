"""Which functions a source of CUDA C++ defines, read off its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bindings import BindingError
from bindings.header.tokens import Token, tokenize
from conformance.builds import BuildError

from .sources import text_of

_NO_NAMES = {"__launch_bounds__", "__maxnreg__", "__attribute__", "__align__", "alignas", "decltype", "noexcept",
             "operator", "if", "for", "while", "switch", "return"}  # fmt: skip
_TYPES = {"int", "float", "double", "unsigned", "signed", "long", "short", "char", "bool", "void", "const", "size_t"}
_CLASSES = {"class", "struct", "union", "enum"}


@dataclass(frozen=True)
class Defined:
    """A function that a file defines: its name with its namespaces, its parameters as they were written."""

    name: str
    parameters: tuple[str, ...]
    file: Path
    line: int
    is_kernel: bool = False
    is_template: bool = False

    @property
    def bare(self) -> str:
        """The name without its namespaces."""
        return self.name.rpartition("::")[2]

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names, "" for one that has none."""
        return tuple(map(_name_of, self.parameters))

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.parameters)}) ({self.file.name}:{self.line})"


def functions(path: Path) -> list[Defined]:
    """Return the functions that a file defines outside of classes.  Raises BuildError for what is no C++."""
    try:
        tokens = [token for token in tokenize(text_of(path), path.name) if token.kind not in {"comment", "directive"}]
    except BindingError as error:
        raise BuildError(str(error)) from None
    return list(_functions(path, tokens))


def _functions(path: Path, tokens: Sequence[Token]) -> Iterator[Defined]:
    rooms: list[str] = []
    start = at = 0
    while at < len(tokens):
        text = tokens[at].text
        if text == "{":
            head = tokens[start:at]
            room = _room(head)
            if room is None:
                yield from _function(path, head, rooms)
                at = _closing(tokens, at)
            else:
                rooms.append(room)
        elif text == "}" and rooms:
            rooms.pop()
        start = at + 1 if text in {"{", "}", ";"} else start
        at += 1


def _room(head: Sequence[Token]) -> str | None:
    """The name of a namespace, "" of extern "C" and of a namespace without one; None for what is neither."""
    words = [token.text for token in head if token.text != "inline"]
    if words[:1] == ["namespace"]:
        return "".join(words[1:])
    return "" if words[:1] == ["extern"] and len(words) == 2 else None


def _function(path: Path, head: Sequence[Token], rooms: Sequence[str]) -> Iterator[Defined]:
    """The function whose body follows its head; nothing where it is a class's body, or an array's numbers."""
    words = [token.text for token in head]
    is_template = words[:1] == ["template"]
    begin = _closing(head, 1, "<", ">") + 1 if is_template and words[1:2] == ["<"] else 0
    if _CLASSES & {*words[begin : begin + 1]} and ")" not in words[begin:]:
        return
    for at in range(begin, len(words) - 1):
        if words[at + 1] == "(" and head[at].kind == "word":
            if words[at] not in _NO_NAMES:
                end = _closing(head, at + 1, "(", ")")
                name = "::".join([*filter(None, rooms), words[at]])
                yield Defined(
                    name, _parameters(head[at + 2 : end]), path, head[at].line, "__global__" in words, is_template
                )
                return
        elif words[at] == "=":
            return


def _closing(tokens: Sequence[Token], at: int, opens: str = "{", closes: str = "}") -> int:
    """Where the bracket at a place is closed; the end where none does."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place].text == opens) - (tokens[place].text == closes)
        depth -= 2 * (closes == ">" and tokens[place].text == ">>")
        if depth <= 0:
            return place
    return len(tokens) - 1


def _parameters(tokens: Sequence[Token]) -> tuple[str, ...]:
    """What stands between the commas outside all brackets."""
    found: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in "([{<") - (token.text in ")]}>")
        if token.text == "," and depth == 0:
            found.append([])
        else:
            found[-1].append(token.text)
    return tuple(_spelled(words) for words in found if words and words != ["void"])


def _spelled(words: Sequence[str]) -> str:
    text = " ".join(words)
    text = text.replace(": :", "::").replace(" *", "*").replace(" >", ">")
    return re.sub(r" ?(::|<|,|\[|\]) ?", r"\1", text)


def _name_of(parameter: str) -> str:
    words = re.findall(r"\w+", re.sub(r"\[.*|<.*>", "", parameter.partition("=")[0]))
    return words[-1] if len(words) > 1 and words[-1] not in _TYPES else ""
