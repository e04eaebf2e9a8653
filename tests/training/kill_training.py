"""Kills training at random moments, resumes it until it is done, and compares with a run that was never killed.

Run from the root: python tests/training/kill_training.py --kills 100 --library build/stub/libassayer_stub.so
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.training.kill_sharding import killed_after, seconds
from tests.training.runs import small_run, small_shards
from training.log import MEASURED, read_log

# A checkpoint every step, so that kills fall into every part of writing one.
MANY = ["--steps", "60", "--checkpoint-every", "1", "--validate-every", "20", "--sample-every", "20", "--keep", "2"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="at least this many (default: %(default)s)")
    parser.add_argument("--library", required=True, help="the library to train on, or reference")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    moments = random.Random(options.seed)
    os.environ["OMP_NUM_THREADS"] = "1"  # on a busy machine threads wait for each other longer than they work
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "training"]
        command += small_run(small_shards(Path(folder) / "shards"), Path(folder) / "whole", *MANY)
        command += ["--backend", options.library, "--resume"]
        duration = seconds(command)
        whole, kills, rounds, left = state(Path(folder) / "whole"), 0, 0, 0
        while kills < options.kills:
            rounds += 1
            output = Path(folder) / f"killed {rounds}"
            killed = True
            while killed:
                killed = killed_after([*command, "--output", str(output)], moments.uniform(0, duration))
                kills += killed
                duration *= 1.01 if killed else 0.9  # the machine may be quieter than it was, or busier
                left += killed and any((output / "checkpoints").glob(".*"))
            if state(output) != whole:
                sys.exit(f"after {kills} kills: other bytes in {output}")
    writing = f"{left} of them while a checkpoint was written or removed"
    print(f"{kills} kills ({writing}) in {rounds} runs, each of which wrote the same bytes as one never killed")


def state(output: Path) -> tuple[dict[str, bytes], list[dict[str, Any]]]:
    """Every byte of the checkpoints, and the log less the seconds and its first line, which names the folder."""
    checkpoints = {f"{file.parent.name}/{file.name}": file.read_bytes() for file in output.glob("checkpoints/*/*")}
    _, *log = read_log(output / "log.jsonl")
    return checkpoints, [{name: value for name, value in record.items() if name not in MEASURED} for record in log]


if __name__ == "__main__":
    main()
