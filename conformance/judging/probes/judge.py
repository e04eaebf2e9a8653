"""Judges a property: what is found against what is declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from conformance import ids, operations
from conformance.candidates.worker.worker import THREADS, Worker
from conformance.catalogue.cases import CASES, Case
from conformance.catalogue.families import facts_of
from conformance.catalogue.prepared.codec import Codec
from conformance.judging.bench import ENDED, Bench
from conformance.judging.results import Result, Status
from conformance.limits import Declaration
from conformance.limits.contract import NEAREST, TOWARD_ZERO
from conformance.limits.noise import FORMATS, roundings, using

from . import functions
from .channels import Channel, carries, sums
from .measures import (
    ONES,
    Call,
    Numbers,
    differs,
    due_bits,
    flushes,
    format_of,
    kept_bits,
    least_of_ones,
    one_and,
    one_more,
    ones,
    rounds_up,
)
from .units import unit_of

Observation = tuple[str, str]  # what was found, in words; and why that is wrong, or nothing
REPEATS = 4


class _EndedError(Exception):
    """A call that gave no outputs, or outputs that tell nothing."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def judge_probe(id: str, bench: Bench) -> Result:
    """Judge one of `probe_ids()`.  The result's detail says what was found."""
    operation, name = ids.operation_of(id), ids.property_of(id)
    declared = bench.declared.of(operation)
    try:
        with using(declared.arithmetic):
            found, wrong = _PROBES[name](operation, declared, bench)
    except _EndedError as ended:
        return Result(id, operation, ended.status, str(ended))
    return Result(id, operation, Status.FAIL if wrong else Status.PASS, wrong, detail=found)


