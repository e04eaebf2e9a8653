"""Plants faults: a tenth of an operation's design is held out, and a fault made up that a held-out case alone finds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance import operations
from conformance.candidates.worker.outcome import Outcome
from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import CASES
from conformance.catalogue.cases.designed import case_of, id_of
from conformance.catalogue.design.covering import Row
from conformance.catalogue.design.rows import rows_of
from conformance.catalogue.design.space import space_of
from conformance.catalogue.full import FULL
from conformance.judging.bench import Bench
from conformance.operations import OPERATIONS

from .conditions import Conditions, conditions_of, hold, only_here
from .slips import SLIPS, with_slip

HELD_OUT = 0.1  # of the rows of a design
_ATTEMPTS = 60  # faults that are made up for an operation before it is said to have none


@dataclass(frozen=True)
class Fault:
    """Results of an operation that are wrong where a call meets some conditions.

    output: which result.  slip: what becomes of it (SLIPS).  place: where in it.  found_by: the id of the held-out
    case that finds it.
    """

    operation: str
    conditions: Conditions
    output: str
    slip: str
    place: int
    found_by: str

    @property
    def kind(self) -> str:
        """Of what its conditions speak: "size and values"."""
        return " and ".join(one.kind for one in self.conditions)

    @property
    def described(self) -> str:
        """What it does, and where, for a person."""
        return f"{self.output}: {self.slip} where {' and '.join(one.described for one in self.conditions)}"


class PlantedWorker(Worker):
    """A right library that has a fault: of calls that meet the conditions the results are changed."""

    def __init__(self, library: Path, fault: Fault | None = None) -> None:
        super().__init__(library)
        self.fault = fault

    def run(self, operation: str, arguments: Mapping[str, Any], override: Mapping[str, Any] | None = None) -> Outcome:
        """Call the operation as a Worker does; see there."""
        outcome, fault = super().run(operation, arguments, override), self.fault
        if (
            fault is None
            or override
            or operation != fault.operation
            or outcome.status != "done"
            or outcome.code != 0
            or not hold(fault.conditions, operation, arguments)
        ):
            return outcome

        def changed(outputs: Mapping[str, Any]) -> dict[str, Any]:
            return with_slip(outputs, fault.output, fault.slip, fault.place) if outputs else {}

        first = changed(outcome.outputs)
        return replace(outcome, outputs=first, again=first, elsewhere=changed(outcome.elsewhere))


class Plants:
    """Makes up faults in a right library; a seed makes the same ones, always."""

    def __init__(self, library: Path, seed: int) -> None:
        self._library, self._seed = library, seed

    def operations(self) -> list[str]:
        """Return all operations in the order in which faults are planted in them."""
        order = list(OPERATIONS)
        random.Random(f"held out {self._seed}").shuffle(order)
        return order

    def plant(self, operation: str) -> Fault | None:
        """Return a fault of an operation; nothing where none of those that were made up shows in a held-out case."""
        draw = random.Random(f"held out {self._seed} {operation}")
        rows = rows_of(operation)
        held = {*draw.sample(range(len(rows)), max(1, round(HELD_OUT * len(rows))))}
        remaining = [row for number, row in enumerate(rows) if number not in held]
        with PlantedWorker(self._library) as worker:
            for row, fault in _candidate_faults(operation, [rows[number] for number in sorted(held)], remaining, draw):
                worker.fault = fault
                if not Bench(worker, explains=False).case(case_of(space_of(operation), row)).is_fine:
                    return fault
        return None


def _candidate_faults(
    operation: str, held: Sequence[Row], remaining: Sequence[Row], draw: random.Random
) -> Iterator[tuple[Row, Fault]]:
    """Yield faults that none of the other cases meets the conditions of, each with the held-out row that does."""
    space = space_of(operation)
    others = [case.arguments() for case in CASES.of(operation).values()]
    others += [case_of(space, row).arguments() for row in remaining]
    at_full_size = [call.sizes for call in FULL.values() if call.operation == operation]
    outputs = [parameter.name for parameter in operations.written_arrays(OPERATIONS[operation])]
    for _ in range(_ATTEMPTS):
        row = draw.choice(held)
        met = conditions_of(operation, case_of(space, row).arguments())
        if not (found := only_here(operation, met, others, at_full_size)):
            continue
        kinds = sorted({tuple(one.kind for one in each) for each in found})
        kind = draw.choice(kinds)
        conditions = draw.choice([each for each in found if tuple(one.kind for one in each) == kind])
        slip, place = draw.choice([*SLIPS]), draw.randrange(2**31)
        yield row, Fault(operation, conditions, draw.choice(outputs), slip, place, id_of(space, row))
