"""The ratios: every backend's time beside PyTorch's, from one run."""

from __future__ import annotations

import time
from collections import defaultdict
from pathlib import Path
from statistics import median

BACKENDS = ("reference", "C", "PyTorch")


class Table:
    """Times by case and backend; of all rounds the fastest counts, since what slows a round down is never the code."""

    def __init__(self, busy: float) -> None:
        self.busy = busy
        self.times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.tokens: dict[str, int] = {}
        self.notes: list[str] = []  # what is no case of a backend

    def add(self, case: str, backend: str, seconds: list[float], tokens: int = 0) -> None:
        self.times[case][backend] += seconds
        self.tokens[case] = tokens

    def lines(self) -> list[str]:
        lines = [*self._cases(), *self.notes]
        if lines and self.busy > 0.05:
            lines.append(
                f"Other programs kept {self.busy:.2f} cores busy before the run: repeat it on a quiet machine."
            )
        return lines

    def _cases(self) -> list[str]:
        if not self.times:
            return []
        width = max(map(len, self.times))
        head = "".join(f"{name:>12}" for name in BACKENDS)
        lines = ["", f"{'fastest of all rounds, ms':{width}}{head}   speed against PyTorch: reference, C"]
        lines += [f"{case:{width}}{self._row(case)}" for case in self.times]
        for case, tokens in self.tokens.items():
            lines += self._tokens(case, tokens) if tokens else []
        return lines

    def _row(self, case: str) -> str:
        best = {name: min(seconds) * 1e3 for name, seconds in self.times[case].items()}
        row = "".join(f"{best[name]:12.3f}" if name in best else f"{'-':>12}" for name in BACKENDS)
        ratios = [f"{best['PyTorch'] / best[n]:8.2f}" for n in ("reference", "C") if {"PyTorch", n} <= best.keys()]
        return row + "   " + "".join(ratios)

    def _tokens(self, case: str, tokens: int) -> list[str]:
        rates = []
        for name in BACKENDS:
            seconds = self.times[case].get(name)
            if seconds:
                rates.append(f"{name} {tokens / min(seconds):,.0f} (median {tokens / median(seconds):,.0f})")
        return [f"{case}, tokens/s: {', '.join(rates)}"]


def cores_in_use(seconds: float = 0.5) -> float:
    """How many cores' time the whole machine spends while this process sleeps; 0 where the system does not tell."""
    before = _busy_ticks()
    time.sleep(seconds)
    return (_busy_ticks() - before) / (100 * seconds)


def _busy_ticks() -> int:
    """Hundredths of seconds that all cores have worked so far (proc_stat(5): user, nice, system)."""
    stat = Path("/proc/stat")
    return sum(map(int, stat.read_text().split()[1:4])) if stat.exists() else 0
