"""The calls that manage memory and streams (assayer_*), each as its declaration reads."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

from bindings.errors import ArgumentTypeError, CallError, MissingSymbol
from bindings.header.records import Header, Parameter

from .foreign import SharedObject, from_buffer, new, pointer

# What the emulator of CUDA exports from every library that is compiled for it: that it is, and to have memory refused.
EMULATED, REFUSE_MEMORY = "assayer_emulated", "assayer_emulator_refuse_memory"


class Services:
    """`services.allocate(bytes)` returns what assayer_allocate puts out; addresses are ints, names strings.

    A service that the library lacks raises MissingSymbol when called; `has` tells beforehand.
    """

    def __init__(self, shared: SharedObject, header: Header) -> None:
        self._shared, self._header = shared, header
        for name in header.services:  # all of them now: finalisers call some, when nothing can be declared
            self.has(name)

    def has(self, name: str) -> bool:
        function = self._header.services[name]
        return self._shared.entry(function.symbol, function.types) is not None

    @property
    def holds_emulator(self) -> bool:
        """Whether the library was compiled for this project's emulator of CUDA, which leaves a symbol in it."""
        return self._shared.entry(EMULATED, ()) is not None

    def fact(self, name: str) -> int | None:
        """Return a capability's value, None for one that the library does not know."""
        try:
            return int(self.capability(name))
        except CallError as error:
            if error.code == self._header.constants["ASSAYER_UNAVAILABLE"].value:
                return None
            raise

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._header.services:
            raise AttributeError(f"the header declares no service {name}")
        call = _callable(name, self._shared, self._header)
        self.__dict__[name] = call  # copies are made by the ten thousand
        return call


def _callable(name: str, shared: SharedObject, header: Header) -> Callable[..., int | float | None]:
    """A service as a Python function, by its declaration."""
    function = header.services[name]
    entry = shared.entry(function.symbol, function.types)
    given = [p.name for p in function.parameters if not _is_result(p)]
    answers = {p.name: _result_type(p) for p in function.parameters if _is_result(p)}

    def call(*args: Any, **kwargs: Any) -> int | float | None:
        if entry is None:
            raise MissingSymbol(f"{name}: the library does not export {function.symbol}")
        values = dict(zip(given, args, strict=False)) | kwargs
        if len(args) > len(given) or values.keys() != set(given):
            expected = ", ".join(given) or "no arguments"
            raise ArgumentTypeError(name, "list", expected, f"{len(args)} and {sorted(kwargs)}")
        results = {of: new(ctype) for of, ctype in answers.items()}
        raw = [results.get(p.name) or _argument(p, values[p.name]) for p in function.parameters]
        code = entry(*raw)
        if code:
            raise CallError(name, code, header.meaning(code))
        return next((result[0] for result in results.values()), None)

    call.__name__, call.__doc__ = name, function.doc
    return call


def _is_result(parameter: Parameter) -> bool:
    """A pointer to a pointer, or to a number that may be written: the service puts its answer there."""
    return parameter.stars == 2 or (parameter.stars == 1 and parameter.element != "void" and not parameter.const)


def _result_type(parameter: Parameter) -> str:
    """The type of a pointer to the answer; an address is one as a number."""
    return "intptr_t*" if parameter.stars == 2 else parameter.ctype


def _argument(parameter: Parameter, value: Any) -> Any:
    """Addresses from whole numbers (None is null) and arrays, text as bytes, numbers as they are."""
    if parameter.is_scalar:
        return value
    if parameter.element == "char":
        return from_buffer(value.encode() + b"\0")
    return pointer(int(value or 0)) if value is None or isinstance(value, Integral) else from_buffer(value)
