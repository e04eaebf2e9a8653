"""One operation of one library as a Python function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from bindings.errors import ArgumentTypeError, CallError
from bindings.header.expressions import compile_shape
from bindings.header.records import Header
from bindings.header.signature import Signature
from bindings.shared_object.foreign import NULL, address, from_buffer

from . import explain
from .checks import Checker, refuse_overlap
from .prepared import Preparation, Prepared, has_preparation
from .quick import UNUSUAL, compile_quick, has_quick
from .remembered import Remembered
from .residence import Residence, as_argument
from .staging import Staging


class Operation:
    """Callable: checks, allocates, calls.  Raises ArgumentError before the call and CallError after it."""

    def __init__(
        self,
        header: Header,
        signature: Signature,
        entry: Callable[..., int],
        residence: Residence,
        staging: Staging | None = None,
    ) -> None:
        function = signature.function
        self.signature, self._header, self._entry = signature, header, entry
        self._residence, self._memory, self._staging = residence, residence.memory, staging
        self.__name__ = self.__qualname__ = self.operation = function.operation
        self.__doc__ = function.doc
        self.__signature__ = signature.python()
        self._check = Checker(signature)
        self._names = signature.names
        self._updated = [p.name for p in signature.returned if p.direction == "updated"]
        self._returned = [p.name for p in signature.returned]
        self._order = [p.name for p in function.parameters]
        self._arrays = [p.name for p in function.parameters if p.is_array]
        self._lists = [p.name for p in function.parameters if p.is_list]
        updated = (p for p in signature.given if p.read_if and not p.is_optional)
        may_be_allocated = (*signature.outputs, *signature.workspaces, *updated)
        self._fills = [
            (p, p.name, p.type.dtype, p.direction == "out", compile_shape([axis.size for axis in p.shape]))
            for p in may_be_allocated
        ]

        is_quick = not (staging or residence.always) and has_quick(signature)
        self._quick = compile_quick(signature, entry, self._memory, self._error) if is_quick else None
        can_prepare = not (staging or residence.always) and has_preparation(signature)
        self._preparation = Preparation(signature, entry, self._memory, self._error) if can_prepare else None
        self._remembered = Remembered(signature, self.prepare_into) if self._preparation else None
        self._rest = {place: frozenset(self._names[place:]) for place in range(len(self._names))}

    def __repr__(self) -> str:
        return f"<operation {self.operation}{self.__signature__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (quick := self._quick) and (
            kwargs.keys() == self._rest.get(len(args)) if kwargs else len(args) == len(self._names)
        ):
            results = quick(*args, **kwargs)
            if results is not UNUSUAL:
                return results
        if (remembered := self._remembered) and not kwargs and len(args) == len(self._names):
            results = remembered.call(*args)
            if results is UNUSUAL:
                results = self._carefully(args, kwargs)
                remembered.note(args)
            return results
        return self._carefully(args, kwargs)

    def prepare(self, *args: Any, **kwargs: Any) -> Prepared | None:
        """Check a call on tensors of any layout without making it, and return one for others that lie so.

        The function takes the storages of the inputs, in the header's order, as `held` gives them. It returns the
        output, in new memory, as an array is held (`array_of` makes one of it); or None where a storage is too short or
        None, or a graph is captured: then a call as any other says what is wrong. Raises as a call does, and the
        function CallError.
        Returns None where calls are not so simple: on a device, on DeviceArrays, of operations on other than tensors,
        and where not every place of the output is one of its elements.
        """
        preparation, values, sizes = self._to_prepare(args, kwargs)
        return preparation and preparation(values, sizes)

    def prepare_into(self, *args: Any, **kwargs: Any) -> Prepared | None:
        """The same for a function that takes the output's storage behind those of the inputs, and returns True.

        It looks neither at whether that may be written nor at whether it overlaps with an input.
        """
        preparation, values, sizes = self._to_prepare(args, kwargs)
        return preparation and preparation.into(values, sizes)

    def _to_prepare(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Preparation | None, dict[str, Any], Mapping[str, Any]]:
        values = self._bind(args, kwargs)
        sizes = self._check(values)
        return (None if self._residence.is_resident(values) else self._preparation), values, sizes

    def _carefully(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make any call, or say what is wrong with it."""
        values = self._bind(args, kwargs)
        sizes = self._check(values)
        resident = self._residence.is_resident(values)
        written = self._fill(values, sizes, resident)
        raw = {"stream": self._memory.stream_pointer, **sizes}
        take = as_argument if resident else from_buffer
        for name in self._arrays:
            raw[name] = NULL if values[name] is None else take(values[name])
        held = self._add_lists(values, raw) if self._lists else {}
        if written:
            refuse_overlap(self.operation, self._spans(values, raw, held, written))
        if (capture := self._memory.capture) is not None:
            capture.refuse(self.signature.function, values, resident)
            indices = self._check.indices(values)
            capture.ask(self._bound(indices, sizes, raw), *self._residence.arrays(values))
        elif self._staging and not resident:
            self._check.limits(values, sizes)
            if code := self._staging.call(self._entry, self.signature.function, raw, values):
                raise self._error(code)
        else:
            self._launch(values, sizes, raw)
        if len(self._returned) == 1:
            return values[self._returned[0]]
        return tuple([values[name] for name in self._returned])

    def _launch(self, values: Mapping[str, Any], sizes: Mapping[str, Any], raw: dict[str, Any]) -> None:
        if self._check.has_limits:
            self._check.limits(values, sizes)
        if code := self._entry(*[raw[name] for name in self._order]):
            raise self._error(code)
        self._memory.called.append(self.operation)

    def _bound(self, indices: Mapping[str, Any], sizes: Mapping[str, Any], raw: dict[str, Any]) -> Callable[[], None]:
        """The call with its arguments gathered, to be made as often as a graph is launched: nothing is left to check
        but indices."""
        if self._check.has_limits:
            return lambda: self._launch(indices, sizes, raw)
        entry, arguments = self._entry, [raw[name] for name in self._order]
        called, operation = self._memory.called, self.operation

        def call() -> None:
            if code := entry(*arguments):
                raise self._error(code)
            called.append(operation)

        return call

    def _error(self, code: int) -> CallError:
        return CallError(self.operation, code, self._header.meaning(code))

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Give every name its value, or say which one is missing, unknown or given twice."""
        names, known = self._names, self.__signature__.parameters
        values = dict(zip(names, args, strict=False))
        if not kwargs and len(args) == len(names):
            return values
        if len(args) > len(names):
            raise self._misfit(f"number {len(names) + 1}", explain.describe(args[len(names)]))
        for name, value in kwargs.items():
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f" (did you mean {near[0]}?)" if near else ""
                raise self._misfit(name, f"a name that is none of them{hint}")
            if name in values:
                raise ArgumentTypeError(self.operation, name, "one value", "two")
            values[name] = value
        for name in names:
            if name not in values:
                raise self._misfit(name, "nothing")
        return values

    def _misfit(self, argument: str, got: str) -> ArgumentTypeError:
        expected = f"the arguments of {self.operation}{self.__signature__}"
        return ArgumentTypeError(self.operation, argument, expected, got)

    def _fill(self, values: dict[str, Any], sizes: Mapping[str, Any], resident: bool) -> list[str]:
        """Add the arrays that the caller left out, and return the names of those it gave that are written."""
        written = [name for name in self._updated if values[name] is not None]
        for parameter, name, dtype, is_output, shape in self._fills:
            array = values.get(name)
            if array is None:
                values[name] = self._residence.allocate(parameter, dtype, shape(sizes), resident)
            elif is_output:
                self._check.output(parameter, array, sizes)
                written.append(name)
        for name, described in self.signature.lengths.items():
            values[name] = np.array([array.size for array in values[described]], np.int64)
        return written

    def _add_lists(self, values: Mapping[str, Any], raw: dict[str, Any]) -> dict[str, list[int]]:
        """Add each list's table of addresses to what is passed, and return the addresses."""
        held = {name: [address(as_argument(array)) for array in values[name]] for name in self._lists}
        for name, addresses in held.items():
            raw[name] = from_buffer(np.array(addresses, np.uintp))
        return held

    def _spans(
        self, values: Mapping[str, Any], raw: Mapping[str, Any], held: Mapping[str, list[int]], written: list[str]
    ) -> Iterator[tuple[int, int, str, bool]]:
        """Yield where every array of the call lies: start, end, name, whether it is written."""
        for name in self._arrays:
            if values[name] is None:
                continue
            start = address(raw[name])
            yield start, start + values[name].nbytes, name, name in written
        for name, addresses in held.items():
            for index, (start, array) in enumerate(zip(addresses, values[name], strict=True)):
                yield start, start + array.nbytes, f"{name}[{index}]", name in written
