"""What is trained: the one part of a run that knows the kind of model, and the names of its tensors."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

import reference
from reference import random
from reference.generate import Strategy, generate
from reference.model import transformer
from reference.model.parameters import held_shapes, initialise
from reference.step import State

from .checkpoints import Checkpoint
from .precision import Scaler
from .step import Report, Standing, Step

if TYPE_CHECKING:
    from reference.arrays import Array
    from reference.model.parameters import Parameters
    from reference.namespace import Ops

    from .ranks import Ranks
    from .settings import Settings

TOP_P = 0.9  # samples are drawn from the likeliest tokens that have this share together


class Learner:
    """A mixture-of-experts transformer on a namespace of operations."""

    way = ""  # how the ranks' sums cross, where not from one process's own arrays to another's

    def __init__(self, ops: Ops, settings: Settings, ranks: Ranks) -> None:
        self._ops, self._settings = ops, settings
        self.config, self.training = settings.model(), settings.training()
        self.precision = settings.formats()
        self._model_ops = self.precision.on(ops)
        self.step = Step(
            ops,
            self.config,
            self.training,
            precision=self.precision,
            recompute=settings.recomputed(),
            ranks=ranks,
            expert_parallel=settings.expert_parallel,
        )

    def start(self) -> Standing:
        """Where training starts."""
        return self.step.start(initialise(self.config, self._settings.seed, np.float32, self._settings.deviation))

    def loss(self, standing: Standing, tokens: Array, targets: Array) -> float:
        """Return the cross entropy of a batch."""
        output = transformer.forward(self._model_ops, self.config, model_parameters(standing), tokens)
        found, _ = transformer.loss(self._model_ops, output, targets)
        return float(found.cross_entropy[0])

    def sample(self, standing: Standing, prompt: list[int], step: int) -> list[int]:
        """Return ids that follow the prompt's."""
        strategy = Strategy(name="top_p", top_p=TOP_P, temperature=self._settings.temperature)
        seed = random.stream("sample", self._settings.seed, step)
        start, count = np.array([prompt], np.int32), self._settings.sample_tokens
        ids = self._generate(model_parameters(standing), start, count, strategy, seed)
        return [int(id) for id in ids[0, len(prompt) :]]

    def _generate(self, parameters: Parameters, prompt: Array, count: int, strategy: Strategy, seed: int) -> Array:
        return generate(self._model_ops, self.config, parameters, prompt, count, strategy, seed)

    def same(self) -> dict[str, Any]:
        """Return what a checkpoint and a run that goes on from it must agree in."""
        settings = self._settings
        return {
            "model": asdict(self.config),
            "training": asdict(self.training),
            "start": {"seed": settings.seed, "deviation": settings.deviation},
            "precision": {
                "format": self.precision.format,
                "scaling": asdict(self.precision.scaling),
                "rounding": settings.rounding,
            },
        }

    def shapes(self) -> dict[str, Parameters]:
        """Return the tensors of a checkpoint: type and shape alone count."""
        like = {name: np.broadcast_to(np.float32(0), shape) for name, shape in held_shapes(self.config).items()}
        numbers = self.precision.copies(reference, {name: np.zeros(1, np.float32) for name in like})
        copies = {name: np.broadcast_to(number[0], like[name].shape) for name, number in numbers.items()}
        return _tensors(like, like, like, copies)

    def to_checkpoint(self, standing: Standing) -> Checkpoint:
        """Return all that training goes on from; every rank has to ask."""
        state, scaler, copies = self.step.whole(standing)
        content = {"updates": state.step, "scaler": scaler._asdict()}
        return Checkpoint(_tensors(state.parameters, state.m, state.v, copies), {**self.same(), **content})

    def from_checkpoint(self, checkpoint: Checkpoint) -> Standing:
        """Return where training stood: the other way round.

        Tensors are in the model's order, which a file does not keep: sums over all of them are in that order.
        """
        tensors, content = checkpoint.tensors, checkpoint.content
        names = list(held_shapes(self.config))
        m, v = ({name: tensors["moments"][f"{kind}.{name}"] for name in names} for kind in "mv")
        state = State({name: tensors["parameters"][name] for name in names}, m, v, content["updates"])
        copies = tensors.get("copies", {})
        held = {name: copies[name] for name in names if name in copies}
        return self.step.part(Standing(state, Scaler(**content["scaler"]), held))


def plain(report: Report) -> dict[str, Any]:
    """Return a report in numbers that JSON knows; loads as shares of each expert, by layer."""
    numbers = {name: float(getattr(report, name)[0]) for name in ("loss", "cross_entropy", "aux_loss", "norm")}
    loads = [[round(float(share), 6) for share in load / load.sum()] for load in report.loads]
    rest = {"learning_rate": report.learning_rate, "scale": report.scale, "skipped": report.skipped}
    return {**numbers, **rest, "loads": loads}


def model_parameters(standing: Standing) -> Parameters:
    """Return the parameters that the model reads."""
    return standing.state.parameters | standing.copies


def _tensors(parameters: Parameters, m: Parameters, v: Parameters, copies: Parameters) -> dict[str, Parameters]:
    moments = {f"{kind}.{name}": array for kind, arrays in (("m", m), ("v", v)) for name, array in arrays.items()}
    return {"parameters": parameters, "moments": moments} | ({"copies": copies} if copies else {})
