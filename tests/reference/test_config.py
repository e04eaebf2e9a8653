"""Sizes of the named configurations, and what no model can have."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, astuple, replace
from typing import Any

import numpy as np
import pytest

import reference
from reference.generate import Strategy
from reference.model import parameters
from reference.model.config import BENCH, FULL, TINY, Config, named
from reference.model.recompute import Recompute
from reference.step import TrainingConfig, accumulate
from tests.errors import error_of
from tests.reference.model_samples import SMALL, batch


def test_parameter_counts() -> None:
    assert parameters.count(TINY) == 542_528
    assert len(list(parameters.tensors(TINY))) == 41
    # The published counts of `full` leave out the final norm, and its active ones the routers too.
    assert parameters.count(FULL) - FULL.hidden == 6_882_677_760
    routers = FULL.layers * FULL.experts * FULL.hidden
    assert parameters.count(FULL, active=True) - FULL.hidden - routers == 1_786_229_760
    with pytest.raises(TypeError, match="positional"):
        parameters.count(FULL, True)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("config", "sizes"),
    [
        (FULL, (768, 30, 12, 1, 64, 16, 4, 6144, 32000)),
        (TINY, (64, 2, 4, 1, 16, 4, 2, 256, 1000)),
        (BENCH, (256, 4, 4, 1, 64, 8, 2, 512, 4096)),
    ],
)
def test_sizes(config: Config, sizes: tuple[int, ...]) -> None:
    assert astuple(config) == (*sizes, 10000.0, 8.0, 1e-6, 0.01)


def test_canonical_order() -> None:
    names = [tensor.name for tensor in parameters.tensors(TINY)]
    first = ("attn_norm", "w_q", "w_k", "w_v", "w_o", "ffn_norm", "router")
    assert names[:8] == ["embedding", *(f"layers.0.{name}" for name in first)]
    assert names[8:12] == [f"layers.0.experts.{n}" for n in ("0.gate", "0.up", "0.down", "1.gate")]
    assert names[-2:] == ["final_norm", "lm_head"]


def test_queries_need_not_be_as_wide_as_the_stream() -> None:
    """Every array by its shape, and its gradient's: three heads of 4 queries, one of keys, a stream of 10."""
    config = Config(hidden=10, layers=1, q_heads=3, kv_heads=1, head_dim=4, experts=5, top_k=2, ffn=7, vocab=11)
    of_layer = {
        "attn_norm": (10,), "w_q": (12, 10), "w_k": (4, 10), "w_v": (4, 10), "w_o": (10, 12),
        "ffn_norm": (10,), "router": (5, 10), "gate": (5, 7, 10), "up": (5, 7, 10), "down": (5, 10, 7),
    }  # fmt: skip
    expected = {f"layers.0.{name}": shape for name, shape in of_layer.items()}
    expected |= {"embedding": (11, 10), "final_norm": (10,), "lm_head": (11, 10)}
    held = parameters.initialise(config, 0)
    assert {name: array.shape for name, array in held.items()} == expected
    assert {tensor.name: tensor.shape for tensor in parameters.tensors(config) if tensor.expert == 4} == {
        f"layers.0.experts.4.{name}": of_layer[name][1:] for name in ("gate", "up", "down")
    }
    gradients = accumulate(reference, config, held, *batch(config)).gradients
    assert {name: array.shape for name, array in gradients.items()} == expected


def test_tensors_are_views_of_what_is_held() -> None:
    held = parameters.initialise(TINY, 0)
    assert list(held) == list(parameters.held_shapes(TINY))
    seen = 0
    for tensor in parameters.tensors(TINY):
        array = tensor.of(held)
        assert array.shape == tensor.shape
        assert np.shares_memory(array, held[tensor.held])
        seen += array.size
    assert seen == sum(array.size for array in held.values())


def test_weights_decay_and_norms_do_not() -> None:
    assert {t.name.split(".")[-1] for t in parameters.tensors(TINY) if not t.decays} == {
        "attn_norm",
        "ffn_norm",
        "final_norm",
    }


def test_products_of_queries_and_keys_are_divided_by_the_root_of_the_head_s_width() -> None:
    """Vaswani et al. 2017, section 3.2.1."""
    assert replace(TINY, head_dim=64).attention_scale == 1 / 8


def test_initialisation() -> None:
    three = replace(TINY, layers=3)
    held = parameters.initialise(three, 0)
    assert (held["final_norm"] == 1).all()
    gate, down = held["layers.0.gate"], held["layers.0.down"]
    assert len({array.tobytes() for array in (*gate, *held["layers.1.gate"])}) == 2 * three.experts
    for array, deviation in ((gate, 0.02), (down, 0.02 / np.sqrt(2 * three.layers))):
        # The standard deviation of n normal numbers errs by about deviation / sqrt(2n); eight times that is allowed.
        assert abs(array.std() - deviation) <= 8 * deviation / np.sqrt(2 * array.size)
    single = parameters.initialise(three, 0, np.float32)
    assert all(single[name].dtype == np.float32 and (single[name] == array).all() for name, array in held.items())


