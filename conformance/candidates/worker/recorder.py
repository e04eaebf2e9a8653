"""In the worker's process: reads what a library notes of its calls that was compiled for coverage."""

from __future__ import annotations

from array import array

from bindings.shared_object.foreign import SharedObject, from_buffer

_PLACES, _COMPARISONS = "assayer_coverage_places", "assayer_coverage_comparisons"  # cuda/coverage/coverage.c
_AT_ONCE = 1 << 12  # places or comparisons that one request puts out

News = tuple[list[int], list[tuple[float, ...]]]  # places; of each comparison its place, the constant and the value


class Recorder:
    """What an open library notes; most note nothing."""

    def __init__(self, library: SharedObject) -> None:
        self._places = library.entry(_PLACES, ("void*", "int32_t", "int32_t"))
        self._comparisons = library.entry(_COMPARISONS, ("void*", "int32_t"))
        self._read = 0

    def news(self) -> News | None:
        """Return what was reached since the last time; None where the library was not compiled for coverage."""
        if self._places is None or self._comparisons is None:
            return None
        found: list[int] = []
        places = array("I", bytes(4 * _AT_ONCE))
        while count := self._places(from_buffer(places), self._read, _AT_ONCE):
            found += places[:count]
            self._read += count
        numbers = array("d", bytes(3 * 8 * _AT_ONCE))
        count = self._comparisons(from_buffer(numbers), _AT_ONCE)
        return found, [tuple(numbers[at : at + 3]) for at in range(0, 3 * count, 3)]
