"""The table at the end: what each backend takes, and how many times as long as the C library."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from statistics import median

from .backends import C
from .interleaved import Seconds, Spread, ratio

HEADING = "median ms, by pytest-benchmark; times as long as the C library, in turn with it: median (quartiles)"
ABSENT, NOT_TIMED = "none", "-"  # the backend has no such operation; it was not asked for


class Table:
    """A row a case: a column of times for each backend, and one of ratios for each but the C library."""

    def __init__(self, backends: Sequence[str], header: Sequence[str]) -> None:
        self.backends, self.header = backends, header
        self._times: dict[str, dict[str, float]] = defaultdict(dict)
        self._ratios: dict[str, dict[str, Spread]] = defaultdict(dict)
        self._absent: dict[str, set[str]] = {}
        self.notes: list[str] = []  # what is no case of a backend

    def add_time(self, case: str, backend: str, seconds: Sequence[float]) -> None:
        """Take in one backend's rounds."""
        self._times[case][backend] = median(seconds)

    def add_ratios(self, case: str, seconds: Seconds, of: Collection[str] | None = None) -> None:
        """Take in rounds of all backends that have the case, the C library among them; `of`: of those asked alone."""
        self._ratios[case] = {name: ratio(each, seconds[C]) for name, each in seconds.items() if name != C}
        self._absent[case] = set(self.backends if of is None else of) - seconds.keys()

    def lines(self) -> list[str]:
        """The header, the rows, the notes; nothing where nothing was timed."""
        cases = list(dict.fromkeys([*self._times, *self._ratios]))
        rows = self._rows(cases) if cases else []
        return ["", *self.header, *rows, *self.notes] if rows or self.notes else []

    def _rows(self, cases: Sequence[str]) -> list[str]:
        width = max(map(len, cases))
        others = [name for name in self.backends if name != C]
        columns = "".join(f"{name:>12}" for name in self.backends) + "".join(f"{f'{n} / {C}':>28}" for n in others)
        rows = [HEADING, " " * width + columns]
        for case in cases:
            times = {name: f"{seconds * 1e3:.3f}" for name, seconds in self._times[case].items()}
            cells = "".join(f"{self._cell(times, case, name):>12}" for name in self.backends)
            cells += "".join(f"{self._cell(self._ratios[case], case, name):>28}" for name in others)
            rows.append(f"{case:{width}}{cells}")
        return rows

    def _cell(self, known: Mapping[str, object], case: str, backend: str) -> str:
        missing = ABSENT if backend in self._absent.get(case, ()) else NOT_TIMED
        return str(known.get(backend, missing))
