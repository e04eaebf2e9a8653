"""The judge's own speed, as whoever types the command meets it: whole processes, start and preparation included.

python -m benchmarks.judge --library build/stub/libassayer_stub.so
python -m benchmarks.judge --library PATH --before ../another-checkout     # in turn with another commit's judge
python -m benchmarks.judge --library PATH --only 'one case' -- -n 1        # what follows -- the judge is given
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from .interleaved import Rounds, ratio, spread, take_turns
from .machine import ROOT, commit, header

FAILED = 1  # the judge's exit code for a library that does not conform; above it, nothing was judged
NEW_SEED = "all, a new seed"
WORKLOADS = {
    "one case": ("--case", "swiglu/tails/1025"),
    "one operation": ("-k", "swiglu and not (backward or bf16 or fp16)"),
    "all": (),
    NEW_SEED: (),  # each time, so that nothing of it can have been prepared
}
SHORT = ("one case",)


class Judge:
    """A checkout's judge: one call is one run of it, in a process of its own."""

    def __init__(self, checkout: Path, arguments: Sequence[str], new_seeds: bool) -> None:
        self.checkout, self.arguments = checkout, arguments
        self.seeds = count(int(time.time())) if new_seeds else None
        self.cases = 0

    def __call__(self) -> None:
        seed = ("--seed", str(next(self.seeds))) if self.seeds else ()
        command = [sys.executable, "-m", "conformance", "run", *self.arguments, *seed]
        ended = subprocess.run(command, cwd=self.checkout, capture_output=True, text=True)
        if ended.returncode not in (0, FAILED):
            sys.exit(
                f"{' '.join(command)}: expected exit code 0 or 1, got {ended.returncode}\n{ended.stdout}{ended.stderr}"
            )
        self.cases = cases_judged(ended.stdout)


def cases_judged(output: str) -> int:
    """Return the largest number of cases that the judge's last lines speak of; ValueError where they name none."""
    last = output.splitlines()[-10:]
    found = [int(number.replace(",", "")) for number in re.findall(r"\b(\d[\d,]*) cases?\b", "\n".join(last))]
    if not found:
        raise ValueError(f"expected a number of cases in the judge's last lines, got {last}")
    return max(found)


def measure(name: str, options: argparse.Namespace) -> str:
    """Time one workload; return its row: seconds and cases a second, and the ratio to the other checkout's."""
    arguments = ["--library", str(options.library.resolve()), *WORKLOADS[name], *options.judge]
    checkouts = {"now": ROOT} | ({"before": options.before.resolve()} if options.before else {})
    judges = {label: Judge(path, arguments, name == NEW_SEED) for label, path in checkouts.items()}
    candidates: dict[str, Callable[[], None]] = dict(judges)
    seconds = take_turns(candidates, Rounds(options.rounds, options.rounds, 0.0), warmup=0 if name == NEW_SEED else 1)
    row = f"{name:<18}"
    for label, judge in judges.items():
        taken = spread(seconds[label])
        row += f"{judge.cases:>7}{taken!s:>28}{judge.cases / taken.median:>10.1f}"
    return row + (f"{ratio(seconds['before'], seconds['now'])!s:>24}" if options.before else "")


def main() -> None:
    """Print a row for each workload as soon as it is timed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, required=True, help="the library to judge")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="another checkout, whose judge takes turns")
    parser.add_argument("--only", action="append", choices=WORKLOADS, help="this workload (repeatable)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each that count (default: %(default)s)")
    parser.add_argument("--short", action="store_true", help="one case only, in two rounds")
    parser.add_argument("judge", nargs="*", metavar="-- ARGUMENT", help="further arguments of the judge")
    options = parser.parse_args()
    if not options.library.is_file():
        parser.error(f"--library: expected a shared library, got {options.library}")
    if options.short:
        options.rounds = 2
    print(*header(options.library), sep="\n")
    labels = ("now, s", "before, s") if options.before else ("s",)
    columns = "".join(f"{'cases':>7}{label:>28}{'cases/s':>10}" for label in labels)
    if options.before:
        print(f"beside commit {commit(options.before)}, in turn")
        columns += f"{'times as fast':>24}"
    print(f"{'median (quartiles)':<18}{columns}")
    for name in options.only or (SHORT if options.short else WORKLOADS):
        print(measure(name, options), flush=True)


if __name__ == "__main__":
    main()
