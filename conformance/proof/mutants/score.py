"""How many mutants were killed: in all, by file and by operator, and which were not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from .equivalents import Equivalents, Proof
from .record import Trial, Verdict
from .sample import Subject


class Score:
    """The trials of what was mutated, by what came of them."""

    def __init__(self, subject: Subject, trials: Iterable[Trial], equivalents: Equivalents) -> None:
        self._subject = subject
        self._verdicts: Counter[Verdict] = Counter()
        self.killed: list[Trial] = []
        self.survivors: list[Trial] = []
        self.proved: list[tuple[Trial, Proof]] = []
        self.disproved: list[Trial] = []  # killed, although a proof says that they cannot be
        for trial in trials:
            self._add(trial, equivalents)

    def _add(self, trial: Trial, equivalents: Equivalents) -> None:
        self._verdicts[trial.verdict] += 1
        proof = equivalents.of(self._subject.path(trial.mutant), self._subject.place(trial.mutant), trial.mutant)
        if trial.verdict is Verdict.KILLED:
            self.killed.append(trial)
            self.disproved += [trial] if proof else []
        elif trial.counts and proof:
            self.proved.append((trial, proof))
        elif trial.counts:
            self.survivors.append(trial)

    @property
    def counted(self) -> list[Trial]:
        """The mutants that differ, equivalent ones left out."""
        return [*self.killed, *self.survivors]

    @property
    def is_right(self) -> bool:
        """Whether nothing survived without a proof, and no proof is wrong."""
        return not (self.survivors or self.disproved)

    def lines(self) -> Iterator[str]:
        """Yield what a person reads: by file, by operator, the survivors, the score."""
        yield from _table("file", self.counted, lambda trial: self._subject.path(trial.mutant))
        yield from _table("operator", self.counted, lambda trial: trial.mutant.operator)
        for trial in self.disproved:
            yield f"KILLED although it carries a proof: {self._where(trial)}, by {trial.by}"
        for trial in sorted(self.survivors, key=lambda trial: (trial.mutant.file, trial.mutant.line)):
            yield f"SURVIVES {self._where(trial)}\n    in place of {trial.mutant.before}; {trial.said}"
        for trial, proof in self.proved:
            yield f"EQUAL {self._where(trial)}: {proof.proof}"
        yield self.summary()

    def _where(self, trial: Trial) -> str:
        return f"{self._subject.path(trial.mutant)}:{trial.mutant.line}: {trial.mutant.after}"

    def summary(self) -> str:
        """Return the score in a sentence."""
        seen = self._verdicts
        left_out = (
            f"{seen[Verdict.REFUSED]} do not compile, {seen[Verdict.SAME]} compile to the same code, "
            f"{seen[Verdict.REPEATED]} to that of another mutant, {len(self.proved)} are proved equivalent"
        )
        counted = len(self.counted)
        share = f" ({len(self.killed) / counted:.1%})" if counted else ""
        waiting = sum(trial.verdict is Verdict.PASSED for trial in self.survivors)
        due = f"; {waiting} of the others await a second look" if waiting else ""
        elsewhere = f", {seen[Verdict.UNJUDGED]} need a unit that this machine lacks" if seen[Verdict.UNJUDGED] else ""
        return f"{len(self.killed)} of {counted} mutants killed{share}{due}; not counted: {left_out}{elsewhere}"


def _table(name: str, trials: Sequence[Trial], of: Callable[[Trial], str]) -> Iterator[str]:
    """A line for each value of what `of` says of a trial."""
    by_value: dict[str, list[Trial]] = {}
    for trial in trials:
        by_value.setdefault(of(trial), []).append(trial)
    if not by_value:
        return
    width = max(map(len, [*by_value, name]))
    yield f"{name:<{width}} {'killed':>7} {'survived':>9} {'score':>7}"
    for value, few in sorted(by_value.items()):
        killed = sum(trial.verdict is Verdict.KILLED for trial in few)
        yield f"{value:<{width}} {killed:>7} {len(few) - killed:>9} {killed / len(few):>7.1%}"
    yield ""
