"""Looking at a model while it is trained: its loss on text it does not learn from, and what it writes itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .data import Batches, DataError, Tokens, load_tokenizer
from .data.manifest import TOKENIZER_FILE

if TYPE_CHECKING:
    from .learner import Learner
    from .settings import Settings
    from .step import Standing


class Looks:
    """Validation and samples of one run. Raises DataError where the text for validation does not fill a batch."""

    def __init__(self, learner: Learner, settings: Settings) -> None:
        self._learner, self._settings = learner, settings
        self._tokenizer = load_tokenizer(settings.data / TOKENIZER_FILE)
        self._validation = _validation(settings) if settings.validate_every else None

    def loss(self, standing: Standing, step: int) -> float | None:
        """Return the mean loss of the split's first batches, the same every time; None while it is not due."""
        batches = self._validation
        if batches is None or not self._is_due(step, self._settings.validate_every):
            return None
        count = min(len(batches), self._settings.validation_batches)
        losses = [self._learner.loss(standing, *batches.for_update(number)) for number in range(1, count + 1)]
        return math.fsum(losses) / count

    def sample(self, standing: Standing, step: int) -> str | None:
        """Return the prompt and how the model goes on; None while it is not due."""
        if not self._is_due(step, self._settings.sample_every):
            return None
        prompt = self._settings.prompt
        start = [self._tokenizer.eot, *(int(id) for id in self._tokenizer.encode(prompt))]
        return prompt + self._tokenizer.decode(self._learner.sample(standing, start, step))

    def due(self, step: int) -> bool:
        """Return whether any of them is."""
        return any(self._is_due(step, every) for every in (self._settings.validate_every, self._settings.sample_every))

    def _is_due(self, step: int, every: int) -> bool:
        return every > 0 and (step % every == 0 or step == self._settings.steps)


def _validation(settings: Settings) -> Batches:
    try:
        return Batches(Tokens.open(settings.data, "validation"), settings.batch, settings.seq)
    except DataError as error:
        raise DataError(f"validation: {error}; --validate-every 0 goes without") from None
