"""Kills tokenising at random moments, resumes it until it is done, and compares with a run that was never killed.

Run from the root: python tests/training/kill_sharding.py --kills 100 --workers 2
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

COMMIT_ALWAYS = """
import sys
from training.data import __main__, shards, write_shards
shards.write_shards.__kwdefaults__["commit_seconds"] = 0.0
__main__.main(sys.argv[1:])
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="at least this many (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    moments = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "texts"
        write_texts(texts, moments)
        command = [sys.executable, "-c", COMMIT_ALWAYS, "--input", str(texts), "--workers", str(options.workers)]
        command += ["--shard-tokens", "1000000", "--resume", "--output"]
        duration = seconds([*command, str(Path(folder) / "whole")])
        whole, kills, rounds = contents(Path(folder) / "whole"), 0, 0
        while kills < options.kills:
            rounds += 1
            output = Path(folder) / f"killed {rounds}"
            while not output.exists():
                killed = killed_after([*command, str(output)], moments.uniform(0, duration))
                kills += killed
                duration *= 1.01 if killed else 0.9  # the machine may be quieter than it was, or busier
            if contents(output) != whole:
                sys.exit(f"after {kills} kills: other bytes in {output}")
    print(f"{kills} kills in {rounds} runs, each of which wrote the same bytes as one that was never killed")


def write_texts(folder: Path, moments: random.Random) -> None:
    folder.mkdir()
    for number in range(60):
        words = moments.choices(["the", "quick", "brown", "fox", "jumps\n", "über"], k=40_000)
        (folder / f"{number:02d}.txt").write_text(" ".join(words), encoding="utf-8")


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def seconds(command: list[str]) -> float:
    begun = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    return time.monotonic() - begun


def killed_after(command: list[str], seconds: float) -> bool:
    """Start it and kill it after so many seconds; tell whether it still ran."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    _, errors = process.communicate()
    if process.returncode > 0:
        sys.exit(errors.decode())
    return process.returncode < 0


if __name__ == "__main__":
    main()
