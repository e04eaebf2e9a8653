"""`explain`: why a case exists, what it is made of, and what it can tell."""

from __future__ import annotations

import argparse
import difflib
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bindings.header.records import Parameter
from conformance import ids, operations
from conformance.catalogue.cases import CASES, DESIGNED, REFUSALS, SEQUENCES, CallSequence, Case, Refusal, case_named
from conformance.catalogue.cases.data import DATA
from conformance.catalogue.full import FULL, FullCall
from conformance.exit_codes import HARNESS
from conformance.judging.full import expected_of
from conformance.judging.probes import PROPERTIES, probe_ids
from conformance.limits.expectation import Expected, expect
from conformance.limits.measure import limits, made_of
from conformance.limits.noise import Noisy
from conformance.program import program
from conformance.proof.readings.trial import try_on
from conformance.steps import STEP_CASES, STEPS, StepCase
from conformance.variants.wrong.planted import planted

from .options import add_command

_EXAMPLES = """\
  explain rope_forward/plain/2x33x3x16x0     a case of the catalogue
  explain rope_forward/refused/null_input    a call that must be refused
  explain rope_forward/sequence/alternating  several calls in a row
  explain step1/locked                       a training step
"""
_EXIT = "exit code: 0 explained; 2 there is no such case"
_LEFT, _WIDTH = 16, 104  # columns of headings, and of a line


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "explain", "say why a case exists and what it can tell", run, _EXAMPLES, _EXIT)
    parser.add_argument("case", metavar="CASE", help="an id, as `list` prints it")
    parser.add_argument("--seed", type=int, default=0, help="another draw of the case's data (default: 0)")


def run(options: argparse.Namespace) -> int:
    """Print the explanation; an id that does not exist is answered with those that are near."""
    id = options.case
    if case := case_named(id):
        lines = _case(case, options.seed)
    elif id in REFUSALS:
        lines = _refusal(REFUSALS[id])
    elif id in SEQUENCES:
        lines = _sequence(SEQUENCES[id])
    elif id in FULL:
        lines = _full(FULL[id], options.seed)
    elif id in probe_ids():
        lines = _probe(id)
    elif step := next((step for step in STEPS if id == step or id.startswith(f"{step}/")), ""):
        lines = _step(STEP_CASES[step])
    else:
        return _unknown(id)
    print(id + "\n")
    for line in lines:
        print(line)
    seed = f" --seed {options.seed}" if options.seed else ""
    print(_entry("run", f"{program()} run --library PATH --case '{id}'{seed}"))
    return 0


def _entry(heading: str, text: str) -> str:
    return f"{heading:<{_LEFT}}{text}"


def _unknown(id: str) -> int:
    every = [*CASES, *DESIGNED, *REFUSALS, *SEQUENCES, *FULL, *probe_ids(), *STEPS]
    near = [known for known in every if id in known][:5] or difflib.get_close_matches(id, every, 5)
    print(f"no case is called {id}" + "".join(f"\n  perhaps {known}" for known in near))
    return HARNESS


def _case(case: Case, seed: int) -> Iterator[str]:
    function = operations.OPERATIONS[case.operation]
    yield _entry("operation", f"{case.operation}: {_joined(function.doc)}")
    if case.spec.why:
        yield _entry("why", case.spec.why.replace("_", " "))
    yield _entry("data", f"{case.data}: {_joined(DATA[case.data].__doc__ or '')}")
    yield _entry("sizes", ", ".join(f"{name} = {value}" for name, value in case.sizes.items()))
    if case.spec.trivial:
        yield _entry("trivial", f"doing next to nothing is right here: {case.spec.trivial}")
    arguments = case.arguments(seed)
    for parameter in operations.read_arrays(function):
        yield _entry(parameter.name, _described(parameter, arguments[parameter.name]))
    expected = expect(case.operation, arguments)
    for name, wanted in expected.items():
        yield _entry(name, f"limit {_limit(wanted)}")
    yield from _power(case, arguments, expected)


def _joined(text: str) -> str:
    return " ".join(text.split())


def _described(parameter: Parameter, value: Any) -> str:
    """An argument's type, shape and range."""
    if isinstance(value, list):
        return f"{len(value)} arrays of {parameter.type.dtype}, {_range(np.concatenate([v.ravel() for v in value]))}"
    return f"{parameter.type.dtype} {list(value.shape)}, {_range(value)}"


