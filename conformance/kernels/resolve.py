"""Which function of theirs each entry of a map means, and whether its arguments can be the ones that it takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from bindings.header.read import read_header
from bindings.header.records import Function

from .entry import Entry, MapError
from .functions import Defined

TRANSPOSED = re.compile(r"transposed\(\s*(\w+)\s*\)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_KNOWN = {"nullptr", "true", "false", "NULL"}
_NAMED = 6  # functions that a sentence lists
_ALIKE = 0.6  # of a function's name and an operation's, by difflib's measure


def resolved(entry: Entry, defined: Sequence[Defined], words: frozenset[str]) -> tuple[Entry, Defined]:
    """Return the entry with all its arguments, and the function that it means.

    defined: the functions of all files.  words: every word that stands in them.  Raises MapError.
    """
    found = _meant(entry, defined)
    if entry.arguments is None:
        return replace(entry, arguments=_by_name(entry, found)), found
    if len(entry.arguments) != len(found.parameters) and not any("=" in text for text in found.parameters):
        expected = f"expected an entry for each of the {len(found.parameters)} parameters of {found}"
        raise MapError(f"{entry.where}.arguments: {expected}, got {len(entry.arguments)}")
    for place, text in enumerate(entry.arguments):
        _check(entry, f"arguments[{place}] ({found.parameters[place]})", text, words)
    for key, texts in (("grid", entry.grid), ("block", entry.block), ("shared", (entry.shared,))):
        for text in texts:
            _check(entry, key, text, words)
    return entry, found


def _meant(entry: Entry, defined: Sequence[Defined]) -> Defined:
    """The function of the name; of overloads the one with as many parameters as there are arguments."""
    name = re.sub(r"\s*<.*", "", entry.called)
    named = [one for one in defined if one.name == name] or [one for one in defined if one.bare == name]
    kind = "kernel (__global__)" if entry.is_launch else "function of the host"
    fit = [one for one in named if one.is_kernel == entry.is_launch]
    if not fit:
        got = (
            f"{named[0]}, which is {'no kernel' if entry.is_launch else 'a kernel'}" if named else _near(name, defined)
        )
        raise MapError(f"{entry.where}.{entry.key}: expected a {kind} that the files define, got {name!r}: {got}")
    if fit[0].is_template and "<" not in entry.called:
        expected = f"expected the arguments of the template too, such as {name}<float>"
        raise MapError(f"{entry.where}.{entry.key}: {expected}, got {name}: {fit[0]}")
    count = len(entry.arguments or ())
    return next((one for one in fit if len(one.parameters) == count), fit[0])


def _near(name: str, defined: Sequence[Defined]) -> str:
    names = list(dict.fromkeys(one.name for one in defined))
    near = get_close_matches(name, names, 1)
    return f"did you mean {near[0]}?" if near else f"there is {listed(names)}"


def listed(names: Sequence[str]) -> str:
    """Return the first names and how many more there are."""
    rest = len(names) - _NAMED
    return (", ".join(names[:_NAMED]) or "no function at all") + (f" and {rest} more" if rest > 0 else "")


def _by_name(entry: Entry, found: Defined) -> tuple[str, ...]:
    """The arguments of a function whose parameters all have names of the header's."""
    strange = [name or "one without a name" for name in found.names if name not in entry.function.by_name]
    if strange:
        expected = f"expected an entry for each parameter of {found}"
        theirs = f"{', '.join(strange)}: no argument of {signature(entry.function)}"
        raise MapError(f"{entry.where}.arguments: {expected}, got none, and by name they cannot be told: {theirs}")
    return found.names


def signature(function: Function) -> str:
    """Return a function of the header with the names of its arguments."""
    return f"{function.symbol}({', '.join(function.by_name)})"


def _check(entry: Entry, key: str, text: str, words: frozenset[str]) -> None:
    """Raise MapError for an expression with a word that nobody knows, and for an array that cannot be transposed."""
    arguments = entry.function.by_name
    turned = TRANSPOSED.fullmatch(text)
    if "transposed" in text and not turned:
        raise MapError(f"{entry.where}.{key}: expected transposed(NAME) by itself, got {text!r}")
    if turned and (turned[1] not in arguments or len(arguments[turned[1]].shape) < 2):
        held = [name for name, one in arguments.items() if len(one.shape) >= 2]
        expected = f"expected transposed(NAME) of an array of two axes or more ({listed(held)})"
        raise MapError(f"{entry.where}.{key}: {expected}, got {text!r}")
    bare = text if not turned else turned[1]
    if not _NAME.fullmatch(bare) or bare in arguments or bare in _KNOWN or bare in words:
        return
    near = get_close_matches(bare, arguments, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    expected = f"expected an argument of {signature(entry.function)}, a number, or an expression"
    raise MapError(f"{entry.where}.{key}: {expected}, got {text!r}{hint}")


def draft(defined: Sequence[Defined]) -> str:
    """Return what a map could look like, by the function that is named most like an operation; "" where none is."""
    operations = read_header().operations
    bare = {name.replace("_", ""): name for name in operations}
    for one in defined:
        plain = one.bare.replace("_", "").lower()
        inside = sorted((name for name in bare if name in plain), key=len)
        near = inside[-1:] or get_close_matches(plain, bare, 1, _ALIKE)
        if near:
            return _drafted(operations[bare[near[0]]], one)
    return ""


def _drafted(function: Function, one: Defined) -> str:
    form = "<float>" if one.is_template else ""
    arguments = ", ".join(f'"{name}"' if name in function.by_name else '"..."' for name in one.names)
    lines = [f"[{function.operation}]    # {signature(function)}"]
    lines += [f'{"kernel" if one.is_kernel else "call"} = "{one.name}{form}"    # {one}']
    lines += ['grid = "rows"', "block = 256"] if one.is_kernel else []
    return "\n".join([*lines, f"arguments = [{arguments}]"])
