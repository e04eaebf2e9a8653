"""Writes the header's declarations in other languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from bindings.header.elements import ELEMENTS
from bindings.header.records import Function, Header, Parameter

# Words of a language that a C argument may be named by.
_RUST_WORDS = frozenset(["as", "fn", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "ref", "type", "use"])
_GO_WORDS = frozenset(["chan", "defer", "func", "go", "import", "map", "package", "range", "select", "type", "var"])


def write(header: Header, language: str) -> str:
    """Return the declarations of every function of the header: language is one of LANGUAGES."""
    return LANGUAGES[language]((*header.operations.values(), *header.services.values()))


def _commented(function: Function, mark: str, indent: str = "") -> str:
    return "".join(f"{indent}{mark} {line}".rstrip() + "\n" for line in function.doc.splitlines())


def _c(functions: Iterable[Function]) -> str:
    body = "\n".join(_commented(f, "//") + f.declaration + "\n" for f in functions)
    types = "".join(f"typedef uint16_t {e.c[0]};\n" for e in ELEMENTS.values() if e.is_half)
    return f"#include <stdint.h>\n\n{types}\n{body}"


def _rust(functions: Iterable[Function]) -> str:
    body = "\n".join(_commented(f, "///", "    ") + f"    {_rust_function(f)}\n" for f in functions)
    head = "#![allow(non_snake_case)]\n\nuse std::ffi::{c_char, c_void};\n\n"
    return f'{head}unsafe extern "C" {{\n{body}}}\n'


def _rust_function(function: Function) -> str:
    arguments = ", ".join(f"{_rust_name(p.name)}: {_rust_type(p)}" for p in function.parameters)
    return f"pub fn {function.symbol}({arguments}) -> i32;"


def _rust_name(name: str) -> str:
    return f"r#{name}" if name in _RUST_WORDS else name


def _rust_type(parameter: Parameter) -> str:
    element = {"void": "c_void", "char": "c_char"}.get(parameter.element) or parameter.type.rust[0]
    if parameter.is_scalar:
        return element
    innermost = f"{'*const' if parameter.const else '*mut'} {element}"
    outer = "*mut" if parameter.element == "void" else "*const"  # a service puts an address out; a list stays as it is
    return innermost if parameter.stars == 1 else f"{outer} {innermost}"


def _go(functions: Iterable[Function]) -> str:
    functions = list(functions)
    variables = "\n".join(_commented(f, "//") + f"var {_go_name(f.symbol)} {_go_type_of(f)}\n" for f in functions)
    lines = (f'\tpurego.RegisterLibFunc(&{_go_name(f.symbol)}, library, "{f.symbol}")\n' for f in functions)
    head = 'package assayer\n\nimport (\n\t"unsafe"\n\n\t"github.com/ebitengine/purego"\n)\n\n'
    start = "\n// Register binds every function to an open library.\nfunc Register(library uintptr) {\n"
    return f"{head}{variables}{start}{''.join(lines)}}}\n"


def _go_name(symbol: str) -> str:
    return "".join(word.capitalize() for word in symbol.split("_"))


def _go_type_of(function: Function) -> str:
    names = (f"{p.name}_" if p.name in _GO_WORDS else p.name for p in function.parameters)
    arguments = ", ".join(f"{name} {_go_type(p)}" for name, p in zip(names, function.parameters, strict=True))
    return f"func({arguments}) int32"


def _go_type(parameter: Parameter) -> str:
    if parameter.element == "void":
        return "*" * (parameter.stars - 1) + "unsafe.Pointer"
    element = "byte" if parameter.element == "char" else parameter.type.go[0]
    return "*" * parameter.stars + element


def _ctypes(functions: Iterable[Function]) -> str:
    body = "".join(
        f"    library.{f.symbol}.argtypes = [{', '.join(map(_ctypes_type, f.parameters))}]\n"
        f"    library.{f.symbol}.restype = c_int32\n"
        for f in functions
    )
    names = sorted(set(re.findall(r"\bPOINTER|\bc_\w+", body)))
    return f"from ctypes import {', '.join(names)}\n\n\ndef declare(library):\n{body}"


def _ctypes_type(parameter: Parameter) -> str:
    if parameter.element in {"void", "char"}:
        name = {"void": "c_void_p", "char": "c_char_p"}[parameter.element]
        return f"POINTER({name})" if parameter.stars == 2 else name
    name = parameter.type.ctypes[0]
    for _ in range(parameter.stars):
        name = f"POINTER({name})"
    return name


LANGUAGES: dict[str, Callable[[Iterable[Function]], str]] = {"c": _c, "rust": _rust, "go": _go, "ctypes": _ctypes}
