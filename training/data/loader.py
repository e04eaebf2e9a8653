"""Batches one after the other, without end, and the place among them that a checkpoint keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .documents import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .batches import Batches, IdArray


class Loader:
    """Gives batch after batch; its state is small, the same on every rank, and made of what JSON knows."""

    def __init__(self, batches: Batches) -> None:
        """Begin with the first update."""
        self.batches = batches
        self._updates = 0

    def __iter__(self) -> Loader:
        return self

    def __next__(self) -> tuple[IdArray, IdArray]:
        """Return (tokens, targets) of the next update."""
        batch = self.batches.for_update(self._updates + 1)
        self._updates += 1
        return batch

    @property
    def epoch(self) -> int:
        """How many whole passes over the corpus have been given."""
        return self._updates // len(self.batches)

    def state(self) -> dict[str, Any]:
        """Return what resume takes: how many updates were given, and of what."""
        return {**self._given(), "updates": self._updates}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on as the loader that returned this state would have. Raises DataError for a state of other batches."""
        expected = self._given()
        if state.keys() != {*expected, "updates"}:
            raise DataError(f"loader state: expected {', '.join([*expected, 'updates'])}, got {', '.join(state)}")
        for name, value in expected.items():
            if state[name] != value:
                raise DataError(f"loader state: {name}: this loader has {value}, the state is of {state[name]}")
        updates = state["updates"]
        if type(updates) is not int or updates < 0:
            raise DataError(f"loader state: updates: expected a whole number of at least 0, got {updates!r}")
        self._updates = updates

    def _given(self) -> dict[str, Any]:
        of = self.batches
        return {
            "format": 1,
            "data": of.tokens.fingerprint,
            "ranks": of.ranks,
            "batch": of.batch,
            "seq_len": of.seq_len,
            "seed": of.seed,
        }
