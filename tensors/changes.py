"""Changes of layouts, remembered: most views are taken as one before."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from .layout import Layout

MOST = 4096  # a layout holds a few numbers; those that never come again would fill the memory
_KNOWN: dict[Hashable, Layout] = {}


class Change:
    """`function(layout, told)`, which is worked out once for what is told in plain numbers."""

    __slots__ = ("_function", "_key", "_told")

    def __init__(self, function: Callable[[Layout, Any], Layout], told: Any) -> None:
        self._function, self._told = function, told
        try:
            self._key: Hashable = _exactly(told)
        except TypeError:
            self._key = None

    def __call__(self, layout: Layout) -> Layout:
        if self._key is None:
            return self._function(layout, self._told)
        found = _KNOWN.get(key := (self._function, self._key, layout))
        if found is None:
            found = self._function(layout, self._told)
            if len(_KNOWN) >= MOST:
                _KNOWN.clear()
            _KNOWN[key] = found
        return found


def _exactly(told: Any) -> Hashable:
    """Return what tells apart what functions do (1, 1.0 and True are equal). Raises TypeError for what it cannot."""
    kind = type(told)
    if kind is int or told is Ellipsis:
        return (told,)
    if told is None:
        return ()
    if kind is slice:
        return (slice, _exactly(told.start), _exactly(told.stop), _exactly(told.step))
    if kind is not tuple:
        raise TypeError
    return (tuple, *map(_exactly, told))
