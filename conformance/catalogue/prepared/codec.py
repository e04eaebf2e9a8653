"""Trees of arrays, noise numbers and records as bytes and back: data alone, nothing in them is ever executed.

A document is a checksum (BLAKE2b, 16 bytes) of all that follows it, the length of a description (8 bytes, little
endian), the description as JSON, and the arrays that it speaks of, each at a multiple of 64 bytes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import zlib
from collections.abc import Mapping
from typing import Any

import ml_dtypes  # noqa: F401  (lets NumPy know bfloat16 by name)
import numpy as np

from conformance.limits.noise import Noisy
from conformance.limits.noise.number import FIELDS

_CHECKSUM, _LENGTH, _LINE = 4, 8, 64
_DIGEST = 16  # bytes by which arrays of the same contents are known


class DamagedError(ValueError):
    """Bytes that are no whole document."""


class Codec:
    """Writes and reads values of plain types, arrays, Noisy, and the record types (dataclasses, named tuples) given."""

    def __init__(self, *records: type) -> None:
        self._records = {record.__name__: record for record in records}

    def parts(self, value: Any) -> list[Any]:
        """Return a value as a document in parts, buffers that share the memory of its arrays.

        Raises TypeError for what is none of the types known.
        """
        writer = _Writer(self._records)
        described = json.dumps(writer.described(value), separators=(",", ":")).encode()
        head = len(described).to_bytes(_LENGTH, "little") + described
        parts = [head, bytes(-(_CHECKSUM + len(head)) % _LINE)]
        for array in writer.arrays:
            parts += [array, bytes(-array.nbytes % _LINE)]
        checksum = 0
        for part in parts:
            checksum = zlib.crc32(part, checksum)
        return [_checksum(checksum), *parts]

    def dumps(self, value: Any) -> bytes:
        """Return a value as a document.  Raises TypeError for what is none of the types known."""
        return b"".join(self.parts(value))

    def loads(self, document: bytes) -> Any:
        """Return the value of a document; its arrays cannot be written.  Raises DamagedError."""
        rest = memoryview(document)[_CHECKSUM:]
        if _checksum(zlib.crc32(rest)) != document[:_CHECKSUM]:
            raise DamagedError(f"expected a document of {len(document)} bytes by its checksum, got another")
        start = _CHECKSUM + _LENGTH
        stop = start + int.from_bytes(document[_CHECKSUM:start], "little")
        return _Reader(self._records, document, stop + -stop % _LINE).value(json.loads(document[start:stop]))


def _checksum(value: int) -> bytes:
    """Of damage, not of malice: CRC-32 is five times as fast as a cryptographic hash, of gigabytes a run."""
    return value.to_bytes(_CHECKSUM, "little")


class _Writer:
    """Describes a value, and collects its arrays."""

    def __init__(self, records: Mapping[str, type]) -> None:
        self.arrays: list[Any] = []
        self._records = {record: name for name, record in records.items()}
        self._places: dict[bytes, int] = {}
        self._end = 0

    def described(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.generic):
            return ["scalar", *self._array(np.asarray(value))[1:]]
        if isinstance(value, Noisy):
            return ["noisy", *(self._of_noisy(getattr(value, field)) for field in FIELDS)]
        if type(value) in self._records:
            return ["record", self._records[type(value)], *map(self.described, _fields(value))]
        if isinstance(value, Mapping):
            return ["dict", *(part for key, held in value.items() for part in (self._key(key), self.described(held)))]
        if isinstance(value, list | tuple):
            return ["list" if isinstance(value, list) else "tuple", *map(self.described, value)]
        raise TypeError(f"expected plain values, arrays, noise numbers or known records, got {type(value).__name__}")

    def _of_noisy(self, part: Any) -> Any:
        """Errors have the digits of float32 as a rule (expectation.py), and are kept as such where nothing is lost."""
        if not isinstance(part, np.ndarray):
            return self.described(part)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            short = part.astype(np.float32)
        same = np.array_equal(short.astype(np.float64), part, equal_nan=True)
        return ["widened", *self._array(short)[1:]] if same else self._array(part)

    @staticmethod
    def _key(key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(f"expected text as the key of a mapping, got {key!r}")
        return key

    def _array(self, array: Any) -> list[Any]:
        """Type, shape, and where it lies or the one value it holds everywhere."""
        dense = np.ascontiguousarray(array).reshape(array.shape)
        described = ["array", dense.dtype.name, list(dense.shape)]
        bits = dense.reshape(-1).view(np.uint8).reshape(dense.size, dense.itemsize)
        if _is_constant(bits):
            return [*described, bits[0].tobytes().hex()]
        return [*described, self._place(bits)]

    def _place(self, array: Any) -> int:
        """Where the bytes of an array lie: those of several that hold the same ones lie there once."""
        content = hashlib.blake2b(array, digest_size=_DIGEST).digest()
        if content not in self._places:
            self._places[content] = self._end
            self.arrays.append(array)
            self._end += array.nbytes + -array.nbytes % _LINE
        return self._places[content]


def _is_constant(bits: Any) -> bool:
    """Whether all of several elements have the same bits, [elements, bytes]; most arrays differ in the first few."""
    return len(bits) > 1 and bool((bits[:8] == bits[0]).all()) and bool((bits == bits[0]).all())


def _fields(value: Any) -> list[Any]:
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return list(value)  # a named tuple


class _Reader:
    """Makes the values of a description; arrays are views of the document."""

    def __init__(self, records: Mapping[str, type], document: bytes, start: int) -> None:
        self._records, self._document, self._start = records, document, start

    def value(self, described: Any) -> Any:
        if not isinstance(described, list):
            return described
        kind, *parts = described
        if kind == "array":
            return self._array(*parts)
        if kind == "widened":
            return self._array(*parts).astype(np.float64)
        if kind == "scalar":
            return self._array(*parts)[()]
        if kind == "noisy":
            return Noisy(**dict(zip(FIELDS, map(self.value, parts), strict=True)))
        if kind == "record":
            return self._records[parts[0]](*map(self.value, parts[1:]))
        if kind == "dict":
            return dict(zip(parts[::2], map(self.value, parts[1::2]), strict=True))
        return list(map(self.value, parts)) if kind == "list" else tuple(map(self.value, parts))

    def _array(self, dtype: str, shape: list[int], held: int | str) -> Any:
        if isinstance(held, str):
            return np.full(shape, np.frombuffer(bytes.fromhex(held), dtype)[0])
        count = int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(self._document, dtype, count, self._start + held).reshape(shape)
