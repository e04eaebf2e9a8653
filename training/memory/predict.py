"""The memory that a training step takes of a library: told by running it on arrays without numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reference.arrays import check
from reference.model import transformer
from reference.model.config import Config
from reference.model.parameters import Parameters, held_shapes
from reference.model.recompute import Recompute
from reference.namespace import Ops, Wrapped
from reference.ops.sixteen import is_form_of
from reference.step import BACKWARD_BEGINS, FORWARD_BEGINS, TrainingConfig
from training.precision import FLOAT32, Precision
from training.ranks import ALONE, Ranks
from training.step import Standing, Step

from .kept import kept_by_kind
from .ledger import Ledger, arrays_in
from .peers import Peers
from .shapes import Shaped, Shapes


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is trained and how. batch counts sequences of `seq` tokens, of all devices together.

    expert_parallel: the devices share the experts too.

    Raises ValueError, naming the field, for a batch that devices and micro-batches do not share evenly, or experts.
    """

    config: Config
    batch: int
    seq: int
    micro_batches: int = 1
    precision: Precision = FLOAT32
    recompute: Recompute | None = None
    devices: int = 1
    expert_parallel: bool = False

    def __post_init__(self) -> None:
        for name in ("batch", "seq", "micro_batches", "devices"):
            check(getattr(self, name) >= 1, "memory", name, "at least 1", getattr(self, name))
        parts = self.devices * self.micro_batches
        expected = f"a multiple of devices x micro-batches = {parts}"
        check(self.batch % parts == 0, "memory", "batch", expected, self.batch)
        if self.recompute:
            self.recompute.segments(self.config.layers)
        if self.expert_parallel:
            expected = f"a multiple of devices = {self.devices}, which share them"
            check(self.config.experts % self.devices == 0, "memory", "experts", expected, self.config.experts)

    @property
    def rows(self) -> int:
        """Sequences of one micro-batch on one device."""
        return self.batch // (self.devices * self.micro_batches)

    def step(self, ops: Ops, ranks: Ranks = ALONE) -> Step:
        """The training step on a namespace of operations."""
        return Step(
            ops,
            self.config,
            TrainingConfig(micro_batches=self.micro_batches),
            precision=self.precision,
            recompute=self.recompute,
            ranks=ranks,
            expert_parallel=self.expert_parallel,
        )


class Prediction(NamedTuple):
    """Bytes on one device.

    state      what stands between steps: parameters, their 16-bit copies, AdamW's moments
    gradients  a float32 number for every parameter
    kept       what one micro-batch keeps from forward to backward, by kind
    worst      what there is beside the state when there is most: gradients, activations kept, and in passing the rest
    """

    state: dict[str, int]
    gradients: int
    kept: dict[str, int]
    worst: dict[str, int]

    @property
    def peak(self) -> int:
        """The most there is at a time."""
        return sum(self.state.values()) + sum(self.worst.values())


class Stages(Wrapped):
    """A namespace of operations that notes what forward has left as backward begins, and which arrays are gradients."""

    def __init__(self, ops: Ops, ledger: Ledger) -> None:
        super().__init__(ops)
        self._ledger = ledger
        self._before: set[int] = set()
        self.kept: set[int] = set()
        self.bytes_kept = 0
        self.gradients: set[int] = set()

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        if is_form_of(operation, FORWARD_BEGINS):
            self._before = self._ledger.alive()
        if is_form_of(operation, BACKWARD_BEGINS):
            self.kept |= self._ledger.alive() - self._before
            self.bytes_kept = max(self.bytes_kept, self._ledger.live)
        return super()._call(operation, *args, **named)

    def multi_sum_squares(self, gradients: list[Any]) -> Any:
        """What is squared and added up are the gradients."""
        self.gradients |= {self._ledger.number(array) for array in gradients}
        return self._ops.multi_sum_squares(gradients)


def predict(setting: Setting) -> Prediction:
    """Run one step on shapes, and count."""
    ledger = Ledger()
    ops = Stages(Shapes(ledger), ledger)
    peers = Peers(setting.devices, ledger)
    step = setting.step(ops, peers if setting.devices > 1 else ALONE)
    standing = step.start(parameters(setting.config, ledger))
    ledger.begin()
    before = ledger.alive()
    tokens = np.zeros((setting.batch // setting.devices, setting.seq), np.int32)
    step(standing, tokens, tokens)
    kinds = {
        "sums over devices": peers.taken,
        "gradients": ops.gradients | peers.given,
        "activations kept": ops.kept,
    }
    worst = dict.fromkeys([*kinds, "in passing"], 0)
    for number, size in ledger.at_peak.items():
        if number not in before:
            worst[next((kind for kind, numbers in kinds.items() if number in numbers), "in passing")] += size
    if setting.devices == 1:
        del worst["sums over devices"]
    state = _state(standing)
    return Prediction(state, state["parameters"], _kept(setting, standing), worst)


def parameters(config: Config, ledger: Ledger | None = None) -> Parameters:
    """A model's float32 parameters without numbers."""
    shaped: dict[str, Any] = {name: Shaped(shape, np.float32, ledger) for name, shape in held_shapes(config).items()}
    return shaped


def _state(standing: Standing) -> dict[str, int]:
    """The bytes of what stands between steps."""
    held = {
        "parameters": standing.state.parameters,
        "16-bit copies": standing.copies,
        "AdamW's moments": [standing.state.m, standing.state.v],
    }
    return {kind: sum(array.nbytes for array in arrays_in(arrays)) for kind, arrays in held.items() if arrays}


def _kept(setting: Setting, standing: Standing) -> dict[str, int]:
    """What one micro-batch's forward keeps."""
    ops, held = setting.precision.on(Shapes()), standing.state.parameters | standing.copies
    tokens = np.zeros((setting.rows, setting.seq), np.int32)
    output = transformer.forward(ops, setting.config, held, tokens, setting.recompute)
    return kept_by_kind(output, given=[*held.values(), tokens])
