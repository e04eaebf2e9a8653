"""What is trained: the one part of a run that knows the kind of model, and the names of its tensors."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from reference import random
from reference.generate import Strategy, generate
from reference.model import transformer
from reference.model.parameters import held_shapes, initialise
from reference.step import State
from training.checkpoints import Checkpoint
from training.precision import Scaler
from training.step import Report, Standing, Step

if TYPE_CHECKING:
    from reference.model.parameters import Ops, Parameters
    from reference.ops._arrays import Array
    from training.ranks import Ranks
    from training.settings import Settings

TOP_P = 0.9  # samples are drawn from the likeliest tokens that have this share together


class Learner:
    """A mixture-of-experts transformer on a namespace of operations."""

    def __init__(self, ops: Ops, settings: Settings, ranks: Ranks) -> None:
        self._ops, self._settings = ops, settings
        self.config, self.training = settings.model(), settings.training()
        self.step = Step(
            ops,
            self.config,
            self.training,
            recompute=settings.recomputed(),
            ranks=ranks,
            expert_parallel=settings.expert_parallel,
        )

    def start(self) -> Standing:
        """Where training starts."""
        return self.step.start(initialise(self.config, self._settings.seed, np.float32, self._settings.deviation))

    def loss(self, standing: Standing, tokens: Array, targets: Array) -> float:
        """Return the cross entropy of a batch."""
        output = transformer.forward(self._ops, self.config, standing.state.parameters, tokens)
        found, _ = transformer.loss(self._ops, output, targets)
        return float(found.cross_entropy[0])

    def sample(self, standing: Standing, prompt: list[int], step: int) -> list[int]:
        """Return ids that follow the prompt's."""
        strategy = Strategy(name="top_p", top_p=TOP_P, temperature=self._settings.temperature)
        seed = random.stream("sample", self._settings.seed, step)
        start, count = np.array([prompt], np.int32), self._settings.sample_tokens
        ids = self._generate(standing.state.parameters, start, count, strategy, seed)
        return [int(id) for id in ids[0, len(prompt) :]]

    def _generate(self, parameters: Parameters, prompt: Array, count: int, strategy: Strategy, seed: int) -> Array:
        return generate(self._ops, self.config, parameters, prompt, count, strategy, seed)

    def same(self) -> dict[str, Any]:
        """Return what a checkpoint and a run that goes on from it must agree in."""
        settings = self._settings
        return {
            "model": asdict(self.config),
            "training": asdict(self.training),
            "start": {"seed": settings.seed, "deviation": settings.deviation},
        }

    def shapes(self) -> dict[str, Parameters]:
        """Return the tensors of a checkpoint: type and shape alone count."""
        like = {name: np.broadcast_to(np.float32(0), shape) for name, shape in held_shapes(self.config).items()}
        return _tensors(like, like, like)

    def kept(self, standing: Standing) -> Checkpoint:
        """Return all that training goes on from; every rank has to ask."""
        state = self.step.whole(standing).state
        content = {"updates": state.step, "scaler": standing.scaler._asdict()}
        return Checkpoint(_tensors(state.parameters, state.m, state.v), {**self.same(), **content})

    def restored(self, checkpoint: Checkpoint) -> Standing:
        """Return where training stood: the other way round."""
        moments, content = checkpoint.tensors["moments"], checkpoint.content
        m, v = ({name: moments[f"{kind}.{name}"] for name in checkpoint.tensors["parameters"]} for kind in "mv")
        state = State(dict(checkpoint.tensors["parameters"]), m, v, content["updates"])
        standing = self.step.start(state.parameters)
        state = self.step.part(standing._replace(state=state)).state
        return standing._replace(state=state, scaler=Scaler(**content["scaler"]))


def plain(report: Report) -> dict[str, Any]:
    """Return a report in numbers that JSON knows; loads as shares of each expert, by layer."""
    numbers = {name: float(getattr(report, name)[0]) for name in ("loss", "cross_entropy", "aux_loss", "norm")}
    loads = [[round(float(share), 6) for share in load / load.sum()] for load in report.loads]
    rest = {"learning_rate": report.learning_rate, "scale": report.scale, "skipped": report.skipped}
    return {**numbers, **rest, "loads": loads}


def _tensors(parameters: Parameters, m: Parameters, v: Parameters) -> dict[str, Parameters]:
    moments = {f"{kind}.{name}": array for kind, arrays in (("m", m), ("v", v)) for name, array in arrays.items()}
    return {"parameters": parameters, "moments": moments}
