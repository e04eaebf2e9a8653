"""Reads declarations from a file, by the language it is written in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bindings.errors import BindingError, LibraryError

from .c import read_c
from .go import read_go
from .model import Declaration
from .python import read_python
from .rust import read_rust

_READERS: dict[str, Callable[[str, str], list[Declaration]]] = {
    "c": read_c,
    "rust": read_rust,
    "go": read_go,
    "ctypes": read_python,
}
_SUFFIXES = {
    **dict.fromkeys((".h", ".hh", ".hpp", ".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh"), "c"),
    ".rs": "rust",
    ".go": "go",
    ".py": "ctypes",
    ".pyi": "ctypes",
}


class DeclarationError(BindingError, ValueError):
    """A file of declarations cannot be read."""


def read(text: str, language: str, source: str = "<text>") -> list[Declaration]:
    """Read declarations in "c" (C++ and CUDA too), "rust", "go" or "ctypes".  Raises DeclarationError."""
    try:
        return _READERS[language](text, source)
    except KeyError:
        raise DeclarationError(f"language: expected one of {', '.join(_READERS)}, got {language!r}") from None
    except (SyntaxError, RecursionError, BindingError) as error:
        raise DeclarationError(f"{source}: cannot be read as {language}: {error}") from error


def read_file(path: Path) -> list[Declaration]:
    """Read the declarations in a file; its suffix tells the language.  Raises DeclarationError.

    Of a shared library its debug information is read.
    """
    if {".so", ".dylib"} & {*path.suffixes}:
        return _read_library(path)
    language = _SUFFIXES.get(path.suffix)
    if language is None:
        raise DeclarationError(f"{path}: expected a file that ends in {', '.join(_SUFFIXES)}, or a library (.so)")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DeclarationError(f"{path}: {error}") from error
    return read(text, language, path.name)


def _read_library(path: Path) -> list[Declaration]:
    from .debug import read_debug  # here: few declarations are read from a library

    try:
        return read_debug(path)
    except LibraryError as error:
        raise DeclarationError(str(error)) from None
    except ValueError as error:
        raise DeclarationError(f"{path}: {error}") from error
