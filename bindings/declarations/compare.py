"""Compares declarations with the header: one sentence for each difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path

from bindings.header.read import read_header
from bindings.header.records import Function, Header, Parameter

from .model import Argument, Declaration, Type
from .read import DeclarationError, read_file

_RESULT = ("int32", 0)
_BYTES = {"char", "int8", "uint8"}


def compare(path: Path, header: Header | None = None) -> list[str]:
    """Return a sentence for each difference between a file of declarations and the header.

    Raises DeclarationError when it cannot be read, and when it declares none of the header's functions.
    """
    return [sentence for sentences in compare_each(path, header).values() for sentence in sentences]


def compare_each(path: Path, header: Header | None = None) -> dict[str, list[str]]:
    """Return, for each function that a file declares, a sentence for each difference.  Raises what `compare` does."""
    header = header or read_header()
    found = differences_of_each(read_file(path), header)
    known = _functions(header)
    if known.keys().isdisjoint(found):
        strangers = f", got {', '.join(sorted(found)[:3])}" if found else ""
        raise DeclarationError(f"{path}: declares none of the header's {len(known)} functions{strangers}")
    return found


def differences(declarations: Iterable[Declaration], header: Header | None = None) -> list[str]:
    """Return a sentence for each difference, in the order of the declarations."""
    each = differences_of_each(declarations, header or read_header())
    return [sentence for sentences in each.values() for sentence in sentences]


def differences_of_each(declarations: Iterable[Declaration], header: Header) -> dict[str, list[str]]:
    """Return the differences by symbol, in the order of the declarations; no sentence where one agrees."""
    functions = _functions(header)
    found: dict[str, dict[str, None]] = {}
    for declaration in declarations:
        sentences = found.setdefault(declaration.symbol, {})
        function = functions.get(declaration.symbol)
        words = _of_function(declaration, function) if function else [_unknown(declaration.symbol, functions)]
        sentences |= {f"{declaration.symbol}: {said}": None for said in words}
    return {symbol: list(sentences) for symbol, sentences in found.items()}


def _functions(header: Header) -> dict[str, Function]:
    return {f.symbol: f for f in (*header.operations.values(), *header.services.values())}


def _unknown(symbol: str, functions: Iterable[str]) -> str:
    near = get_close_matches(symbol, functions, 1)
    return "the header has no such function" + (f"; did you mean {near[0]}?" if near else "")


def _of_function(declaration: Declaration, function: Function) -> Iterator[str]:
    if declaration.problem:
        yield declaration.problem
    if (declaration.result.type.element, declaration.result.type.stars) != _RESULT:
        yield f"returns `{declaration.result.text}`, the header has `int32_t`"
    given, due = declaration.arguments, function.parameters
    pairs = list(enumerate(zip(given, due, strict=False), start=1))
    if len(given) != len(due):
        first = next((number for number, (a, p) in pairs if not _fits(a.type, p)), len(pairs) + 1)
        yield f"has {_count(len(given))}, the header {len(due)}: {_missing(first, given, due)}"
        return
    for number, (argument, parameter) in pairs:
        if not _fits(argument.type, parameter):
            note = f": {argument.note}" if argument.note else ""
            yield f"argument {number} is `{argument.text}`, the header has `{parameter.declaration}`{note}"
        elif place := _place(argument, number, function):
            meant = due[place - 1].declaration
            yield f"argument {number} is named `{argument.name}`, the header has `{meant}` as argument {place}"


def _count(arguments: int) -> str:
    return f"{arguments} argument{'' if arguments == 1 else 's'}"


def _missing(first: int, given: tuple[Argument, ...], due: tuple[Parameter, ...]) -> str:
    """Name the first place where two lists of different lengths part."""
    here = f"`{given[first - 1].text}`" if first <= len(given) else "nothing"
    there = f"`{due[first - 1].declaration}`" if first <= len(due) else "nothing"
    return f"argument {first} is {here} where the header has {there}"


def _fits(type: Type, parameter: Parameter) -> bool:
    """Whether a type is the header's, as far as the language tells: an untyped pointer fits every pointer."""
    if parameter.is_scalar:
        return (type.element, type.stars) == (parameter.element, 0)
    told = type.const is None or type.const == parameter.const or parameter.name == "stream"
    if type == Type("uint64"):  # uintptr_t, uintptr and the like are passed as addresses are
        return True
    untyped = type.element == "void" and 1 <= type.stars <= parameter.stars
    bits = type.element == "uint16" and parameter.type.is_half
    alike = type.element == parameter.element or bits or {type.element, parameter.element} <= _BYTES
    return told and (untyped or (alike and type.stars == parameter.stars))


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _place(argument: Argument, number: int, function: Function) -> int | None:
    """Return the place of the header's argument of that name, where it is another one: two were swapped."""
    names = [_plain(parameter.name) for parameter in function.parameters]
    name = _plain(argument.name)
    return names.index(name) + 1 if names.count(name) == 1 and names[number - 1] != name else None
