"""The training step through the tape beside the one written by hand, both on the C library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensors.functions import COMPOSED, FUSED, Composed
from tensors.modules import Decoder
from tensors.training import Training

from .backends import Backends, C
from .cases import TRAINING, batch, initial_state
from .interleaved import ratio, take_turns
from .sizes import Sizes
from .table import Table
from .test_training_step import step_of

BY_HAND = "by hand"
FORMS = {"fused": FUSED, "composed": COMPOSED}


def test_ratio(backends: Backends, sizes: Sizes, table: Table, agreed_step: None) -> None:
    ways = {BY_HAND: step_of(C, backends, sizes)}
    ways |= {name: taped(backends, sizes, form) for name, form in FORMS.items()}
    seconds = take_turns(ways, sizes.steps)
    for name in FORMS:
        rate = ratio(seconds[BY_HAND], seconds[name])
        table.notes.append(f"training step on the tape, {name}, on the C library: {rate} of the tokens/s by hand")


def taped(backends: Backends, sizes: Sizes, form: Composed) -> Callable[[], Any]:
    """A training step through the tape that goes on where the last one ended."""
    state, (tokens, targets) = initial_state(sizes), batch(sizes)
    model = Decoder(sizes.config, ops=backends.operations(C), functions=form)
    model.load_model(state.parameters)
    training = Training(model, TRAINING)
    return lambda: training(tokens, targets)
