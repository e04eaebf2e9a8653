"""Every setting of a run, and the configurations made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from bindings.places import module
from reference.model import recompute
from reference.model.config import CONFIGS, Config, named
from reference.model.parameters import INITIAL_DEVIATION
from reference.model.recompute import Recompute
from reference.step import TrainingConfig
from training.precision import PRECISIONS, Precision, read

from .setting import COUNT, NOT_NEGATIVE, POSITIVE, SHARE, Setting, SettingsError, one_of, setting, settings_of

MODEL, DATA, OPTIMISER, RUN = "model (sizes that are not given are the configuration's)", "data", "optimiser", "run"
# The settings called otherwise than the field that they set: two fields are called eps.
FIELDS = {"norm_eps": "eps", "adam_eps": "eps"}
LONGEST_WARMUP = 2000


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a run is told. Raises SettingsError for settings that do not go together."""

    config: str = setting(MODEL, "configuration", "tiny", one_of(*CONFIGS))
    hidden: int | None = setting(MODEL, "width of the residual stream", None, COUNT)
    layers: int | None = setting(MODEL, "layers", None, COUNT)
    q_heads: int | None = setting(MODEL, "heads of queries", None, COUNT)
    kv_heads: int | None = setting(MODEL, "heads of keys and values", None, COUNT)
    head_dim: int | None = setting(MODEL, "width of a head", None, COUNT)
    experts: int | None = setting(MODEL, "experts of a layer", None, COUNT)
    top_k: int | None = setting(MODEL, "experts that a token meets", None, COUNT)
    ffn: int | None = setting(MODEL, "width of an expert", None, COUNT)
    vocab: int | None = setting(MODEL, "ids of the vocabulary", None, COUNT)
    rope_base: float | None = setting(MODEL, "base of the rotary angles", None, POSITIVE)
    rope_alpha: float | None = setting(MODEL, "stretch of the rotary angles", None, POSITIVE)
    norm_eps: float | None = setting(MODEL, "eps of the norms", None, NOT_NEGATIVE)
    aux_alpha: float | None = setting(MODEL, "weight of the auxiliary loss", None, NOT_NEGATIVE)
    deviation: float = setting(MODEL, "standard deviation of the first weights", INITIAL_DEVIATION, POSITIVE)

    data: Path = setting(DATA, f"folder that `python -m {module('training.data')}` has written")
    batch: int = setting(DATA, "sequences of a step, on all ranks together", 8, COUNT)
    seq: int = setting(DATA, "tokens of a sequence", 64, COUNT)
    seed: int = setting(DATA, "seed of the first weights, the order of documents and the samples", 1, NOT_NEGATIVE)

    steps: int = setting(OPTIMISER, "training steps in all", 1000, COUNT)
    total: int | None = setting(OPTIMISER, "step at which the learning rate is at its lowest (steps)", None, COUNT)
    warmup: int | None = setting(
        OPTIMISER,
        f"steps of rising learning rate (a tenth of all, at most {LONGEST_WARMUP})",
        None,
        NOT_NEGATIVE,
    )
    lr: float = setting(OPTIMISER, "highest learning rate", 1e-3, NOT_NEGATIVE)
    beta1: float = setting(OPTIMISER, "decay of AdamW's first moment", TrainingConfig.beta1, SHARE)
    beta2: float = setting(OPTIMISER, "decay of AdamW's second moment", TrainingConfig.beta2, SHARE)
    adam_eps: float = setting(OPTIMISER, "eps of AdamW", TrainingConfig.eps, NOT_NEGATIVE)
    weight_decay: float = setting(OPTIMISER, "weight decay", TrainingConfig.weight_decay, NOT_NEGATIVE)
    clip_norm: float = setting(OPTIMISER, "largest norm of all gradients", TrainingConfig.clip_norm, POSITIVE)
    micro_batches: int = setting(OPTIMISER, "parts of a rank's batch, computed one after the other", 1, COUNT)

    recompute: str = setting(RUN, "layers computed again in backward: none, every:K or boundaries:K", "none")
    precision: str = setting(RUN, "format that products and activations are in", "float32", one_of(*PRECISIONS))
    loss_scale: str | None = setting(
        RUN, "factor of the loss: none, dynamic or a power of two (dynamic in fp16, none in others)", None
    )
    rounding: str = setting(RUN, "of 16-bit copies of updated parameters", "nearest", one_of("nearest", "stochastic"))
    compare_every: int = setting(RUN, "steps between comparisons of all ranks' parameters; 0: never", 1, NOT_NEGATIVE)
    expert_parallel: bool = setting(RUN, "each rank holds a part of the experts, and tokens go to theirs", False)
    output: Path = setting(RUN, "folder for the checkpoints, the log and the plot", Path("run"))
    backend: str = setting(RUN, "reference, stub (this project's C library) or the path of a library", "reference")
    log: Path | None = setting(RUN, "file of the log (log.jsonl in the output folder)", None)
    checkpoint_every: int = setting(RUN, "steps between checkpoints", 100, COUNT)
    keep: int = setting(RUN, "newest checkpoints that are kept", 3, COUNT)
    validate_every: int = setting(RUN, "steps between validations; 0: never", 100, NOT_NEGATIVE)
    validation_batches: int = setting(RUN, "batches of a validation, the first of its split", 10, COUNT)
    sample_every: int = setting(RUN, "steps between samples; 0: never", 500, NOT_NEGATIVE)
    sample_tokens: int = setting(RUN, "tokens of a sample", 100, COUNT)
    prompt: str = setting(RUN, "text that samples begin with", "")
    temperature: float = setting(RUN, "temperature of samples; 0: the likeliest token always", 0.8, NOT_NEGATIVE)

    def __post_init__(self) -> None:
        if self.batch % self.micro_batches:
            given = f"a divisor of batch = {self.batch}, got {self.micro_batches}"
            raise SettingsError(f"micro_batches: expected {given}")
        self.training()
        layers = self.model().layers
        self.formats()
        with _as_settings("recompute: "):
            if again := self.recomputed():
                again.segments(layers)

    def model(self) -> Config:
        """Return the model's configuration."""
        given = self._for(Config, "adam_eps")
        with _as_settings():
            return replace(named(self.config), **given)

    def training(self) -> TrainingConfig:
        """Return the optimiser's configuration."""
        total = self.steps if self.total is None else self.total
        warmup = min(LONGEST_WARMUP, total // 10) if self.warmup is None else self.warmup
        given = self._for(TrainingConfig, "norm_eps") | {"total": total, "warmup": warmup}
        with _as_settings():
            return TrainingConfig(**given)

    def on_schedule(self, begun: Mapping[str, Any]) -> Settings:
        """Return these with the schedule that a run was begun with, where they state none of their own."""
        kept: dict[str, Any] = {name: begun.get(name) for name in ("total", "warmup") if getattr(self, name) is None}
        return replace(self, **kept)

    def formats(self) -> Precision:
        """Return the format that is computed in, and how the loss is scaled."""
        with _as_settings():
            stochastic = self.rounding == "stochastic"
            return replace(read(self.precision, self.loss_scale), stochastic=stochastic, seed=self.seed)

    def recomputed(self) -> Recompute | None:
        """Return which layers are computed again in backward."""
        return recompute.read(self.recompute)

    def _for(self, config: type, other: str) -> dict[str, Any]:
        """Return what was given of a configuration's fields; `other` is a setting of another one's."""
        known = {each.name for each in fields(config)}
        names = {name: FIELDS.get(name, name) for name in DECLARED if name != other}
        values = {field: getattr(self, name) for name, field in names.items() if field in known}
        return {field: value for field, value in values.items() if value is not None}


@contextmanager
def _as_settings(of: str = "") -> Iterator[None]:
    """What a configuration refuses is a setting."""
    try:
        yield
    except ValueError as error:
        raise SettingsError(of + str(error).partition(": ")[2]) from None


DECLARED: dict[str, Setting] = settings_of(Settings)
