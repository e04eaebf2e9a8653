"""Calls on tensors that lie as those of two calls before: how they lie need not be checked again (see prepared.py)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np

from bindings.header.records import Parameter
from bindings.header.signature import Signature
from bindings.shared_object.foreign import address, from_buffer

from .checks import plain_numbers
from .prepared import Prepared, held
from .quick import UNUSUAL, array_lines

MOST = 256  # layouts that never come again would fill the memory
OWN = 0x0004  # of an array's flags: the memory is its own (NumPy's OWNDATA)


def _meet(one: np.ndarray[Any, Any], of_one: Any, other: np.ndarray[Any, Any], of_other: Any) -> bool:
    """Whether two arrays, dense, have memory in common; of_one, of_other: as an entry takes them."""
    start, begin = address(of_one), address(of_other)
    return start < begin + other.nbytes and begin < start + one.nbytes


_WORDS: dict[str, Any] = {
    "_UNUSUAL": UNUSUAL, "_ndarray": np.ndarray, "_int64": np.dtype(np.int64), "_type": type, "_float": float,
    "_int": int, "_held": held, "_meet": _meet, "_from_buffer": from_buffer,
}  # fmt: skip


class Remembered:
    """Of one operation that has a preparation; called with the arguments of a call, in the order of its signature.

    Returns the output, or UNUSUAL, having done nothing, for a call that is not like two before, right or wrong.
    """

    def __init__(self, signature: Signature, prepare_into: Callable[..., Prepared | None]) -> None:
        self._prepare = prepare_into
        self._calls: dict[Hashable, Prepared | None] = {}  # None: there was one such call
        known = _WORDS | {"_find": self._calls.get}
        text = "\n".join([*_key_lines(signature), *_call_lines(signature)])
        exec(compile(text, f"<{signature.function.operation} remembered>", "exec"), known)
        self._key: Callable[..., Hashable] = known["_key"]
        self.call: Callable[..., Any] = known["_remembered"]

    def note(self, args: tuple[Any, ...]) -> None:
        """Take note of a call that was made, and prepare those like it when it is the second one."""
        key = self._key(*args)
        if key is UNUSUAL:
            return
        if self._calls.get(key) is not None:
            return  # what is prepared, or never to be, did not take this call
        if len(self._calls) >= MOST:
            self._calls.clear()
        self._calls[key] = (self._prepare(*args) or _never) if key in self._calls else None


def _never(*_: Any) -> None:
    """Of calls that are not so simple, as those on DeviceArrays."""


def _key_lines(signature: Signature) -> Iterator[str]:
    """A function of what says how the tensors lie, and of the numbers, to what is the same for the same alone."""
    settled = [p for p in signature.given if p.is_array and not p.strided]
    yield f"def _key({', '.join(signature.names)}):"
    for parameter in settled:
        yield from array_lines(parameter)
    yield from (f"  if {p.name} is None: return _UNUSUAL" for p in signature.given if p.strided)
    for parameter in signature.scalars:
        yield f"  if _type({parameter.name}) is not _{plain_numbers(parameter)[0].__name__}: return _UNUSUAL"
    entries = [f"{p.name}.tobytes()" for p in settled] + [_exactly(p) for p in signature.scalars]
    yield f"  return ({', '.join(entries)},)"


def _exactly(scalar: Parameter) -> str:
    return scalar.name if scalar.type.is_integer else f"{scalar.name}.hex()"  # 0.0 and -0.0 are equal


def _call_lines(signature: Signature) -> Iterator[str]:
    tensors = [p for p in signature.function.parameters if p.strided]
    names = [p.name for p in tensors if not p.written]
    (output,) = (p.name for p in tensors if p.written)
    yield f"def _remembered({', '.join(signature.names)}):"
    yield f"  _call = _find(_key({', '.join(signature.names)}))"
    yield "  if _call is None: return _UNUSUAL"
    for name in (*names, output):
        yield f"  if (_of_{name} := _held({name})) is None: return _UNUSUAL"
    yield f"  if not {output}.flags.writeable: return _UNUSUAL"
    yield f"  _is_own = {output}.flags.num & {OWN}"
    for name in names:  # arrays whose memory is their own meet only themselves
        yield f"  if {name} is {output} or not (_is_own and {name}.flags.num & {OWN}):"
        yield f"    if _meet({name}, _of_{name}, {output}, _of_{output}): return _UNUSUAL"
    for name in (p.name for p in signature.given if p.is_array and not p.strided):
        yield f"  if not (_is_own and {name}.flags.num & {OWN}):"
        yield f"    if _meet({name}, _from_buffer({name}), {output}, _of_{output}): return _UNUSUAL"
    yield f"  if _call({', '.join(f'_of_{name}' for name in (*names, output))}) is None: return _UNUSUAL"
    yield f"  return {output}"
