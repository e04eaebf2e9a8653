"""Which cases and steps a run is about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import islice
from typing import NamedTuple

from conformance.candidates.files import answerable
from conformance.catalogue.cases import CASES, DESIGNED, REFUSALS, SEQUENCES
from conformance.catalogue.design.space import space_of
from conformance.catalogue.full import FULL
from conformance.catalogue.keywords import Keywords
from conformance.ids import is_designed, is_full, is_many_long, is_of_many, is_probe, is_without_memory, operation_of
from conformance.judging.probes import probe_ids
from conformance.operations import OPERATIONS
from conformance.steps import STEP_CASES, STEPS

CALLS_A_STEP = 110  # what a step of the tiny model comes to; for the progress bar only


class DearCases(NamedTuple):
    """Cases that take minutes on an emulated device, where they are judged if a word of -k asks for them.

    word: that one; noun, where: one of them in words; asked_by: options that ask for them; holds: whether an id is of
    one.
    """

    word: str
    noun: str
    where: str
    asked_by: str
    holds: Callable[[str], bool]


_SMALL = 1 / 64  # of what a designed case costs at most: 4,096 numbers, or 65,536 multiplications
_FULL = DearCases("full", "call", " at full size", "-k full --limit 120", is_full)


def is_large_design(id: str) -> bool:
    """Whether it is a designed case that costs an emulated device more than most cases stated by hand."""
    return is_designed(id) and space_of(operation_of(id)).cost_of(DESIGNED[id].sizes) > _SMALL


def is_large_product(id: str) -> bool:
    """Whether it is a large designed case that multiplies rows by columns, or the like.

    The other large ones take a tenth of a second each, as they walk over their numbers once.
    """
    return is_large_design(id) and space_of(operation_of(id)).design.work is not None


def is_of_many_experts(id: str) -> bool:
    """Whether it is of a call to be refused for one of many experts, each of which has blocks of its own."""
    return is_of_many(id) and id.endswith("n_experts")


_LONG = DearCases("many_long", "long call", " again and again", "-k many_long", is_many_long)
_REFUSED, _ASKED = "refusal", "-k of_many --limit 300"
DEAR = (
    _FULL,
    _LONG,
    DearCases("of_many", _REFUSED, " of a product of many experts", _ASKED, is_of_many_experts),
    DearCases("designed", "large designed case", " of products", "-k designed", is_large_product),
)
_OF_MANY = DearCases("of_many", _REFUSED, " for one of many entries", _ASKED, is_of_many)
# Where a sanitiser watches, which costs some ten times as much.
DEAR_WATCHED = (
    _FULL,
    _LONG,
    _OF_MANY,
    DearCases("designed", "large designed case", "", "-k designed", is_large_design),
)
# Where the same library is judged with small ones already.
_FURTHER = DearCases("designed", "designed case", " in a further order of threads", "-k designed", is_designed)
_SHORT = DearCases(
    "without_memory", "call", " without memory in a further order of threads", "-k without_memory", is_without_memory
)
DEARER = (_FULL, _LONG, _OF_MANY, _FURTHER, _SHORT)


@dataclass(frozen=True)
class Selection:
    """Ids of the catalogue, names of steps, and what chose them."""

    cases: tuple[str, ...]
    steps: tuple[str, ...]
    keywords: Keywords
    ids: tuple[str, ...]
    named: tuple[str, ...] = ()  # the operations that -o names
    shard: tuple[int, int] = (1, 1)  # which of how many parts of the operations and steps

    def __bool__(self) -> bool:
        return bool(self.cases or self.steps)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return not self.keywords and not self.ids and not self.named and self.shard[1] == 1

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that the cases are of, in the header's order."""
        found = {operation_of(id) for id in self.cases}
        return tuple(operation for operation in OPERATIONS if operation in found)

    @property
    def expected(self) -> int:
        """About how many results there will be."""
        return len(self.cases) + CALLS_A_STEP * sum(STEP_CASES[step].steps for step in self.steps)

    def wants(self, id: str) -> bool:
        """Whether a result is one that was asked for: of a step, perhaps one call only."""
        named = any(id == wanted or id.startswith((f"{wanted}/", f"{wanted} ")) for wanted in self.ids)
        return (named or not self.ids) and self.keywords.matches(id)

    def without(self, operations: Iterable[str], steps: Iterable[str] = ()) -> Selection:
        """Return the selection less the cases of these operations and these steps."""
        gone, left_out = set(operations), set(steps)
        cases = tuple(id for id in self.cases if operation_of(id) not in gone)
        return replace(self, cases=cases, steps=tuple(step for step in self.steps if step not in left_out))

    def without_cases(self, ids: Collection[str]) -> Selection:
        """Return the selection less these cases."""
        return replace(self, cases=tuple(id for id in self.cases if id not in ids))

    def without_dear(self, dear: DearCases) -> Selection:
        """Return the selection less these cases, unless they were asked for in so many words."""
        if any(dear.word in word for word in self.keywords.words) or any(map(dear.holds, self.ids)):
            return self
        cases, steps = (tuple(id for id in ids if not dear.holds(id)) for ids in (self.cases, self.steps))
        return replace(self, cases=cases, steps=steps)

    def part(self, which: int, parts: int) -> Selection:
        """Return one of so many parts, counted from 1: every so manieth operation and step; together they are all."""
        ours = {*islice(OPERATIONS, which - 1, None, parts)}
        cases = tuple(id for id in self.cases if operation_of(id) in ours)
        steps = tuple(step for step in self.steps if step in STEPS[which - 1 :: parts])
        return replace(self, cases=cases, steps=steps, shard=(which, parts))

    def of_probes(self) -> Selection:
        """Return the probes of the selection."""
        return replace(self, cases=tuple(id for id in self.cases if is_probe(id)), steps=())


