"""Decoding where the library computes: each token feeds the next step, and all of them come back at the end."""

from __future__ import annotations

import numpy as np

from bindings import Library
from reference.arrays import Array, check
from reference.generate import GREEDY, Strategy, advance, begin, last_places, seeds
from reference.model.config import Config
from reference.model.parameters import Parameters
from reference.namespace import Ops


def generate(
    library: Library,
    config: Config,
    parameters: Parameters,
    prompt: Array,
    max_new: int,
    strategy: Strategy = GREEDY,
    seed: int = 0,
    ops: Ops | None = None,
) -> Array:
    """The prompt continued by max_new tokens: int32 [batch, n] in, int32 [batch, n + max_new] out, both of the host.

    parameters: DeviceArrays.  The library is one opened with resident=True; ops: what the model runs on instead of it,
    its operations run in another precision.  Nothing is captured: how many tokens there
    are is a number of the calls, another at each step.
    """
    check(prompt.ndim == 2 and prompt.size > 0, "generate", "prompt", "shape (batch, at least one token)", prompt.shape)
    check(max_new >= 0, "generate", "max_new", "at least 0", max_new)
    if max_new == 0:
        return prompt.copy()
    ops = ops or library
    batch, n = prompt.shape
    drawn = library.array(np.stack([seeds(seed, step, batch) for step in range(max_new)]))
    chosen = library.memory.empty((max_new, batch), np.int32)
    decoding = begin(ops, config, batch, n + max_new)
    tokens, last = library.array(np.ascontiguousarray(prompt)), library.array(last_places(batch, n))
    for step in range(max_new):
        logits, decoding = advance(ops, config, parameters, decoding, tokens, last)
        chosen[step].copy_from(strategy.choose(ops, logits, drawn[step]))
        tokens, last = chosen[step].reshape(batch, 1), library.array(last_places(batch, 1)) if step == 0 else last
    return np.concatenate([prompt, chosen.to_host().T], axis=1)
