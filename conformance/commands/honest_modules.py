"""Honest modules, which others wrote, judged on many draws: how much of the limits they use, and what they fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from conformance.candidates.candidate import Candidate, close_idle_workers, module_candidates
from conformance.candidates.exports import absent
from conformance.candidates.module.source import find
from conformance.catalogue.cases import CASES, DESIGNED, case_of
from conformance.catalogue.full import FULL
from conformance.catalogue.keywords import Keywords
from conformance.commands.run.runner import Setting, judge_all
from conformance.ids import is_full
from conformance.judging.bench import Bench
from conformance.judging.results import Result, Status
from conformance.limits import Contract
from conformance.limits.noise import using
from conformance.operations import OPERATIONS, flat
from conformance.proof.differences import Difference, those_met
from conformance.proof.headroom import Row, write_rows
from conformance.report.record import counted

_HEADS = f"{'operation':<28} {'runs':>6} {'fail':>5} {'known':>5} {'error/limit':>11}"


@dataclass
class Tally:
    """What came of one operation's runs: how many, the largest share of a limit of those that passed, the failures.

    unjudged: cases that are no run, as the contract says: of sizes that are not supported, or too fine for it.
    """

    operation: str
    runs: int = 0
    share: float = 0.0
    failed: list[tuple[int, Result]] = field(default_factory=list)  # each with its seed
    known: dict[tuple[int, str], list[Difference]] = field(default_factory=dict)  # of those, by seed and id
    unjudged: int = 0

    def add(self, seed: int, result: Result) -> None:
        """Count one run, or a case that is none."""
        if result.status in (Status.NOT_SUPPORTED, Status.TOO_FINE):
            self.unjudged += 1
            return
        self.runs += 1
        if result.is_fine:
            self.share = max([self.share, *(verdict.share for verdict in result.verdicts)])
        else:
            self.failed.append((seed, result))

    def row(self, library: str) -> Row:
        """Return what a table keeps of it."""
        return Row(library, self.operation, self.runs, len(self.failed), len(self.known), f"{self.share:.3f}")


@dataclass(frozen=True)
class Counting:
    """How modules are judged, and what is kept of it.

    framework: whose arrays their functions take.  known: where they are known to differ.  limit_s: seconds that a call
    may take.  table: where rows are kept, too.
    """

    framework: str
    seeds: Sequence[int]
    words: Keywords
    declared: Contract
    known: Sequence[Difference] = ()
    processes: int = 2
    limit_s: float = 20.0
    table: Path | None = None


def count_modules(modules: Sequence[tuple[str, str]], how: Counting) -> int:
    """Judge every operation that a module has by all cases that match, print what came of it, and return 1 where
    something failed that no known difference is the reason of.

    modules: what each is called, and the file or name that it is found by.  Raises LibraryError, CandidateError and
    TableError.
    """
    candidates = module_candidates([(called, find(text, how.framework)) for called, text in modules])
    unknown = 0
    for candidate in candidates:
        print(f"{candidate.name}\n{_HEADS}", flush=True)
        tallies = _tallies(candidate, how)
        for tally in tallies:
            print("\n".join(_lines(tally)), flush=True)
        if how.table:
            write_rows(how.table, [tally.row(candidate.name) for tally in tallies])
        print(_sum(candidate, tallies, how.known))
        unknown += sum(len(tally.failed) - len(tally.known) for tally in tallies)
    return int(unknown > 0)


def _sum(candidate: Candidate, tallies: Sequence[Tally], known: Sequence[Difference]) -> str:
    runs, failed = sum(tally.runs for tally in tallies), sum(len(tally.failed) for tally in tallies)
    line = f"{candidate.name}: {len(tallies)} operations, {runs} runs, {failed} failed"
    if unjudged := sum(tally.unjudged for tally in tallies):
        line += f", {counted(unjudged, 'case')} beyond the contract not judged"
    if not known:
        return line
    mine = _of(candidate, known)
    met = {difference for tally in tallies for found in tally.known.values() for difference in found}
    unmet = [f"    not met here: {', '.join(each.operations)}: {each.why}" for each in mine if each not in met]
    explained = sum(len(tally.known) for tally in tallies)
    return "\n".join([*unmet, f"{line}; {explained} by known differences"])


def _of(candidate: Candidate, known: Sequence[Difference]) -> list[Difference]:
    return [difference for difference in known if candidate.path.name in difference.modules]


def _tallies(candidate: Candidate, how: Counting) -> list[Tally]:
    there = [operation for operation in OPERATIONS if operation not in absent(candidate)]
    close_idle_workers()
    held = [*CASES.among(set(there)), *DESIGNED.among(set(there)), *FULL]
    tallies = {operation: Tally(operation) for operation in there}
    ids = [id for id in held if how.words.matches(id) and _operation(id) in tallies]
    known = _of(candidate, how.known)
    for seed in how.seeds:
        setting = Setting(candidate, seed, limit_s=how.limit_s, declared=how.declared)
        for results in judge_all(ids, (), setting, how.processes):
            for result in results:
                tallies[result.operation].add(seed, result)
        if known:
            _explain(tallies.values(), setting, known)
        if len(how.seeds) > 1:
            print(f"  seed {seed}: {counted(sum(tally.runs for tally in tallies.values()), 'run')} judged", flush=True)
    return [tally for tally in tallies.values() if tally.runs]


def _explain(tallies: Iterable[Tally], setting: Setting, known: Sequence[Difference]) -> None:
    """Note by which differences calls of one seed have failed."""
    with closing(setting.worker()) as worker:
        bench = setting.bench(worker)
        for tally in tallies:
            for result in (result for seed, result in tally.failed if seed == setting.seed):
                if found := _differences(result, bench, known):
                    tally.known[setting.seed, result.id] = found


def _differences(result: Result, bench: Bench, known: Sequence[Difference]) -> list[Difference]:
    """The differences that a failure comes of: of the call, or of its elements, for which it is repeated."""
    if result.status is not Status.FAIL or result.findings or is_full(result.id):
        return []
    readings = result.diagnosis.readings if result.diagnosis else ()
    of_call = [each for each in known if each.is_told_by(result.operation, result.reason, readings)]
    if of_call or not result.verdicts:
        return of_call
    case = case_of(result.id)
    with using(bench.declared.of(case.operation).arithmetic):
        arguments, expected, _ = bench.prepared(case)
        outcome = bench.run(case.operation, arguments)
        if outcome.status != "done" or outcome.code != 0:
            return []
        return those_met(known, case.operation, arguments, expected, flat(outcome.outputs), case.spec.signed_zeros)


def _operation(id: str) -> str:
    return FULL[id].operation if id in FULL else id.partition("/")[0]


def _lines(tally: Tally) -> Iterator[str]:
    """A row, and below it why failures are known, and the first of each kind of the others with what repeats it."""
    counts = f"{tally.runs:>6} {len(tally.failed):>5} {len(tally.known):>5}"
    yield f"{tally.operation:<28} {counts} {tally.share:>11.3f}"
    yield from (f"    known: {why}" for why in dict.fromkeys(d.why for found in tally.known.values() for d in found))
    seen: set[str] = set()
    for seed, result in tally.failed:
        if (seed, result.id) in tally.known:
            continue
        if (headline := result.headline) not in seen and len(seen) < 3:
            seen.add(headline)
            yield f"    {result.status} {headline}: {result.reason}\n        --case '{result.id}' --seed {seed}"
