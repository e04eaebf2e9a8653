"""Honest modules, which others wrote, judged on many draws: how much of the limits they use, and what they fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance.candidates.candidate import Candidate, close_idle_workers, module_candidates
from conformance.candidates.exports import absent
from conformance.candidates.module.source import find
from conformance.catalogue.cases import CASES, DESIGNED
from conformance.catalogue.full import FULL
from conformance.catalogue.keywords import Keywords
from conformance.commands.run.runner import Setting, judge_all
from conformance.judging.results import Result
from conformance.limits import Contract
from conformance.operations import OPERATIONS
from conformance.proof.headroom import Row, write_rows
from conformance.report.record import counted

_HEADS = f"{'operation':<28} {'runs':>6} {'fail':>5} {'error/limit':>11}"


@dataclass
class Tally:
    """What came of one operation's runs: how many, the largest share of a limit of those that passed, the failures."""

    operation: str
    runs: int = 0
    share: float = 0.0
    failed: list[tuple[int, Result]] = field(default_factory=list)  # each with its seed

    def add(self, seed: int, result: Result) -> None:
        """Count one run."""
        self.runs += 1
        if result.is_fine:
            self.share = max([self.share, *(verdict.share for verdict in result.verdicts)])
        else:
            self.failed.append((seed, result))

    def row(self, library: str) -> Row:
        """Return what a table keeps of it."""
        return Row(library, self.operation, self.runs, len(self.failed), f"{self.share:.3f}")


def count_modules(
    modules: Sequence[tuple[str, str]],
    framework: str,
    seeds: Iterable[int],
    words: Keywords,
    declared: Contract,
    processes: int,
    table: Path | None = None,
    limit_s: float = 20.0,
) -> int:
    """Judge every operation that a module has by all cases that match, print what came of it, and return 1 where
    something failed.

    modules: what each is called, and the file or name that it is found by.  table: where rows are kept, too.
    limit_s: seconds that a call may take.  Raises LibraryError, CandidateError and TableError.
    """
    candidates = module_candidates([(called, find(text, framework)) for called, text in modules])
    failed = 0
    for candidate in candidates:
        print(f"{candidate.name}\n{_HEADS}", flush=True)
        tallies = _tallies(candidate, [*seeds], words, declared, processes, limit_s)
        for tally in tallies:
            failed += len(tally.failed)
            print("\n".join(_lines(tally)), flush=True)
        if table:
            write_rows(table, [tally.row(candidate.name) for tally in tallies])
        runs = sum(tally.runs for tally in tallies)
        print(f"{candidate.name}: {len(tallies)} operations, {runs} runs, {sum(len(t.failed) for t in tallies)} failed")
    return int(failed > 0)


def _tallies(
    candidate: Candidate, seeds: Sequence[int], words: Keywords, declared: Contract, processes: int, limit_s: float
) -> list[Tally]:
    there = [operation for operation in OPERATIONS if operation not in absent(candidate)]
    close_idle_workers()
    held = [*CASES.among(set(there)), *DESIGNED.among(set(there)), *FULL]
    tallies = {operation: Tally(operation) for operation in there}
    ids = [id for id in held if words.matches(id) and _operation(id) in tallies]
    for seed in seeds:
        setting = Setting(candidate, seed, limit_s=limit_s, declared=declared)
        for results in judge_all(ids, (), setting, processes):
            for result in results:
                tallies[result.operation].add(seed, result)
        if len(seeds) > 1:
            print(f"  seed {seed}: {counted(sum(tally.runs for tally in tallies.values()), 'run')} judged", flush=True)
    return [tally for tally in tallies.values() if tally.runs]


def _operation(id: str) -> str:
    return FULL[id].operation if id in FULL else id.partition("/")[0]


def _lines(tally: Tally) -> Iterator[str]:
    """A row, and below it the first failure of each kind with the options that repeat it."""
    yield f"{tally.operation:<28} {tally.runs:>6} {len(tally.failed):>5} {tally.share:>11.3f}"
    seen: set[str] = set()
    for seed, result in tally.failed:
        if (headline := result.headline) not in seen and len(seen) < 3:
            seen.add(headline)
            yield f"    {result.status} {headline}: {result.reason}\n        --case '{result.id}' --seed {seed}"
