"""Every operation at the sizes of the full model, by id; the records stand in a file for each kind of operation."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

from .call import Drawn, FullCall, axes_of
from .places import Places

__all__ = ["FULL", "Drawn", "FullCall", "Places", "axes_of"]


class _Full(Mapping[str, FullCall]):
    """Every call by id, in the header's order; the records are read when one is first looked at."""

    @functools.cached_property
    def _calls(self) -> Mapping[str, FullCall]:
        from . import table

        return table.calls()

    def __getitem__(self, id: str) -> FullCall:
        return self._calls[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._calls)

    def __len__(self) -> int:
        return len(self._calls)


FULL = _Full()