class UnknownOperationError(ValueError):
    """A name or pattern that meets no operation of the header; the message offers what is near."""


def operations_named(text: str) -> tuple[str, ...]:
    """Return the operations that `rmsnorm,silu` or `rmsnorm*` names, in the order given.

    Raises UnknownOperationError.
    """
    found: dict[str, None] = {}
    for name in filter(None, (part.strip() for part in text.split(","))):
        met = [operation for operation in OPERATIONS if fnmatchcase(operation, name)]
        if not met:
            raise UnknownOperationError(_unknown(name))
        found |= dict.fromkeys(met)
    if not found:
        raise UnknownOperationError(f"expected names of operations, got {text!r}")
    return tuple(found)


def _unknown(name: str) -> str:
    bare = name.removeprefix("cuda_")
    near = [bare] if bare in OPERATIONS else get_close_matches(bare, OPERATIONS, 3)
    hint = f"; did you mean {' or '.join(near)}?" if near else "; `list` shows what there is"
    return f"the header declares no operation {name}{hint}"


def is_counted(id: str) -> bool:
    """Whether it is one of those that the manifest's floor counts: cases but designed ones, refusals and sequences."""
    return not is_probe(id) and not is_full(id) and not is_designed(id)


def select(
    keywords: Keywords, ids: Sequence[str] = (), named: Sequence[str] = (), absent: Collection[str] = ()
) -> Selection:
    """Choose by keywords, among exact ids if any are given, and among the operations that are named if any are.

    A step is run as a whole: an id of one of its calls, or a word that names an operation, chooses among its results.
    Named operations choose no step: there they are called with others.  Of absent operations no probes are looked for
    where nothing speaks of them: to find those there are takes a while.
    """

    def meant(id: str) -> bool:
        return keywords.matches(id) and (not named or operation_of(id) in named)

    if ids:
        asked = set(ids)
        known = (CASES, DESIGNED, REFUSALS, SEQUENCES, FULL)
        probes = probe_ids(lambda one: one in asked)
        cases = [id for id in ids if id in probes or any(id in held for held in known)]
        steps = [step for step in STEPS if any(_is_meant(step, id, keywords) for id in ids)]
    else:
        left_out = () if keywords else absent
        asked = {one for one in named or OPERATIONS if keywords.could_match_of(one)}
        cases = [
            *CASES.among(asked),
            *DESIGNED.among(asked),
            *REFUSALS.among(asked),
            *SEQUENCES.among(asked),
            *FULL,
            *probe_ids(lambda id: meant(id) and operation_of(id) not in left_out),
        ]
        steps = [step for step in STEPS if keywords.could_match_within(step)]
    chosen = dict.fromkeys(id for id in cases if meant(id))
    return Selection(tuple(chosen), () if named else tuple(steps), keywords, tuple(ids), tuple(named))


def _is_meant(step: str, id: str, keywords: Keywords) -> bool:
    """Whether an id is the step's own or one of its calls', and the keywords leave it in."""
    if id == step:
        return keywords.could_match_within(step)
    return id.startswith(f"{step}/") and keywords.matches(id)


def select_goldens(keywords: Keywords, ids: Iterable[str] = (), named: Sequence[str] = ()) -> Selection:
    """Choose among the goldens as `select` does among all cases."""
    wanted, operations = set(ids), set(named)
    found = tuple(
        id
        for id in answerable()
        if keywords.matches(id) and (id in wanted or not wanted) and (operation_of(id) in operations or not operations)
    )
    return Selection(found, (), keywords, tuple(ids), tuple(named))