def _caller(bench: Bench, worker: Any = None) -> Call:
    """Calls of a bench's library, on its worker or another one."""

    def call(operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        outcome = (worker or bench.worker).run(operation, arguments)
        if outcome.status == "done" and outcome.code == 0:
            return operations.flat(outcome.outputs)
        if reason := bench.declined(operation, arguments, outcome):
            raise _EndedError(Status.NOT_SUPPORTED, reason)
        reason = outcome.detail.strip().split("\n")[0] or f"returned {outcome.code}"
        raise _EndedError(ENDED.get(outcome.status, Status.FAIL), reason)

    return call


def _inputs(operation: str, declared: Declaration, bench: Bench) -> Observation:
    return _judge_format(operation, *_shortest(declared, "inputs", "output", "intermediate"), bench)


def _output(operation: str, declared: Declaration, bench: Bench) -> Observation:
    return _judge_format(operation, *_shortest(declared, "output", "intermediate"), bench)


def _bits(format: str) -> int:
    return FORMATS[format].bits


_WORDS = {"inputs": "inputs", "output": "output", "intermediate": "intermediate results"}


def _shortest(declared: Declaration, *keys: str) -> tuple[int, str]:
    """The fewest digits that one of the keys leaves, and what that is declared to be, in words."""
    key = min(keys, key=lambda key: _bits(getattr(declared, key)))
    return _bits(getattr(declared, key)), f"{getattr(declared, key)} {_WORDS[key]}"


def _stored_bits(operation: str, declared: Declaration) -> int:
    """How many digits what leaves the operation has: as it is declared, or as the header stores it in 16 bits."""
    stored = (p.element for p in operations.written_arrays(operations.OPERATIONS[operation]) if p.type.is_half)
    return min(map(_bits, (declared.output, declared.intermediate, *stored)))


def _judge_format(operation: str, declared: int, words: str, bench: Bench) -> Observation:
    call = _caller(bench)
    found = {channel: kept_bits(channel, one_more, call) for channel in carries(operation)}
    worst = min(found, key=lambda channel: found[channel])
    for channel, bits in found.items():
        if bits < _due_bits(channel, one_more, declared, bench):
            return format_of(
                bits
            ), f"declared {words}; found {format_of(bits)} from {channel.input} to {channel.output}"
    return format_of(found[worst]), ""


def _due_bits(channel: Channel, numbers: Numbers, declared: int, bench: Bench) -> int:
    """Return what `due_bits` finds of a channel, at once where it has been asked before."""
    known = f"{declared} digits of {numbers.__name__} due from {channel.described} {roundings()}"
    return bench.store.recall(known, lambda: due_bits(channel, numbers, declared), Codec())


def _accumulator(operation: str, declared: Declaration, bench: Bench) -> Observation:
    if declared.accumulator.endswith(" fp8"):
        raise _EndedError(Status.TOO_FINE, "operands of fp8 do not hold the numbers that would tell")
    call, format = _caller(bench), declared.sums
    due = min(format.bits, _stored_bits(operation, declared))
    is_short = due < format.bits  # as it is stored: behind a logarithm the last digit is worth many ones
    fewest = 0
    for channel in sums(operation):
        bits = kept_bits(channel, one_and, call)
        fewest = min(bits, fewest or bits)
        if bits < _due_bits(channel, one_and, due, bench):
            words = f"declared {declared.accumulator} sums; found {format_of(bits)} from {channel.input}"
            return format_of(bits), words
    count = _terms(operation, due == format.bits)
    affordable = [channel for channel in sums(operation) if channel.is_affordable(count)]
    for channel in dict.fromkeys(affordable[:1] + affordable[-1:]):
        total = ones(channel, count, call)
        least = min(count, int(1 / format.unit)) * (1 - 2.0 ** -(due + 1))
        if total < least and not (is_short and total >= least_of_ones(channel, count)):
            return f"{count} ones add up to {total}", f"declared {format.name} sums; {count} ones add up to {total}"
    return format_of(fewest), ""


def _terms(operation: str, is_seen_whole: bool) -> int:
    """Return how many ones are added up: no more than in any model, where two numbers have shown a sum's last digit."""
    return min(ONES, facts_of(operation).longest_sum or ONES) if is_seen_whole else ONES


def _rounding(operation: str, declared: Declaration, bench: Bench) -> Observation:
    call = _caller(bench)
    up = all(rounds_up(channel, call) for channel in sums(operation) if channel.is_exact)
    if min(declared.sums.bits, _bits(declared.output), _bits(declared.intermediate)) < _bits("float32"):
        raise _EndedError(Status.TOO_FINE, "sums are declared, or stored, shorter than float32")
    found = NEAREST if up else TOWARD_ZERO
    wrong = not up and not declared.truncates
    return found, f"declared sums rounded to nearest; found {TOWARD_ZERO}" if wrong else ""


def _matrix_unit(operation: str, declared: Declaration, bench: Bench) -> Observation:
    found = unit_of(operation, _caller(bench))
    return found.name, "" if found.is_as_declared else f"declared {declared.accumulator} sums; found {found.name}"


def _flush(operation: str, declared: Declaration, bench: Bench) -> Observation:
    call = _caller(bench)
    lost = [channel for channel in carries(operation) if flushes(channel, call)]
    if not lost:
        return "no", ""
    return "yes", f"declared to keep subnormal numbers; found 2^-130 in {lost[0].input} to become 0"


def _functions(operation: str, declared: Declaration, bench: Bench) -> Observation:
    found = functions.worst(list(functions.points(operation, _caller(bench))))
    if min(_bits(declared.output), _bits(declared.intermediate)) < _bits("float32"):
        raise _EndedError(Status.TOO_FINE, "what functions give is declared to be stored shorter than float32")
    due = functions.ASSUMED | dict(declared.functions)
    words = ", ".join(f"{name} {units:.2g}" for name, units in found.items())
    for name, units in found.items():
        if units > due[name]:
            is_declared = name in dict(declared.functions)
            said = f"{'declared' if is_declared else 'expected'} {name} to {due[name]:g} units in the last place"
            return words, f"{said}; found {units:.3g}"
    return words, ""


def _deterministic(operation: str, declared: Declaration, bench: Bench) -> Observation:
    """The largest case, repeated; on several threads where the worker has a library."""
    id = bench.store.recall(f"largest case of {operation}", lambda: _largest(operation).id, Codec())
    arguments = bench.preparation.arguments(CASES[id])
    name = differs(operation, arguments, [_caller(bench, _threaded(bench.worker))] * REPEATS)
    if not name:
        return "yes", ""
    wrong = f"declared deterministic; found {name} to differ from call to call on {THREADS} threads"
    return "no", wrong if declared.deterministic else ""


def _threaded(worker: Any) -> Any:
    """A worker of the same library with several threads; anything that is no worker as it is."""
    return worker.threaded() if isinstance(worker, Worker) else worker


def _largest(operation: str) -> Case:
    return max(CASES.of(operation).values(), key=_size)


def _size(case: Case) -> int:
    return sum(array.size for array in operations.flat(case.arguments()).values() if isinstance(array, np.ndarray))


_PROBES: dict[str, Callable[[str, Declaration, Bench], Observation]] = {
    "inputs": _inputs,
    "output": _output,
    "accumulator": _accumulator,
    "rounding": _rounding,
    "matrix_unit": _matrix_unit,
    "flush_to_zero": _flush,
    "functions": _functions,
    "deterministic": _deterministic,
}
