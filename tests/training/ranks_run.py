"""A short training run on however many ranks: as mpirun starts it, or from a test, by ranks that take turns.

mpirun -n 4 python tests/training/ranks_run.py OUTPUT.npz [--dies RANK HOW | --late RANK]
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import reference
from reference.step import TrainingConfig
from tests.reference.model_samples import SMALL, batch, parameters
from training.ranks import Ranks, agree, check_equal, now_at, whole_run
from training.step import Report, Step

STEPS = 3
LATEST = 100  # seconds
TRAINING = TrainingConfig(lr=1e-2, clip_norm=0.5, warmup=1, total=10)
WITHOUT_BALANCE = replace(SMALL, aux_alpha=0.0)
FOUR_EXPERTS = replace(SMALL, experts=4)


def batch_of(number: int) -> tuple[Any, Any]:
    """The batch of all ranks, whose parts have very different numbers of targets that count."""
    tokens, targets = batch(seed=number)
    targets[0, 1:] = targets[1, 3:] = -1
    return tokens, targets


def trained(
    ranks: Ranks,
    micro_batches: int = 1,
    config: Any = SMALL,
    bucket_bytes: int = 5000,
    expert_parallel: bool = False,
) -> dict[str, Any]:
    """Train, each rank on its part of the batches; return what is left, by what it is."""
    return course(ranks, micro_batches, config, bucket_bytes, expert_parallel)[-1]


def course(
    ranks: Ranks,
    micro_batches: int = 1,
    config: Any = SMALL,
    bucket_bytes: int = 5000,
    expert_parallel: bool = False,
) -> list[dict[str, Any]]:
    """Train likewise; return what is left after every step."""
    training = replace(TRAINING, micro_batches=micro_batches)
    step = Step(reference, config, training, ranks=ranks, bucket_bytes=bucket_bytes, expert_parallel=expert_parallel)
    standing = step.start(parameters(config, dtype=np.float32))
    after = []
    for number in range(STEPS):
        tokens, targets = (np.split(of_all, ranks.size)[ranks.rank] for of_all in batch_of(number))
        standing, report = step(standing, tokens, targets)
        check_equal(ranks, f"step {number + 1}", step.shared(standing))
        after.append(left(step.whole(standing).state, report))
    return after


def left(state: Any, report: Report) -> dict[str, Any]:
    """Every array that training leaves behind, by what it is."""
    held = {f"{kind} of {name}": a for kind in ("parameters", "m", "v") for name, a in getattr(state, kind).items()}
    return held | dict(zip(report._fields[:4], report[:4], strict=True))


def _until_there(file: Path) -> None:
    """Wait for a file, but not for ever."""
    ends = time.monotonic() + LATEST
    while not file.exists() and time.monotonic() < ends:
        time.sleep(0.01)


WAYS: dict[str, Callable[[], None]] = {
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "raises": lambda: batch(shape=(0, -1)),
    "exits": sys.exit,
    "stops": lambda: os.kill(os.getpid(), signal.SIGSTOP),
}


def main() -> None:
    """Train, and write what is left; or come to an end on one rank, while the others wait for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--micro-batches", type=int, default=1)
    parser.add_argument("--expert-parallel", action="store_true")
    parser.add_argument("--dies", nargs=2, metavar=("RANK", "HOW"))
    parser.add_argument("--late", type=int, metavar="RANK", help="the rank that computes until there is OUTPUT.go")
    parser.add_argument("--without-mpi", metavar="RANK", help="the rank on whose machine mpi4py is missing")
    options = parser.parse_args()
    if options.without_mpi and options.without_mpi == os.environ["PMI_RANK"]:
        sys.modules["mpi4py"] = None  # type: ignore[assignment]
    with whole_run() as ranks:
        agree(ranks, "settings", {"micro_batches": options.micro_batches})
        now_at("forward", 1)
        if options.late == ranks.rank:
            _until_there(options.output.with_suffix(".go"))
        if options.dies and int(options.dies[0]) == ranks.rank:
            WAYS[options.dies[1]]()
        config = FOUR_EXPERTS if options.expert_parallel else SMALL
        results = trained(ranks, options.micro_batches, config, expert_parallel=options.expert_parallel)
        if ranks.rank == 0:
            np.savez(options.output, **results)


if __name__ == "__main__":
    main()
