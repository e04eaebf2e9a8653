"""Functions of the header's names that call somebody's own: CUDA C++, which stands behind theirs in the same file.

There it reaches whatever they define: names that C++ mangles, hidden and static functions, kernels, templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from bindings.header.records import Function, Parameter

from .entry import Entry, MapError
from .resolve import TRANSPOSED

_STREAM = "stream"


def wrapper(file: str, number: int, entries: Sequence[Entry]) -> str:
    """Return the source that is compiled in the place of one of theirs: it includes the file, and calls from behind it.

    file: as the compiler finds it.  Their main() is theirs: a library has none.
    """
    main = f"assayer_main_of_{number}"
    lines = ['#include "glue.cuh"', f"#define main {main}", f'#include "{file}"', "#undef main"]
    for entry in entries:
        lines += ["namespace assayer_glue {", *_function(entry), "}"]
    return "\n".join([*lines, ""])


def _function(entry: Entry) -> Iterator[str]:
    """One function; every line counts as the line of the map that it comes from, so that compilers name that."""
    function = entry.function
    body = [*_body(entry)]
    declared = f"ASSAYER_GLUE {function.symbol}({', '.join(p.declaration for p in function.parameters)}) {{"
    silent = "".join(f" static_cast<void>({p.name});" for p in function.parameters)
    for line in (declared + silent, *body, "}"):
        if entry.source:
            yield f'#line {entry.line} "{entry.source.name}"'
        yield line


def _body(entry: Entry) -> Iterator[str]:
    arguments = entry.arguments or ()
    copies = _copies(entry)
    waits = bool(copies) or not (entry.is_launch or _STREAM in _words(arguments))
    if waits:
        yield f"if (const int32_t code = before({_STREAM})) return code;"
    yield from copies.values()
    given = ", ".join(_given(entry, text, copies) for text in arguments)
    call = f"::{entry.called}{_configuration(entry)}({given})"
    made = f"code_of_call([&] {{ {call if entry.is_launch else f'return {call}'}; }})"
    yield f"int32_t code = {f'after({made})' if waits else made};"
    for name in copies:
        yield f"if (const int32_t last = code_of({_copy_of(name)}.finish())) code = code ? code : last;"
    yield "return code;"


def _configuration(entry: Entry) -> str:
    if not entry.is_launch:
        return ""
    sizes = [f"dim3({', '.join(f'static_cast<unsigned>({_wide(entry, text)})' for text in axes)})"
             for axes in (entry.grid, entry.block)]  # fmt: skip
    shared = f"static_cast<size_t>({_wide(entry, entry.shared)})"
    return f"<<<{', '.join([*sizes, shared, f'static_cast<cudaStream_t>({_STREAM})'])}>>>"


def _given(entry: Entry, text: str, copies: dict[str, str]) -> str:
    """One argument as the call gets it: an array becomes whatever pointer the parameter is."""
    turned = TRANSPOSED.fullmatch(text)
    name = turned[1] if turned else text
    return f"{_copy_of(name)}.given()" if name in copies else f"given({_wide(entry, text)})"


def _wide(entry: Entry, text: str) -> str:
    """An expression in which whole numbers are of 64 bits: a product of two sizes does not overflow."""
    if re.fullmatch(r"\w+", text):
        return text
    whole = [p.name for p in entry.function.parameters if p.is_scalar and p.type.is_integer]
    return re.sub(r"\b[A-Za-z_]\w*\b", lambda found: f"int64_t({found[0]})" if found[0] in whole else found[0], text)


def _copies(entry: Entry) -> dict[str, str]:
    """The declarations of arrays in another form, by name: transposed ones, and all for a function on host memory."""
    turned = {found[1] for text in entry.arguments or () if (found := TRANSPOSED.fullmatch(text))}
    named = _words(entry.arguments or ())
    arrays = [p for p in entry.function.parameters if p.name in named and (p.is_array or p.is_list)]
    wanted = [p for p in arrays if p.name in turned or entry.on_host]
    return {p.name: _copy(entry, p, p.name in turned) for p in wanted}


def _copy(entry: Entry, parameter: Parameter, turned: bool) -> str:
    sizes = [_size(entry, parameter, axis.size.text) for axis in parameter.shape]
    if parameter.is_list or not sizes:
        raise MapError(f"{entry.where}: expected arrays to copy or to transpose, got a list of them, {parameter.name}")
    if turned:
        matrices, rows, columns = " * ".join(sizes[:-2]) or "1", sizes[-2], sizes[-1]
    else:
        matrices, rows, columns = "1", "1", " * ".join(sizes)
    read = parameter.direction in {"in", "updated"}
    form = ", ".join(_true(flag) for flag in (turned, entry.on_host, read, parameter.written))
    element = parameter.ctype.replace("*", "").strip()
    declared = f"Copy<{element}> {_copy_of(parameter.name)}({parameter.name}, {matrices}, {rows}, {columns}"
    return f"{declared}, {{{form}}}, {_STREAM});"


def _size(entry: Entry, parameter: Parameter, text: str) -> str:
    unknown = [name for name in re.findall(r"[A-Za-z_]\w*", text) if name not in entry.function.by_name]
    if unknown:
        problem = f"{entry.function.symbol} is not told how large {parameter.name} is ({unknown[0]})"
        raise MapError(f"{entry.where}: expected an array that can be copied: {problem}")
    return f"({_wide(entry, f'({text})')})"


def _copy_of(name: str) -> str:
    return f"copy_of_{name}"


def _true(flag: bool) -> str:
    return "true" if flag else "false"


def _words(texts: Sequence[str]) -> set[str]:
    return {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}


def by_header(function: Function, called: str) -> Entry:
    """Return the entry of a function that has the header's name and arguments, and cannot be found by its symbol."""
    return Entry(function, called, tuple(function.by_name))


def included(file: Path, root: Path) -> str:
    """Return how a wrapper names a file."""
    return file.relative_to(root).as_posix()
