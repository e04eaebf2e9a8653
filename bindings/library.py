"""A shared library whose operations are Python functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from .arrays import DeviceArray, Memory
from .calls.graph import Graph
from .calls.operation import Operation
from .calls.residence import Residence
from .calls.staging import Staging
from .errors import CallError, MissingSymbol
from .header.read import read_header
from .header.records import Function, Header
from .header.signature import Signature
from .shared_object.opened import Opened
from .shared_object.streams import Event, Stream


class Library:
    """The library at `path`: `library.rmsnorm(input, weight, eps=1e-6)` calls its `cuda_rmsnorm`.

    Every operation of the header is an attribute, with its documentation and signature; `missing` lists those that the
    library does not export (calling one raises MissingSymbol).  `services` are its assayer_* calls.  `stream` is the
    address of the stream that every call is given, None for the default one.

    Arrays are NumPy's; where the library computes on device memory, every call copies them there and back.  Calls on
    DeviceArrays (`array` makes them) return such, copy nothing and wait for nothing: what went wrong in one is said by
    the next `synchronize` or `to_host`.  Indices that lie on a device are not checked, since looking would be waiting.
    resident: every call returns DeviceArrays, also those that take no array.

    Raises LibraryError, saying what the file is, when it cannot be opened or was built from another version of the
    header, and NoDevice when it computes on a device and there is none.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        stream: int | None = None,
        header: Header | None = None,
        *,
        resident: bool = False,
    ) -> None:
        self.path = Path(path).absolute()
        self.header = header or read_header()
        self.resident = resident
        opened = Opened(self.path, self.header)
        self._object, self.services, self.facts = opened.object, opened.services, opened.facts
        self.memory = Memory(self.services, self.facts, stream or 0)
        self._aside: Stream | None = None  # on which graphs are captured
        self._staging = Staging(self.memory) if self.facts.on_device else None

    def __repr__(self) -> str:
        return f"Library({str(self.path)!r})"

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.header.operations]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Make the operation of that name on first use, and keep it."""
        if name.startswith("_") or name == "header":  # not set yet, as in a copy
            raise AttributeError(name)
        if name not in self.header.operations:
            near = get_close_matches(name, self.header.operations, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise AttributeError(f"the header declares no operation {name}{hint}")
        function = self.header.operations[name]
        entry = self._object.entry(function.symbol, function.types)
        if entry is None:
            return self._absent(function)
        residence = Residence(self.memory, function, self.resident)
        operation = Operation(self.header, Signature(function), entry, residence, self._staging)
        self.__dict__[name] = operation
        return operation

    def offers(self, operation: str) -> bool:
        """Return whether the header declares an operation of that name and the library exports it."""
        function = self.header.operations.get(operation)
        return function is not None and self._object.entry(function.symbol, function.types) is not None

    def array(self, source: Any) -> DeviceArray:
        """Return a NumPy array's values where the library computes: copied to a device, on the host the array itself.

        What has DLPack or the CUDA array interface, and lies where the library computes, is taken without a copy.
        Raises ArgumentError for another device, strides that are not dense, and types that the header has not.
        """
        return self.memory.array(source)

    def synchronize(self) -> None:
        """Wait for all calls on the stream.  Raises CallError for what went wrong in any of them."""
        self.memory.synchronize()

    def stream(self) -> Stream:
        """Return a new stream, which lives as long as this library."""
        stream = Stream(self.services)
        self.memory.cache.streams.append(stream)
        return stream

    def event(self) -> Event:
        return Event(self.services)

    @contextmanager
    def on(self, stream: Stream) -> Iterator[None]:
        """Make all calls within on this stream; what other streams do, it knows nothing of but by events."""
        outside = self.memory.stream
        self.memory.use(stream.address)
        try:
            yield
        finally:
            self.memory.use(outside)

    def graph(self) -> Graph:
        """Return an empty graph."""
        if self._aside is None and self.services.has("stream_create"):
            self._aside = self.stream()
        return Graph(self.memory, self.services, self._aside.address if self._aside else self.memory.stream)

    @contextmanager
    def capture(self) -> Iterator[Graph]:
        """Capture what is called within: `with library.capture() as graph: ...`, then `graph.launch()`."""
        graph = self.graph()
        graph.begin()
        try:
            yield graph
        except BaseException:
            with suppress(CallError):
                graph.end()
                graph.reset()
            raise
        graph.end()

    def _absent(self, function: Function) -> Callable[..., Any]:
        def refuse(*_: Any, **__: Any) -> NoReturn:
            raise MissingSymbol(f"{function.operation}: {self.path} does not export {function.symbol}")

        return refuse

    def entry(self, symbol: str, types: Sequence[str]) -> Callable[..., int] | None:
        """Return an exported function as it is, without any check; None where there is none (see Function.types)."""
        return self._object.entry(symbol, types)

    @property
    def missing(self) -> tuple[str, ...]:
        """The operations that the library does not export."""
        functions = self.header.operations.values()
        return tuple(f.operation for f in functions if self._object.entry(f.symbol, f.types) is None)
