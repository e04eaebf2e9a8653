"""A CNN and an RNN learn scikit-learn's 8x8 digits, on the reference and on a library: accuracies and seconds.

`python -m benchmarks.digits --library PATH`; it fails where one misses what it is due, or takes longer.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import reference
from bindings import Library
from graph.optimizers import Adam
from reference import random
from sequential import Conv2D, Dense, Dropout, Flatten, MaxPool2D, Sequential, SimpleRNN

TESTED = 360  # of 1797 samples, the last of a shuffle
LONGEST = 60.0  # seconds of a training


class Task(NamedTuple):
    """A model, the shape of its samples, its epochs, and what part of unseen samples it must get right."""

    name: str
    model: Callable[..., Sequential]
    shape: tuple[int, ...]
    epochs: int
    least: float


def cnn(**settings: Any) -> Sequential:
    """Two convolutions, each pooled, and a classifier."""
    layers = [
        Conv2D(32, 3, padding="same", activation="relu"),
        MaxPool2D(),
        Conv2D(64, 3, padding="same", activation="relu"),
        MaxPool2D(),
        Flatten(),
        Dropout(0.5),
        Dense(10, activation="softmax"),
    ]
    return Sequential(layers, **settings)


def rnn(**settings: Any) -> Sequential:
    """A recurrent layer that reads an image row by row, and a classifier of its last state."""
    return Sequential([SimpleRNN(64), Dense(10, activation="softmax")], **settings)


TASKS = (Task("CNN", cnn, (1, 8, 8), 12, 0.97), Task("RNN", rnn, (8, 8), 20, 0.93))


def digits() -> tuple[Any, Any]:
    """Images (1797, 8, 8) with numbers from 0 to 1, and their digits, shuffled.  Raises ImportError."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    order = random.permutation(random.stream("digits"), len(x))
    return (x[order] / 16.0).astype(np.float32).reshape(-1, 8, 8), y[order]


def train(task: Task, ops: Any, x: Any, y: Any) -> tuple[float, float]:
    """Return the accuracy on the samples kept for testing, and the seconds that training took."""
    x = x.reshape(-1, *task.shape)
    model = task.model(ops=ops)
    model.compile(Adam(lr=3e-3), "sparse_categorical_crossentropy", ["accuracy"])
    began = time.monotonic()
    model.fit(x[:-TESTED], y[:-TESTED], epochs=task.epochs, verbose=0)
    seconds = time.monotonic() - began
    _, accuracy = model.evaluate(x[-TESTED:], y[-TESTED:])
    return accuracy, seconds


def main() -> int:
    """Train all models on all backends; return 1 where one is too bad or too slow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, action="append", default=[], help="trained on beside the reference")
    backends = {"reference": reference} | {path.name: Library(path) for path in parser.parse_args().library}
    (x, y), failed = digits(), False
    for name, ops in backends.items():
        for task in TASKS:
            accuracy, seconds = train(task, ops, x, y)
            wrong = accuracy <= task.least or seconds > LONGEST
            due = f": FAIL, due are over {task.least:.0%} in {LONGEST:.0f} s" if wrong else ""
            print(f"{task.name} on {name}: {accuracy:.1%} in {seconds:.1f} s{due}", flush=True)
            failed |= wrong
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
