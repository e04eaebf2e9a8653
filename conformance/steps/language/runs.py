"""The runs of the check: the tiny model on the text that every Python carries, by the training command's own means."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.backend import operations
from training.data import Batches, ByteTokenizer, Tokens, embedded_documents, write_shards
from training.plot import Curves, curves
from training.progress import Progress
from training.records import LOG
from training.run import Run
from training.settings import Settings

from .perturbed import Perturbed

VALIDATION = 0.1  # of the documents


@dataclass(frozen=True)
class Ask:
    """Train so many steps, by a schedule of so many; on a backend, or as the replica of that number."""

    folder: Path
    backend: str | int
    steps: int
    total: int

    @property
    def output(self) -> Path:
        """Where the run lies."""
        return self.folder / f"run-{self.backend if isinstance(self.backend, int) else Path(self.backend).name}"

    @property
    def settings(self) -> Settings:
        """What the run is told; the weights begin large enough that it learns from the first steps on."""
        return Settings(
            data=shards(self.folder), output=self.output, batch=8, seq=32, deviation=0.08,
            steps=self.steps, total=self.total, lr=5e-3,
            validate_every=20, validation_batches=10, checkpoint_every=self.steps, keep=1,
            sample_every=0 if isinstance(self.backend, int) else self.total, prompt="The ", sample_tokens=200,
        )  # fmt: skip


def shards(folder: Path) -> Path:
    """Where the text lies, tokenised."""
    return folder / "shards"


def write_text(folder: Path) -> None:
    """Cut the text into bytes."""
    write_shards(list(embedded_documents()), ByteTokenizer(), shards(folder), validation=VALIDATION)


def train(ask: Ask) -> Curves:
    """Make one run, in this process; return its curves."""
    ops = Perturbed(ask.backend) if isinstance(ask.backend, int) else operations(ask.backend)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        progress = Progress(ask.steps, 1, nowhere)
        with closing(Run(ops, ask.settings, resume=False, warn=print)) as run:
            run.train(progress, stopping=lambda: False)
    return curves(ask.output / LOG)


def pairs_loss(ask: Ask) -> float:
    """The loss of counting: each byte by the one before it, as often as in the training text, every pair once more."""
    settings = ask.settings
    ids = Tokens.open(settings.data).read(0, len(Tokens.open(settings.data)))
    counts = np.ones((ByteTokenizer.vocab_size,) * 2)
    np.add.at(counts, (ids[:-1], ids[1:]), 1)
    costs = -np.log(counts / counts.sum(axis=1, keepdims=True))
    batches = Batches(Tokens.open(settings.data, "validation"), settings.batch, settings.seq)
    seen = [batches.for_update(number) for number in range(1, 1 + min(settings.validation_batches, len(batches)))]
    return float(np.mean([costs[tokens, targets] for tokens, targets in seen]))