def _range(array: Any) -> str:
    numbers = array[np.isfinite(array)] if array.dtype.kind == "f" else array.ravel()
    special = array.size - numbers.size
    text = f"from {numbers.min():.4g} to {numbers.max():.4g}" if numbers.size else "no number"
    return text + (f", {special} NaN or infinite" if special else "")


def _limit(wanted: Any) -> str:
    """What each element may be off by, and what that limit is made of."""
    if not isinstance(wanted, Noisy) or not wanted.variance.any():
        return f"0: exact in all {wanted.size} elements"
    limit, is_worst_case = limits(wanted)
    names = made_of(wanted.sigma, is_worst_case)
    parts = ", ".join(f"{name} for {int((names == name).sum())}" for name in np.unique(names))
    inexact = (limit > 0) & np.isfinite(limit) & np.isfinite(wanted.v)
    ulps = limit[inexact] / np.spacing(np.abs(wanted.v[inexact]).astype(np.float32))
    reach = f"{ulps.min():.2g} to {ulps.max():.2g} ulp (median {np.median(ulps):.2g})" if ulps.size else "0 ulp"
    return f"{reach}: {parts} elements"


def _power(case: Case, arguments: Mapping[str, Any], expected: Expected) -> Iterator[str]:
    """The wrong readings of the operation that this case tells from the right one, and those it does not."""
    known = planted(case.operation)
    passed = {attempt.reading: attempt.passed for attempt in try_on(case, arguments, expected, known)}
    caught = [reading for reading in known if not passed.get(reading.id, True)]
    left = [reading.name for reading in known if passed.get(reading.id, True)]
    yield _entry("catches", f"{len(caught)} of {len(known)} wrong readings")
    for reading in caught:
        yield _entry("", f"{reading.name}: {reading.why}")
    if left:
        yield _entry("left to others", ", ".join(left))


def _refusal(case: Refusal) -> Iterator[str]:
    yield _entry("why", "a call that cannot be returns -2 and writes nothing")
    for name, value in case.override.items():
        yield _entry("argument", f"{name} is {'a null pointer' if value is None else value}")
    for entry in case.entries:
        yield _entry("argument", str(entry))
    yield _entry("otherwise", f"the call of {case.base.id}")


def _sequence(sequence: CallSequence) -> Iterator[str]:
    yield from _wrapped("why", sequence.why)
    yield _entry("made", sequence.way)
    for place, call in enumerate(sequence.calls):
        yield _entry("" if place else "calls", f"{call.case.id}: {call.label}")


def _full(call: FullCall, seed: int) -> Iterator[str]:
    function = operations.OPERATIONS[call.operation]
    yield _entry("operation", f"{call.operation}: {_joined(function.doc)}")
    yield from _wrapped("why", call.why or "the sizes of the full model")
    yield _entry("sizes", ", ".join(f"{name} = {value}" for name, value in call.sizes.items()))
    drawn = call.draw(seed)
    for axis, places in drawn.places.items():
        times = ", each times a power of two" if places.factor is not None else ""
        members = int(places.member.max()) + 1
        yield _entry("drawn", f"{members} along {axis}, which stand in no order in {places.member.size} places{times}")
    full = drawn.whole()
    for parameter in operations.read_arrays(function):
        yield _entry(parameter.name, _described(parameter, full[parameter.name]))
    for name, wanted in expected_of(call, drawn).items():
        yield _entry(name, f"limit {_limit(wanted)}, in every place each of them stands in")


def _probe(id: str) -> Iterator[str]:
    yield _entry("property", f"{PROPERTIES[ids.property_of(id)]}, of {ids.operation_of(id)}")
    yield _entry("why", "limits follow what is declared; this finds what is so, and needs no tolerance")


def _step(case: StepCase) -> Iterator[str]:
    yield from _wrapped("why", case.why)
    yield from _wrapped("data", case.data)


def _wrapped(heading: str, text: str) -> Iterator[str]:
    for place, line in enumerate(textwrap.wrap(text, _WIDTH - _LEFT)):
        yield _entry("" if place else heading, line)
