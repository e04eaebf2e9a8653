"""The foreign-function interface: opening a library, and entries whose prototypes come from the header."""

from __future__ import annotations

import atexit
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import _cffi_backend as backend

from bindings.errors import LibraryError

from .symbols import describe_file

# The interface that modules compiled by cffi have.  It reads types by itself; that of the module `cffi` loads a parser
# of C first, which takes as long as all the rest of a worker's start.
_ffi: Any = backend.FFI()
_cast = _ffi.cast
_ADDRESS = _ffi.typeof("uintptr_t")
_VOID = _ffi.typeof("void*")

from_buffer = _ffi.from_buffer
NULL: Any = _ffi.NULL
FLOATS: Any = _ffi.typeof("float[]")  # from_buffer(FLOATS, array) has as many entries as an array of float32
# allocate(FLOATS, n): memory of unknown contents that lives as long as what is returned; where it is small, that is
# quicker than an array of NumPy's.
allocate: Any = _ffi.new_allocator(should_clear_after_alloc=False)


def address(pointer: Any) -> int:
    """Return the address that a pointer or buffer of this interface holds."""
    return int(_cast(_ADDRESS, pointer))


def pointer(address: int) -> Any:
    """Return an address as a pointer that an entry takes."""
    return _cast(_VOID, address)


def view(pointer: Any, size: int) -> Any:
    """Return so many bytes at an address of this process as a buffer that can be read and written."""
    return _ffi.buffer(pointer, size)


def whole(buffer: Any) -> Any:
    """Return all the bytes behind a pointer that knows its length, as `view` returns some; they keep its memory."""
    return _ffi.buffer(buffer)


def new(ctype: str) -> Any:
    """Return a pointer of this type to one zero, which lives as long as the pointer: `new("int64_t*")[0]` reads it."""
    return _ffi.new(ctype)


def of_process(symbol: str, types: Sequence[str]) -> Callable[..., int]:
    """Return a function of what this process is linked to, as of C's own library: int SYMBOL(types).

    Raises AttributeError where there is none.
    """
    return _function(backend.load_library(None, backend.RTLD_NOW), symbol, types)


def address_of(symbol: str) -> int:
    """Return the address of a function of what this process is linked to.  Raises AttributeError."""
    process: Any = backend.load_library(None, backend.RTLD_NOW)
    return address(process.load_function(_ffi.typeof("void(*)(void)"), symbol))


_MALLINFO2 = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")


def taken_from_malloc() -> int:
    """Return how many bytes malloc has handed out and not been given back, its own words among them.

    0 where C's library does not tell: it has to be glibc 2.33 or newer, and malloc its own.
    """
    try:
        report = _mallinfo2()()
    except AttributeError:
        return 0
    return int(report.uordblks + report.hblkhd)


@functools.cache
def _mallinfo2() -> Callable[[], Any]:
    """The function of <malloc.h>, of which a structure comes back.  Raises AttributeError where there is none."""
    types: Any = backend  # whose functions take fewer arguments than their stubs say
    count, structure = types.new_primitive_type("size_t"), types.new_struct_type("struct mallinfo2")
    types.complete_struct_or_union(structure, [(name, count, -1) for name in _MALLINFO2])
    signature = types.new_function_type((), structure)
    found: Callable[[], Any] = types.load_library(None, types.RTLD_NOW).load_function(signature, "mallinfo2")
    return found


def environment() -> tuple[bytes, ...]:
    """Return the variables of this process as C's own library holds them, NAME=VALUE; none where it hides them."""
    try:
        process: Any = backend.load_library(None, backend.RTLD_NOW)
        entries = process.read_variable(_ffi.typeof("char**"), "environ")
    except (AttributeError, KeyError):
        return ()
    found: list[bytes] = []
    while entries and entries[len(found)]:
        found.append(_ffi.string(entries[len(found)]))
    return tuple(found)


def _function(library: Any, symbol: str, types: Sequence[str]) -> Callable[..., int]:
    found: Callable[..., int] = library.load_function(_ffi.typeof(f"int32_t(*)({', '.join(types) or 'void'})"), symbol)
    return found


# What is open, and from where, until it is closed: an entry must not lose its code with the last SharedObject that knew
# of it, as `Library(path).silu(x)` has none left when the call is made.
_open: dict[Any, Path] = {}


# What says how long threads spin at a barrier before they sleep.
_SPIN, _SPINS = "GOMP_SPINCOUNT", ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
_TURNS = "2000"  # some microseconds, in which a thread that is at work arrives


@contextmanager
def _brief_spins() -> Iterator[None]:
    """Let threads of GCC's OpenMP, which reads this as it is loaded, spin briefly, unless the user says how long.

    By default they spin for milliseconds, and where another program keeps a processor busy they do so in place of the
    thread that they wait for: a training step of two threads took 1.2 to 1.7 times as long, beside two such programs
    1.5 to 11 times.
    """
    is_told = any(name in os.environ for name in _SPINS)
    if not is_told:
        os.environ[_SPIN] = _TURNS
    try:
        yield
    finally:
        if not is_told:
            os.environ.pop(_SPIN, None)  # another thread that opens a library may have done so


@atexit.register
def _stay() -> None:
    """Let what is open stay loaded until the process is gone.

    The interpreter unloads it before, and with it what it alone needs: under the feet of threads that OpenMP keeps
    spinning for more work, as OMP_WAIT_POLICY=active has it.
    """
    for path in _open.values():
        with suppress(OSError):  # its file is another by now
            backend.load_library(str(path), backend.RTLD_NOW | backend.RTLD_NOLOAD | backend.RTLD_NODELETE)


class SharedObject:
    """An open shared library, its names seen by no other one.  Its entries may outlive it.

    Raises LibraryError, saying what the file is, when it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._entries: dict[str, Callable[..., int] | None] = {}
        try:
            with _brief_spins():
                self._library: Any = backend.load_library(str(path), backend.RTLD_NOW | backend.RTLD_LOCAL)
        except OSError as error:
            raise LibraryError(f"{path}: {describe_file(path) or error}") from error
        _open[self._library] = path

    def entry(self, symbol: str, types: Sequence[str]) -> Callable[..., int] | None:
        """Return the function with these types of arguments, None where the library does not export it."""
        if symbol not in self._entries:
            try:
                self._entries[symbol] = _function(self._library, symbol, types)
            except AttributeError:
                self._entries[symbol] = None
        return self._entries[symbol]

    def close(self) -> None:
        """Unload the library; its entries must not be called any more."""
        _open.pop(self._library, None)
        self._library.close_lib()