def test_seeds_and_names_part_the_streams() -> None:
    first, second = parameters.initialise(SMALL, 0), parameters.initialise(SMALL, 1)
    assert (first["lm_head"] != second["lm_head"]).mean() > 0.9
    assert (first["lm_head"] != first["embedding"]).mean() > 0.9


def test_the_head_is_not_tied_to_the_embedding() -> None:
    held = parameters.initialise(TINY, 0)
    assert held["lm_head"].shape == held["embedding"].shape
    assert not np.shares_memory(held["lm_head"], held["embedding"])


SIZES = {field: getattr(SMALL, field) for field in SMALL.__dataclass_fields__}


WHOLE, FINITE, POSITIVE = "a whole number of at least 1", "a finite number", "above 0"


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("hidden", 0, WHOLE),
        ("layers", -1, WHOLE),
        ("vocab", 2.5, WHOLE),
        ("experts", True, WHOLE),
        ("kv_heads", 4, f"a divisor of q_heads = {SMALL.q_heads}"),
        ("head_dim", 2, "an even number above 2 (rotary pairs)"),
        ("head_dim", 5, "an even number above 2 (rotary pairs)"),
        ("top_k", SMALL.experts + 1, f"at most experts = {SMALL.experts}"),
        ("rope_base", 0.0, POSITIVE),
        ("rope_base", -1.0, POSITIVE),
        ("rope_alpha", 0.0, POSITIVE),
        ("rope_alpha", -8.0, POSITIVE),
        ("eps", float("nan"), FINITE),
        ("eps", -1e-9, "at least 0"),
        ("aux_alpha", -0.01, "at least 0"),
        ("aux_alpha", float("inf"), FINITE),
    ],
)
def test_impossible_sizes_are_refused_by_name(field: str, value: Any, expected: str) -> None:
    assert (
        str(error_of(ValueError, Config, **SIZES | {field: value}))
        == f"Config: {field}: expected {expected}, got {value}"
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((field, 1) for field in ("hidden", "layers", "kv_heads", "top_k", "ffn", "vocab")),
        ("q_heads", SMALL.kv_heads),
        ("head_dim", 4),
        ("experts", SMALL.top_k),
        ("rope_base", 0.5),
        ("rope_alpha", 0.5),
        ("eps", 0.0),
        ("aux_alpha", 0.0),
    ],
)
def test_the_smallest_sizes_are_taken(field: str, value: Any) -> None:
    assert getattr(Config(**SIZES | {field: value}), field) == value


NOT_NEGATIVE = "a finite number of at least 0"


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("lr", -1e-4, NOT_NEGATIVE),
        ("beta1", 1.0, "below 1"),
        ("beta2", 1.0, "below 1"),
        ("beta2", float("nan"), NOT_NEGATIVE),
        ("clip_norm", 0.0, "above 0"),
        ("total", 2000, "more than warmup = 2000"),
        ("micro_batches", 0, "at least 1"),
        ("weight_decay", float("inf"), NOT_NEGATIVE),
    ],
)
def test_impossible_training_is_refused_by_name(field: str, value: Any, expected: str) -> None:
    assert (
        str(error_of(ValueError, TrainingConfig, **{field: value}))
        == f"TrainingConfig: {field}: expected {expected}, got {value}"
    )


def test_the_smallest_numbers_of_training_are_taken() -> None:
    smallest = dict.fromkeys(("lr", "beta1", "beta2", "eps", "weight_decay", "warmup"), 0)
    training = TrainingConfig(**smallest, clip_norm=1e-3, total=1, micro_batches=1)
    assert {name: getattr(training, name) for name in smallest} == smallest


@pytest.mark.parametrize("settings", [TINY, TrainingConfig(), Strategy(), Recompute("every")])
def test_settings_stay_as_they_are(settings: Any) -> None:
    field = next(iter(settings.__dataclass_fields__))
    with pytest.raises(FrozenInstanceError):
        setattr(settings, field, getattr(settings, field))


@pytest.mark.parametrize("settings", [TINY, TrainingConfig(), Strategy()])
def test_settings_have_no_order(settings: Any) -> None:
    with pytest.raises(TypeError, match="positional"):
        type(settings)(*astuple(settings))


def test_what_training_begins_with() -> None:
    assert astuple(TrainingConfig()) == (1e-4, 0.9, 0.95, 1e-8, 0.1, 1.0, 2000, 100_000, 1)


def test_configurations_by_name() -> None:
    assert named("tiny") is TINY
    with pytest.raises(ValueError, match=r"^configuration: name: expected one of bench, full, tiny, got huge$"):
        named("huge")
