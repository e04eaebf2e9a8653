"""`Sequential`: a model that is trained, evaluated and asked for predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import reference
from graph import Forward
from graph.step import train_step
from reference import random
from reference.namespace import Ops

from . import saved
from .batches import batch_size as checked_size
from .batches import batches, paired, samples, split, whole
from .blueprint import INPUT, LABEL, Blueprint
from .history import PREFIX, History
from .model import Model
from .parts import Array, Compiled
from .progress import Epochs

Logs = dict[str, float]


class Means:
    """Loss and metrics over batches: the mean over samples, whatever the batches' sizes are."""

    def __init__(self) -> None:
        self._sums: Logs = {}
        self._count = 0

    def add(self, logs: Mapping[str, float], count: int) -> None:
        """Add a batch's means."""
        self._count += count
        for name, value in logs.items():
            self._sums[name] = self._sums.get(name, 0.0) + value * count

    def logs(self) -> Logs:
        """The means so far."""
        return {name: total / self._count for name, total in self._sums.items()}


class Sequential(Model):
    """Layers one behind the other, with Keras 3's methods; there are no callbacks and no sample weights."""

    def fit(
        self,
        x: Any,
        y: Any,
        *,
        batch_size: int = 32,
        epochs: int = 1,
        verbose: Any = "auto",
        validation_split: float = 0.0,
        validation_data: tuple[Any, Any] | None = None,
        shuffle: bool = True,
    ) -> History:
        """Train, and return loss and metrics of each epoch: means over its samples, of the parameters at each batch.

        x: (samples, ...), y: labels; validation_split: the share of samples, the last ones before any shuffle, that are
        kept for validation; validation_data: others, which stand in its place.  Samples are shuffled anew for each
        epoch, by the model's seed and how many epochs it was trained.  verbose: 0 nothing, 1 a bar, 2 a line per epoch.
        Raises RuntimeError before compile, ValueError for arrays or settings that do not fit: nothing is trained then.
        """
        compiled = self._compiled("fit")
        size, epochs = checked_size("fit", batch_size), whole("fit", "epochs", epochs, 0)
        x, y = self._both("fit", x, y)
        held = None
        if validation_data is not None:
            held = self._both("fit: validation_data", *validation_data)
        elif validation_split:
            (x, y), held = split(x, y, validation_split)
        for last in {min(size, len(x)), len(x) % size} - {0}:
            self.run(last, loss=True).check_training()
        history = History()
        with Epochs(verbose, epochs, -(-len(x) // size)) as shown:
            for epoch in range(epochs):
                shown.begin(epoch)
                order = random.stream("shuffle", self._parts.seed, compiled.epochs) if shuffle else None
                logs = self._epoch(x, y, batches(len(x), size, order), shown)
                compiled.epochs += 1
                if held is not None:
                    logs |= {f"{PREFIX}{name}": value for name, value in self._measured(*held, size).items()}
                shown.end(epoch, logs)
                history.add(epoch, logs)
        return history

    def train_on_batch(self, x: Any, y: Any, *, return_dict: bool = False) -> Any:
        """Make one step; return the loss before it, with metrics a list of both, or a dict of them by name.

        Raises RuntimeError before compile, ValueError for arrays that do not fit.
        """
        logs = self._step(*self._both("train_on_batch", x, y))
        return _returned(logs, return_dict)

    def evaluate(self, x: Any, y: Any, *, batch_size: int = 32, return_dict: bool = False) -> Any:
        """Return the loss over samples, with metrics a list of both, or a dict of them by name.  Raises as fit does."""
        self._compiled("evaluate")
        size = checked_size("evaluate", batch_size)
        return _returned(self._measured(*self._both("evaluate", x, y), size), return_dict)

    def predict(self, x: Any, *, batch_size: int = 32) -> Array:
        """Return the last layer's output for each sample.  Raises ValueError for samples that do not fit."""
        size, built = checked_size("predict", batch_size), self._planned(np.shape(x)[1:])
        x = self._samples("predict", x, built)
        self._install(built)
        return np.concatenate([self._predicted(x[places]) for places in batches(len(x), size)])

    @classmethod
    def load(cls, path: Path | str, ops: Ops = reference) -> Sequential:
        """Return the model of a file that `save` wrote; its training goes on where it stood.

        Raises OSError, SavedError for a file that holds no such model.
        """
        with saved.reading(Path(path)) as (tensors, configuration):
            model = cls(saved.layers_of(configuration), **saved.settings_of(configuration), ops=ops)
            model.load_state_dict(saved.parameters_of(tensors))
            if "compiled" in configuration:
                model.compile(**saved.compiled_of(configuration))
                saved.resume(model._compiled("load"), model._parts, tensors, configuration)
        return model

    def _samples(self, where: str, x: Any, built: Blueprint) -> Array:
        """x as the model takes it."""
        dtype = self._parts.dtype if built.classes is None else np.int32
        return samples(where, x, built.shapes[0], dtype, built.classes)

    def _both(self, where: str, x: Any, y: Any) -> tuple[Array, Array]:
        """x and y as model and loss take them; a model that is not built is built for them, once they fit."""
        loss, built = self._compiled(where).loss, self._planned(np.shape(x)[1:])
        x = self._samples(where, x, built)
        y = loss.labels(where, y, built.shapes[-1], self._parts.dtype)
        paired(where, x, y)
        self._install(built)
        return x, y

    def _epoch(self, x: Array, y: Array, order: Iterator[Array], shown: Epochs) -> Logs:
        means = Means()
        for places in order:
            means.add(self._step(x[places], y[places]), len(places))
            shown.advance(means.logs())
        return means.logs()

    def _step(self, x: Array, y: Array) -> Logs:
        """Make a step, all of it or nothing."""
        parts, compiled = self._parts, self._compiled("train_on_batch")
        run = self.run(len(x), loss=True)
        arrays = {INPUT: x, LABEL: y, **parts.parameters}
        by = compiled.optimizer
        stepped = train_step(run, arrays, by, compiled.state, clip_norm=compiled.clip_norm, seed=parts.seed)
        logs = self._logs(compiled, stepped.forward, y)
        parts.parameters, compiled.state = dict(stepped.parameters), stepped.state
        return logs

    def _logs(self, compiled: Compiled, forward: Forward, y: Array) -> Logs:
        prediction = np.asarray(forward.values[self._built("fit").names[-1]])
        scored = {name: float(metric(prediction, y).mean()) for name, metric in compiled.metrics.items()}
        return {"loss": forward.loss, **scored}

    def _measured(self, x: Array, y: Array, size: int) -> Logs:
        compiled, means = self._compiled("evaluate"), Means()
        for places in batches(len(x), size):
            run = self.run(len(places), loss=True)
            forward = run.forward({INPUT: x[places], LABEL: y[places], **self._parts.parameters}, training=False)
            means.add(self._logs(compiled, forward, y[places]), len(places))
        return means.logs()

    def _predicted(self, x: Array) -> Array:
        forward = self.run(len(x)).forward({INPUT: x, **self._parts.parameters}, training=False)
        return np.asarray(forward.values[self._built("predict").names[-1]])


def _returned(logs: Logs, return_dict: bool) -> Any:
    values = [*logs.values()]
    return logs if return_dict else values if len(values) > 1 else values[0]
