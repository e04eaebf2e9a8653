"""What can go wrong between Python and a library, one class per kind of mistake."""

from __future__ import annotations


class BindingError(Exception):
    """Anything that the bindings report."""


class HeaderError(BindingError, ValueError):
    """The header cannot be read.  `line` is where, counted from 1."""

    def __init__(self, source: str, line: int, problem: str) -> None:
        super().__init__(f"{source}:{line}: {problem}")
        self.source, self.line, self.problem = source, line, problem


class LibraryError(BindingError, OSError):
    """A file is not a library that can be opened here."""


class NoDevice(LibraryError):  # noqa: N818
    """A library computes on a device, and there is none."""


class MissingSymbol(BindingError, LookupError):  # noqa: N818
    """The library does not export what the header declares."""


class ArgumentError(BindingError, ValueError):
    """A call was refused before the library saw it: `operation`, `argument`, `expected` and `got` say why."""

    def __init__(self, operation: str, argument: str, expected: str, got: str) -> None:
        super().__init__(f"{operation}: argument {argument}: expected {expected}, got {got}")
        self.operation, self.argument, self.expected, self.got = operation, argument, expected, got


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument of the wrong kind altogether: a list for an array, a string for a number, one too many."""


class CallError(BindingError, RuntimeError):
    """The library was called and answered with another code than 0; `code` is what it answered."""

    def __init__(self, operation: str, code: int, meaning: str) -> None:
        super().__init__(f"{operation}: the library returned {code}: {meaning}")
        self.operation, self.code, self.meaning = operation, code, meaning


class CaptureError(BindingError, RuntimeError):
    """What a graph in its state cannot do, or what cannot be done while one is captured."""

    def __init__(self, call: str, expected: str, got: str) -> None:
        super().__init__(f"{call}: expected {expected}, got {got}")
        self.call, self.expected, self.got = call, expected, got
