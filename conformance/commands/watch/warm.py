"""What judging needs of cases, kept in this process between rounds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from conformance.catalogue.prepared import Store
from conformance.catalogue.prepared.codec import Codec

Value = TypeVar("Value")
MOST = 4096  # values: more than any operation has cases


class WarmStore:
    """Stands before a store, and remembers the values of single cases; whole steps are read from there each time."""

    def __init__(self, store: Store, most: int = MOST) -> None:
        self._store, self._most = store, most
        self._held: OrderedDict[str, Any] = OrderedDict()

    def recall(self, name: str, make: Callable[[], Value], codec: Codec, *, large: bool = False) -> Value:
        if large:
            return self._store.recall(name, make, codec, large=True)
        if name not in self._held:
            self._held[name] = self._store.recall(name, make, codec)
            if len(self._held) > self._most:
                self._held.popitem(last=False)
        self._held.move_to_end(name)
        value: Value = self._held[name]
        return value

    def recall_parts(self, names: Sequence[str], make: Callable[[], Iterable[Value]], codec: Codec) -> Iterator[Value]:
        return self._store.recall_parts(names, make, codec)
