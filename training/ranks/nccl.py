"""NVIDIA's library for sums between devices, opened by name: nothing is compiled against it."""

from __future__ import annotations

import importlib.util
import os
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cffi
import numpy as np

from .agreement import RanksError

if TYPE_CHECKING:
    from bindings import DeviceArray

NAMED = "ASSAYER_NCCL"  # the variable that names another library
OLDEST = 21000  # 2.10: the first with bfloat16

_DECLARED = """
typedef struct { char internal[128]; } ncclUniqueId;
int ncclGetVersion(int* version);
const char* ncclGetErrorString(int result);
int ncclGetUniqueId(ncclUniqueId* id);
int ncclCommInitRank(void** communicator, int size, ncclUniqueId id, int rank);
int ncclAllReduce(const void* from, void* to, size_t count, int type, int operation, void* communicator, void* stream);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclCommDestroy(void* communicator);
"""
_TYPES = {"int32": 2, "int64": 4, "float16": 6, "float32": 7, "float64": 8, "bfloat16": 9}  # ncclDataType_t
_SUM = 0  # ncclRedOp_t


class NcclLibrary:
    """An open library. Raises RanksError where it cannot be opened, or is not one of NCCL from 2.10 on."""

    def __init__(self, path: str | None = None) -> None:
        """path: that of $ASSAYER_NCCL where none is given, otherwise what pip or the system has installed."""
        path = path or os.environ.get(NAMED) or _installed()
        self._ffi: Any = cffi.FFI()
        self._ffi.cdef(_DECLARED)
        try:
            self._lib: Any = self._ffi.dlopen(path, os.RTLD_NOW | os.RTLD_LOCAL)
            for name in dir(self._lib):
                getattr(self._lib, name)
        except (OSError, AttributeError) as error:
            raise RanksError(f"NCCL cannot be opened: {error}") from None
        version = self._ffi.new("int*")
        self.call("ncclGetVersion", version)
        self.version = _written(version[0])
        if version[0] < OLDEST:
            raise RanksError(f"{path}: expected NCCL {_written(OLDEST)} or newer, got {self.version}")

    def call(self, name: str, *arguments: Any) -> None:
        """Raises RanksError, with what NCCL says of its code."""
        if code := getattr(self._lib, name)(*arguments):
            meaning = self._ffi.string(self._lib.ncclGetErrorString(code)).decode()
            raise RanksError(f"{name}: {meaning} (code {code} of NCCL)")

    def unique_id(self) -> bytes:
        """Return what the ranks of one communicator find each other by: one of them asks, all are told."""
        made = self._ffi.new("ncclUniqueId*")
        self.call("ncclGetUniqueId", made)
        return bytes(self._ffi.buffer(made))

    def communicator(self, unique_id: bytes, rank: int, size: int) -> Communicator:
        """Return this rank's end, on the device that is current; waits for all ranks."""
        made, known = self._ffi.new("void**"), self._ffi.new("ncclUniqueId*")
        self._ffi.buffer(known)[:] = unique_id
        self.call("ncclCommInitRank", made, size, known[0], rank)
        communicator = Communicator(self, made[0])
        weakref.finalize(communicator, self.call, "ncclCommDestroy", made[0])
        return communicator


class Communicator:
    """One rank's end of what all ranks sum by."""

    def __init__(self, library: NcclLibrary, handle: Any) -> None:
        self._library, self._handle = library, handle

    def sum(self, pairs: Iterable[tuple[DeviceArray, DeviceArray]], kind: np.dtype[Any], stream: Any) -> None:
        """Ask for the sum of each first array in the second, all of one type, in the order of the stream."""
        if kind.name not in _TYPES:
            raise RanksError(f"NCCL: expected arrays of {', '.join(_TYPES)}, got {kind.name}")
        self._library.call("ncclGroupStart")
        for part, total in pairs:
            self._library.call(
                "ncclAllReduce", part.pointer, total.pointer, part.size, _TYPES[kind.name], _SUM, self._handle, stream
            )
        self._library.call("ncclGroupEnd")


def _installed() -> str:
    """The library of the package nvidia-nccl-cu13 (or cu12), which the loader does not know of; else the loader's."""
    try:
        package = importlib.util.find_spec("nvidia.nccl")
    except ModuleNotFoundError:
        package = None
    folders = (package and package.submodule_search_locations) or []
    found = [path for folder in folders if (path := Path(folder, "lib", "libnccl.so.2")).is_file()]
    return str(found[0]) if found else "libnccl.so.2"


def _written(version: int) -> str:
    """NCCL's number of a version as it is written; before 2.9 the places were others."""
    major = 1000 if version < 10000 else 10000
    return f"{version // major}.{version % major // 100}.{version % 100}"
