"""A sequence that fails as a file: the factors of each call, from which its arrays are drawn again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conformance.catalogue.design.space import space_of
from conformance.operations import OPERATIONS

from .draw import Call, is_possible
from .sequence import Step, Steps, refusals_of

_KEYS = {"row", "seed", "run", "refusal"}


class SequenceError(ValueError):
    """A file that holds no sequence; the message names it, what was expected and what was found."""


def write_steps(path: Path, steps: Steps) -> None:
    """Write a sequence to a new file in a folder that is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    calls = [{"row": step.call.row, "seed": step.call.seed, "run": step.run, "refusal": step.refusal} for step in steps]
    text = json.dumps({"operation": steps[0].call.operation, "calls": calls}, indent=1)
    with path.open("x", encoding="utf-8") as file:
        file.write(text + "\n")


def read_steps(path: Path) -> Steps:
    """Return the sequence that a file holds.  Raises SequenceError, and OSError where it cannot be read."""
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        operation, calls = held["operation"], held["calls"]
    except (ValueError, KeyError, TypeError):
        raise SequenceError(f"{path}: expected a sequence that `hunt --keep` wrote, got something else") from None
    if operation not in OPERATIONS:
        raise SequenceError(f"{path}: expected one of the header's operations, got {operation!r}")
    if not isinstance(calls, list) or not calls:
        raise SequenceError(f"{path}: expected a list of one call or more, got {calls!r}")
    return tuple(_step(f"{path}: call {number}", operation, call) for number, call in enumerate(calls, 1))


def _step(where: str, operation: str, held: Any) -> Step:
    if not isinstance(held, dict) or held.keys() != _KEYS:
        raise SequenceError(f"{where}: expected {', '.join(sorted(_KEYS))}, got {held!r}")
    factors = [factor.name for factor in space_of(operation).factors]
    if not isinstance(held["row"], dict) or [*held["row"]] != factors:
        raise SequenceError(f"{where}: expected the factors {', '.join(factors)}, got {held['row']!r}")
    row = {name: tuple(value) if isinstance(value, list) else value for name, value in held["row"].items()}
    call = Call(operation, row, held["seed"])
    if type(call.seed) is not int or held["run"] not in (1, 2) or not _is_call(call):
        raise SequenceError(f"{where}: expected a call that the header allows in run 1 or 2, got {held!r}")
    if held["refusal"] and held["refusal"] not in (known := refusals_of(call)):
        raise SequenceError(f"{where}: expected one of {', '.join(known)} as refusal, got {held['refusal']!r}")
    return Step(call, held["run"], held["refusal"])


def _is_call(call: Call) -> bool:
    """Whether each factor is of the type of its levels, and the header allows the call."""
    space = space_of(call.operation)
    types = {factor.name: {type(level) for level in factor.levels} for factor in space.factors}
    if not all(type(value) in types[name] for name, value in call.row.items()):
        return False
    if any(call.row[name] not in makers for name, makers in space.makers.items()):
        return False
    return is_possible(space, call.row)
