"""What judging a case needs before a call: arguments, what they must give, whether that can be trusted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conformance import operations
from conformance.catalogue.cases import Case, previous, with_other_numbers
from conformance.catalogue.goldens import FOLDER, GoldenError, file_of, load
from conformance.catalogue.goldens.manifest import read
from conformance.catalogue.prepared import MemoryStore, Store
from conformance.catalogue.prepared.codec import Codec
from conformance.limits import HEADER, Contract
from conformance.limits.expectation import Expected, expect, rounded
from conformance.limits.noise import Arithmetic, roundings, using

from .outputs import impostors, is_known, is_open, is_trivial, passes
from .results import Status
from .verdict import UNKNOWN


def unjudged() -> Status:
    """Return the status of a call that could not tell right from wrong, by the arithmetic in use.

    At a coarser precision that was declared it is too fine; at the header's the judge is at fault.
    """
    return Status.MISTRUSTED if roundings() == Arithmetic() else Status.TOO_FINE


class Prepared(NamedTuple):
    """arguments as they reach C, what they must give, and which output that needs no computing would pass, or ""."""

    arguments: dict[str, Any]
    expected: Expected
    weakness: str


_CODEC = Codec(Prepared)


class Preparation:
    """Prepares cases for one seed and one declaration of precision; a store remembers them."""

    def __init__(self, seed: int = 0, declared: Contract = HEADER, store: Store | None = None) -> None:
        self.seed, self.declared, self.store = seed, declared, store or MemoryStore()
        self._last: tuple[str, Expected] = "", {}

    def case(self, case: Case) -> Prepared:
        """Return what a case needs.  Raises GoldenError for a golden that is damaged or no longer of this case."""
        arithmetic = self.declared.of(case.operation).arithmetic
        name = f"case {case.id} seed {self.seed} {arithmetic} {self._golden(case.id)}"
        with using(arithmetic):
            return self.store.recall(name, lambda: self._prepare(case), _CODEC)

    def _prepare(self, case: Case) -> Prepared:
        arguments, expected = self.due(case)
        weakness = self._weakness(case, arguments, expected)
        self._last = case.id, expected
        return Prepared(arguments, expected, weakness)

    def drawn(self, case: Case, draw: int) -> Prepared:
        """Return what the case needs with other numbers in its arrays: those of the seed so many later.

        Its weakness is one towards the draw before: that what was right there would pass.  Raises GoldenError.
        """
        if draw == 0:
            return self.case(case)._replace(weakness="")
        arithmetic = self.declared.of(case.operation).arithmetic
        name = f"draw {draw} of {case.id} seed {self.seed} {arithmetic}"
        with using(arithmetic):
            return self.store.recall(name, lambda: self._drawn(case, draw), _CODEC)

    def _drawn(self, case: Case, draw: int) -> Prepared:
        arguments = with_other_numbers(case, self.seed, draw)
        expected = expect(case.operation, arguments)
        right, stale = (
            operations.narrowed(case.operation, rounded(each))
            for each in (expected, self.drawn(case, draw - 1).expected)
        )
        is_same = all(
            np.array_equal(stale[name], array, equal_nan=array.dtype.kind == "f") for name, array in right.items()
        )
        is_weak = not is_same and passes(case.operation, arguments, expected, stale, case.spec.signed_zeros)
        if not all(map(is_known, expected.values())):
            return Prepared(arguments, expected, UNKNOWN)
        return Prepared(arguments, expected, "the results of other numbers would pass" if is_weak else "")

    def arguments(self, case: Case) -> dict[str, Any]:
        """Return a case's arguments alone; those of its generator, should its golden be damaged."""
        try:
            return self.case(case).arguments
        except GoldenError:
            return case.arguments(self.seed)

    def due(self, case: Case) -> tuple[dict[str, Any], Expected]:
        """Return a case's arguments and what they must give: by its golden where there is one, else by the reference.

        A golden's errors are those of the header's arithmetic; those of any other are computed.  Raises GoldenError.
        """
        arithmetic = self.declared.of(case.operation).arithmetic
        golden = load(case.id) if self.seed == 0 else None
        if golden and arithmetic == Arithmetic():
            return golden.arguments, golden.expected
        arguments = golden.arguments if golden else case.arguments(self.seed)
        with using(arithmetic):
            return arguments, expect(case.operation, arguments)

    def _golden(self, id: str) -> str:
        """A digest of the golden that a case is prepared from: should the file change, it is prepared anew."""
        if self.seed:
            return ""
        try:
            entry = read(FOLDER).cases.get(id)
            return (
                hashlib.sha256(repr(entry).encode() + (FOLDER / file_of(id)).read_bytes()).hexdigest() if entry else ""
            )
        except (GoldenError, OSError):
            return "damaged"

    def _weakness(self, case: Case, arguments: Mapping[str, Any], expected: Expected) -> str:
        """Say which output that needs no computing this case would let pass, or nothing."""
        if case.spec.by_design:
            return UNKNOWN if all(map(is_open, expected.values())) else ""
        if not all(map(is_known, expected.values())):
            return UNKNOWN
        trivial = is_trivial(expected, arguments, case.operation)
        if trivial and not case.spec.trivial:
            return f"the right answer is {trivial}; the case does not say why"
        for name, outputs in impostors(case.operation, arguments, expected, self._before(case)).items():
            if passes(case.operation, arguments, expected, outputs, case.spec.signed_zeros):
                return f"{name} would pass"
        return ""

    def _before(self, case: Case) -> dict[str, NDArray[Any]]:
        """What the case before this one in the catalogue gives, whichever was judged before it."""
        before = previous(case)
        if before is None:
            return {}
        if self._last[0] != before.id:
            try:
                self._last = before.id, self.due(before)[1]
            except GoldenError:  # that case says so itself
                return {}
        return rounded(self._last[1])
