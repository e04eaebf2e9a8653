"""The designed cases: what each row of an operation's covering array calls."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

from conformance import operations
from conformance.catalogue.design.covering import Row
from conformance.catalogue.design.rows import rows_of
from conformance.catalogue.design.space import Space, level_text, space_of
from conformance.catalogue.families import facts_of, specs

from .spec import Case, Maker, Sizes, Spec, nan

NAME = "designed"  # the data set of every designed case, as it stands in its id


def designed(operation: str) -> Iterator[Case]:
    """Yield the designed cases of an operation; an id names the levels of a row, in the order of the factors."""
    space = space_of(operation)
    return (case_of(space, row) for row in rows_of(operation))


def case_of(space: Space, row: Row, data: str = NAME, suffix: str = "") -> Case:
    """Return the case of a row, whether or not its values are levels."""
    sizes = space.sizes(row)
    given = {name: makers[row[name]] for name, makers in space.makers.items()}
    inputs = {**given, **_unread(space.operation, sizes)}
    signed = signed_zeros(space.operation) and not _is_multiplied_out(space.operation, row)
    spec = Spec(space.operation, {}, inputs, space.design.finish, signed_zeros=signed, by_design=True)
    return Case(space.operation, data, name_of(space, row) + suffix, sizes, spec)


@functools.cache
def signed_zeros(operation: str) -> bool:
    """Return whether the sign of a zero counts in a stated case of an operation: then it does in designed ones too."""
    return any(spec.signed_zeros for spec in specs() if spec.operation == operation)


def _is_multiplied_out(operation: str, row: Row) -> bool:
    """Whether a row's function is a number times a sum: x * (1 + t) keeps the sign of -0, x + x * t loses it."""
    return row.get("function") in facts_of(operation).multiplied_out


def id_of(space: Space, row: Row) -> str:
    """Return the id of the case of a row."""
    return f"{space.operation}/{NAME}/{name_of(space, row)}"


def name_of(space: Space, row: Row) -> str:
    """Return the sizes and scalars, joined by x, and what each array is filled with."""
    numbers = (level_text(row[factor.name], factor) for factor in space.factors if factor.name not in space.makers)
    return "_".join(["x".join(numbers), *(row[name] for name in space.makers)])


def _unread(operation: str, sizes: Sizes) -> Mapping[str, str | Maker]:
    """What must not be read holds no number."""
    arrays = operations.read_arrays(operations.OPERATIONS[operation])
    return {p.name: nan for p in arrays if not p.is_read(sizes)}
