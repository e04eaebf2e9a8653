"""A run: batch after batch, with a log, checkpoints, validation and samples; stopped anywhere, it goes on the same."""

from __future__ import annotations

import math
import platform
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .checkpoints import Checkpoint, require
from .data import Batches, Loader, Tokens
from .evaluation import Looks
from .learner import plain
from .ranks import ALONE, agree, check_equal, now_at
from .records import Records
from .resident.learner import learner_on
from .settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.namespace import Ops

    from .progress import Progress
    from .ranks import Ranks
    from .settings import Settings
    from .step import Standing


MOST_SKIPPED = 32  # updates in a row: a scale has come from its ceiling to its floor by then


class Diverged(ArithmeticError):  # noqa: N818
    """The loss or a gradient is no longer a number, or no update can be made any more."""


class Run:
    """A run that is begun, or taken up at its newest checkpoint; to be closed.

    Raises SettingsError, DataError, CheckpointError or LogError, naming what does not fit, before anything is changed.
    """

    def __init__(
        self, ops: Ops, settings: Settings, *, resume: bool, warn: Callable[[str], None], ranks: Ranks = ALONE
    ) -> None:
        agree(ranks, "settings", _texts(settings))
        self._ops, self._ranks = ops, ranks
        self._leads = ranks.rank == 0
        self._skipped = 0  # updates in a row
        self.loader = _loader(settings, ranks)
        self._set_up(settings)
        self.validation_loss: float | None = None
        self.records = Records(settings, leads=self._leads)
        try:
            self.step, checkpoint = self._newest(resume, warn)
            self.standing = self._restored(checkpoint, warn) if checkpoint else self.learner.start()
            if self._leads:
                self.records.begin_log(self.step)
        except BaseException:
            self.close()
            raise

    def _set_up(self, settings: Settings) -> None:
        self._settings = settings
        self.learner = learner_on(self._ops, settings, self._ranks)
        self._looks = Looks(self.learner, settings)

    def close(self) -> None:
        """Let go of the output folder."""
        self.records.close()

    def _newest(self, resume: bool, warn: Callable[[str], None]) -> tuple[int, Checkpoint | None]:
        """Return the newest checkpoint and its step, or 0 and None at the start."""
        step, checkpoint = self.records.newest(resume=resume, warn=warn) if self._leads else (0, None)
        step, *_ = self._ranks.gather(step)
        if step and not checkpoint:
            checkpoint = self.records.store.read(step)
        return step, checkpoint

    def _restored(self, checkpoint: Checkpoint, warn: Callable[[str], None]) -> Standing:
        """Return where training stood.  Raises CheckpointError or SettingsError where the run is not the same."""
        self._keep_schedule(checkpoint, warn)
        path = self.records.store.path(self.step)
        require(checkpoint, path, self.learner.same(), self.learner.shapes())
        if self.step > self._settings.steps:
            raise SettingsError(f"steps: expected at least the {self.step} of {path}, got {self._settings.steps}")
        self.loader.resume(checkpoint.content["data"])
        return self.learner.from_checkpoint(checkpoint)

    def _keep_schedule(self, checkpoint: Checkpoint, warn: Callable[[str], None]) -> None:
        """Take the schedule that the run was begun with, where none is stated: more steps must not bend it."""
        settings = self._settings.on_schedule(checkpoint.content.get("training", {}))
        if settings.training() == self._settings.training():
            return
        self._set_up(settings)
        if self._leads and settings.steps > (total := settings.training().total):
            warn(f"the run was begun for {total} steps: from there on the learning rate stays at its lowest")

    def train(self, progress: Progress, stopping: Callable[[], bool]) -> None:
        """Make the steps that are left, fewer where any rank is to stop; in the end there is a checkpoint."""
        if self.step == 0:
            self.records.write("run", 0, settings=_texts(self._settings))
        saved = self.step
        while self.step < self._settings.steps and not any(self._ranks.gather(stopping())):
            self._one_step(progress)
            if self._settings.compare_every and self.step % self._settings.compare_every == 0:
                now_at("comparison")
                check_equal(self._ranks, f"step {self.step}", self.learner.step.shared(self.standing))
            if self._looks.due(self.step):
                now_at("validation and samples")
                self._look(self.learner.step.whole(self.standing), progress)
            if self.step % self._settings.checkpoint_every == 0:
                saved = self._save()
        if saved != self.step:
            self._save()

    def _one_step(self, progress: Progress) -> None:
        begun = time.perf_counter()
        now_at("loading", self.step + 1)
        tokens, targets = next(self.loader)
        loaded = time.perf_counter()
        now_at("forward and backward")
        self.standing, report = self.learner.step(self.standing, tokens, targets)
        said = plain(report)
        self.step += 1
        ended = time.perf_counter()
        said |= {"seconds": round(ended - begun, 6), "loading_seconds": round(loaded - begun, 6)}
        self.records.write("step", self.step, **said)
        if self._leads:
            progress(self.step, said)
        self._skipped = self._skipped + 1 if report.skipped else 0
        for name in ("loss", "norm"):  # of the gradients: what was updated by them is kept in no checkpoint
            if not math.isfinite(said[name]) and not report.skipped:
                raise self._diverged(f"expected a finite {name}, got {said[name]}")
        if self._skipped == MOST_SKIPPED:
            raise self._diverged(f"expected a finite gradient within {MOST_SKIPPED} steps, all were skipped")

    def _diverged(self, what: str) -> Diverged:
        newest = max(self.records.store.steps(), default=0)
        return Diverged(f"step {self.step}: {what}; the newest checkpoint is of step {newest}")

    def _look(self, standing: Standing, progress: Progress) -> None:
        """Validate and sample where it is time to: one rank is enough, once it has the whole model."""
        if not self._leads:
            return
        loss = self._looks.loss(standing, self.step)
        if loss is not None:
            self.validation_loss = loss
            self.records.write("validation", self.step, loss=loss)
            progress.print(f"step {self.step}: validation loss {loss:.4f}")
        text = self._looks.sample(standing, self.step)
        if text is not None:
            self.records.write("sample", self.step, text=text)
            progress.print(f"step {self.step}: sample: {text!r}")

    def _save(self) -> int:
        """Keep all that a run goes on from."""
        now_at("checkpoint")
        made_by = {"python": platform.python_version(), "numpy": np.__version__, "backend": self._settings.backend}
        checkpoint = self.learner.to_checkpoint(self.standing)
        self.records.save(self.step, checkpoint.with_content(data=self.loader.state(), made_by=made_by))
        return self.step


def _loader(settings: Settings, ranks: Ranks) -> Loader:
    """Each rank's batches are its part of the run's."""
    tokens = Tokens.open(settings.data)
    if tokens.vocab_size > settings.model().vocab:
        expected = f"at least the {tokens.vocab_size} ids that the tokens in {settings.data} have"
        raise SettingsError(f"vocab: expected {expected}, got {settings.model().vocab}")
    if settings.batch % (ranks.size * settings.micro_batches):
        expected = f"a multiple of ranks x micro_batches = {ranks.size} x {settings.micro_batches}"
        raise SettingsError(f"batch: expected {expected}, got {settings.batch}")
    batch = settings.batch // ranks.size
    return Loader(Batches(tokens, batch, settings.seq, seed=settings.seed, rank=ranks.rank, ranks=ranks.size))


def _texts(settings: Settings) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(settings).items()}
