"""All restrictions in the order in which a process can take them on, and the words for those that hold."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from . import capabilities, landlock, limits, namespaces, seccomp
from .landlock import EVERYTHING, Rule

TRUSTED, _LACKS = "trusted: kept from nothing", "; this machine cannot keep it from "
TRUST, TRUST_OPTION = "ASSAYER_TRUST", "--trust"  # the variable by which the option reaches all the judge's processes


class Held(StrEnum):
    """What a restriction keeps a candidate from; the words stand in reports."""

    FILES = "files of others"
    NETWORK = "the network"
    MEMORY = "the memory of others"
    SIGNALS = "signals to others"
    PROCESSES = "processes that outlive it"
    ROOT = "root's rights"
    LIMITS = "unbounded memory"


@dataclass(frozen=True)
class Walls:
    """What a candidate's process is kept within.

    rules: what it may do with files.  scratch: an empty folder, in whose place it gets one of its own.  memory: bytes
    that it may hold.
    """

    rules: Sequence[tuple[str, int]] = ()
    scratch: str = ""
    memory: int = 0


@dataclass
class Entered:
    """How far the process was shut off before: namespaces left, and whether it sees no processes but its own."""

    namespaces: Collection[str] = ()
    is_alone: bool = False


def is_trusted() -> bool:
    """Whether restrictions were refused by --trust or the variable."""
    return bool(os.environ.get(TRUST))


def described(held: Sequence[str]) -> str:
    """Say what a candidate was kept from, and what this machine could not keep it from."""
    if is_trusted():
        return TRUSTED
    lacking = [str(each) for each in Held if each not in held]
    kept = f"kept from {_listed(held)}" if held else "kept from nothing"
    return f"{kept}{_LACKS}{_listed(lacking)}" if lacking else kept


def is_lacking(description: str) -> bool:
    """Whether a description is of less than all restrictions."""
    return description == TRUSTED or _LACKS in description


def _listed(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def restrict(walls: Walls, before: Entered) -> list[Held]:
    """Restrict this process for ever; return what it is kept from."""
    held = {Held.PROCESSES, Held.LIMITS}
    limits.limit(namespaces.NAMES[namespaces.USER] in before.namespaces)
    with contextlib.suppress(OSError):
        capabilities.gain_no_more()
    if _holds(capabilities.drop):
        held.add(Held.ROOT)
    if version := _landlock(walls):
        held |= {Held.FILES, Held.MEMORY}
        held |= {Held.SIGNALS} if version >= landlock.SCOPES_SINCE else set()
    if before.is_alone:
        held.add(Held.SIGNALS)
    if namespaces.NAMES[namespaces.NETWORK] in before.namespaces:
        held.add(Held.NETWORK)
    if _holds(functools.partial(seccomp.restrict, not before.is_alone)):
        held |= {Held.NETWORK, Held.MEMORY, Held.SIGNALS}
    return [each for each in Held if each in held]


def _holds(restriction: Callable[[], None]) -> bool:
    try:
        restriction()
    except OSError:
        return False
    return True


def _landlock(walls: Walls) -> int:
    """The version of Landlock that holds, 0 where none does."""
    with contextlib.suppress(OSError):
        return landlock.restrict(_allowed(walls))
    return 0


def _allowed(walls: Walls) -> Iterator[Rule]:
    yield from (Rule(path, rights) for path, rights in walls.rules)
    yield Rule(walls.scratch, EVERYTHING)
    yield Rule("/proc/self", EVERYTHING)  # CUDA's driver opens its threads' names, truncating
