"""A run: batch after batch, with a log, checkpoints, validation and samples; stopped anywhere, it goes on the same."""

from __future__ import annotations

import math
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.checkpoints import Store, require
from training.data import Batches, DataError, Loader, Tokens, load_tokenizer
from training.data.files import lock_folder
from training.data.manifest import TOKENIZER_FILE
from training.learner import Learner, plain
from training.log import Log
from training.settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.model.parameters import Ops
    from training.progress import Progress
    from training.settings import Settings


class Diverged(ArithmeticError):  # noqa: N818
    """The loss is no longer a number."""


class Run:
    """A run that is begun, or taken up at its newest checkpoint.

    Raises SettingsError, DataError, CheckpointError or LogError, naming what does not fit, before anything is written.
    """

    def __init__(self, ops: Ops, settings: Settings, *, resume: bool, warn: Callable[[str], None]) -> None:
        self._settings = settings
        self.learner = Learner(ops, settings)
        tokens = _tokens(settings, self.learner)
        self.loader = Loader(Batches(tokens, settings.batch, settings.seq, seed=settings.seed))
        self._validation = _validation(settings)
        self._tokenizer = load_tokenizer(settings.data / TOKENIZER_FILE)
        settings.output.mkdir(parents=True, exist_ok=True)
        self.store = Store(settings.output / "checkpoints", settings.keep)
        self.log_path = settings.log or settings.output / "log.jsonl"
        self.validation_loss: float | None = None
        self._lock = lock_folder(settings.output)
        try:
            if not resume:
                _refuse_to_overwrite(self.store, self.log_path)
            self.step = self._take_up(warn)
            self._log = Log(self.log_path, self.step)
        except BaseException:
            os.close(self._lock)
            raise

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self._log.close()
        os.close(self._lock)

    def _take_up(self, warn: Callable[[str], None]) -> int:
        """Stand where the newest checkpoint does, or at the start; return how many steps were made."""
        found = self.store.newest(warn)
        if found is None:
            self.standing = self.learner.start()
            return 0
        step, checkpoint = found
        require(checkpoint, self.store.path(step), self.learner.same(), self.learner.shapes())
        self.loader.resume(checkpoint.content["data"])
        self.standing = self.learner.restored(checkpoint)
        return step

    def train(self, progress: Progress, stopping: Callable[[], bool]) -> None:
        """Make the steps that are left, fewer where it is to stop; in the end there is a checkpoint."""
        if self.step == 0:
            self._log.write("run", 0, settings=asdict(self._settings, dict_factory=_texts))
        saved = self.step
        while self.step < self._settings.steps and not stopping():
            self._one_step(progress)
            self._look(progress)
            if self.step % self._settings.checkpoint_every == 0:
                saved = self._save()
        if saved != self.step:
            self._save()

    def _one_step(self, progress: Progress) -> None:
        begun = time.perf_counter()
        tokens, targets = next(self.loader)
        loaded = time.perf_counter()
        self.standing, report = self.learner.step(self.standing, tokens, targets)
        said = plain(report)
        self.step += 1
        ended = time.perf_counter()
        said |= {"seconds": round(ended - begun, 6), "loading_seconds": round(loaded - begun, 6)}
        self._log.write("step", self.step, **said)
        progress(self.step, said)
        if not math.isfinite(said["loss"]) and not report.skipped:
            there = f"the newest checkpoint is of step {max(self.store.steps(), default=0)}"
            raise Diverged(f"step {self.step}: expected a finite loss, got {said['loss']}; {there}")

    def _look(self, progress: Progress) -> None:
        """Validate and sample where it is time to."""
        settings, last = self._settings, self.step == self._settings.steps
        if self._validation and (last or self.step % settings.validate_every == 0):
            self.validation_loss = self._validate(self._validation)
            self._log.write("validation", self.step, loss=self.validation_loss)
            progress.print(f"step {self.step}: validation loss {self.validation_loss:.4f}")
        if settings.sample_every and (last or self.step % settings.sample_every == 0):
            text = self._sample()
            self._log.write("sample", self.step, text=text)
            progress.print(f"step {self.step}: sample: {text!r}")

    def _validate(self, batches: Batches) -> float:
        """Return the mean loss of the split's first batches, which are the same every time."""
        count = min(len(batches), self._settings.validation_batches)
        losses = [self.learner.loss(self.standing, *batches.for_update(number)) for number in range(1, count + 1)]
        return math.fsum(losses) / count

    def _sample(self) -> str:
        tokenizer, prompt = self._tokenizer, self._settings.prompt
        start = [tokenizer.eot, *(int(id) for id in tokenizer.encode(prompt))]
        return prompt + tokenizer.decode(self.learner.sample(self.standing, start, self.step))

    def _save(self) -> int:
        """Keep all that a run goes on from, behind a log that knows every step of it."""
        self._log.to_disk()
        kept = self.learner.kept(self.standing)
        self.store.save(self.step, kept.with_content(data=self.loader.state()))
        return self.step


def _tokens(settings: Settings, learner: Learner) -> Tokens:
    tokens = Tokens.open(settings.data)
    if tokens.vocab_size > learner.config.vocab:
        expected = f"at least the {tokens.vocab_size} ids that the tokens in {settings.data} have"
        raise SettingsError(f"vocab: expected {expected}, got {learner.config.vocab}")
    return tokens


def _validation(settings: Settings) -> Batches | None:
    if not settings.validate_every:
        return None
    try:
        return Batches(Tokens.open(settings.data, "validation"), settings.batch, settings.seq)
    except DataError as error:
        raise DataError(f"validation: {error}; --validate-every 0 goes without") from None


def _refuse_to_overwrite(store: Store, log: Path) -> None:
    if steps := store.steps():
        there = f"{store.folder}: holds checkpoints up to step {steps[-1]}"
        raise SettingsError(f"{there}; --resume goes on from there, --output names another folder")
    if log.exists():
        raise SettingsError(f"{log}: a run's log is there; --resume begins that run again, --log names another file")


def _texts(items: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Path) else value for name, value in items}
