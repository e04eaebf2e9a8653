"""Records that add nothing to a gradient: which have no backward, or were passed over."""

from __future__ import annotations

import functools
import operator
from collections import defaultdict
from collections.abc import Mapping, Sequence

from conformance.graphs.handed import Handed
from conformance.graphs.local import Local
from conformance.graphs.step import Part, settled
from conformance.judging.verdict import Verdict
from conformance.limits.noise import Noisy

from .looks import fits
from .results import passed_over


def sum_of(parts: Sequence[Part]) -> Noisy:
    """What parts of a gradient are together."""
    return settled(functools.reduce(operator.add, (part.array for part in parts)))  # type: ignore[no-any-return]


class Silence:
    """Which records add nothing to which of a step's wrong gradients; each pair is looked at once."""

    def __init__(self, local: Local, came: Handed, wrong: Mapping[str, Verdict]) -> None:
        self._local, self._came, self._wrong = local, came, wrong
        self._seen: dict[tuple[str, int], bool] = {}
        self._said: dict[str, tuple[list[str], str]] = {}
        self._gradients: defaultdict[int, list[str]] = defaultdict(list)  # by record: those that it adds to
        for name, parts in local.parts.items():
            for number in dict.fromkeys(part.number for part in parts):
                self._gradients[number].append(name)

    def of(self, name: str) -> str:
        """Say which record, or kind, adds nothing to any gradient, of those that a gradient should have something from.

        Where others add to all of them, one may have been assigned over the other: so all records of the kind have to
        be silent, in two gradients at least, or one to which they alone belong.
        """
        local, records = self._local, self._local.task.records
        for number in sorted({part.number for part in local.parts[name]}):
            output = f"value.{records[number].output}"
            passed = passed_over(local, self._came, output) if output in self._wrong else ""
            if passed and self._is_silent(name, number):
                return f"{local.task.called(number)} was passed over: {passed}"
            silent, said = self._of_kind(records[number].kind)
            if name in silent and self._is_silent(name, number):
                return said
        return ""

    def _of_kind(self, kind: str) -> tuple[list[str], str]:
        """The gradients in which all records of a kind are silent, and what is said of that; none where one is not."""
        if kind not in self._said:
            self._said[kind] = self._looked_at(kind)
        return self._said[kind]

    def _looked_at(self, kind: str) -> tuple[list[str], str]:
        task, parts = self._local.task, self._local.parts
        alike = [number for number, record in enumerate(task.records) if record.kind == kind]
        pairs = [(name, number) for number in alike for name in self._gradients[number]]
        if not pairs or not all(self._is_silent(*pair) for pair in pairs):
            return [], ""
        alone = any(all(part.number in alike for part in parts[name]) for name, _ in pairs)
        if not alone and len(pairs) < 2:
            return [], ""
        names = list(dict.fromkeys(name for name, _ in pairs))
        called = " and ".join(map(task.called, alike))
        gradients = ", ".join(name.partition(".")[2] for name in names)
        has = "has" if len(alike) == 1 else "have"
        return names, f"{called} {has} no backward: nothing comes of it in the gradient of {gradients}"

    def _is_silent(self, name: str, number: int) -> bool:
        pair = name, number
        if pair not in self._seen:
            self._seen[pair] = self._holds_nothing(*pair)
        return self._seen[pair]

    def _holds_nothing(self, name: str, number: int) -> bool:
        """Whether a gradient holds nothing of a record; also where nobody else adds to it and nothing came."""
        if name not in self._wrong:
            return False
        parts, records = self._local.parts[name], self._local.task.records
        rest = [part for part in parts if part.number != number]
        if name not in self._came.arrays:
            return not rest
        got, kind = self._came.arrays[name], records[number].kind
        if self._came.unwritten(name) == got.size or not got.any():
            return all(records[part.number].kind == kind for part in rest)
        return bool(rest) and fits(sum_of(rest), got)
