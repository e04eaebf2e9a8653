"""Modules: parameters by name, training and evaluation, the state as a dict and a file, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import reference
from reference.model.config import Config
from reference.model.parameters import held_shapes, initialise
from tensors import Tensor, TensorError
from tensors.modules import (
    Attention,
    Decoder,
    Dropout,
    Embedding,
    FeedForward,
    LayerNorm,
    Linear,
    MixtureOfExperts,
    Module,
)
from tensors.tape import Variable

CONFIG = Config(hidden=8, layers=2, q_heads=2, kv_heads=1, head_dim=4, experts=2, top_k=1, ffn=8, vocab=11)
TOKENS = np.array([[1, 2, 3], [4, 5, 6]], np.int32)


class Pair(Module):
    """Two layers, of which the second has parts in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Linear(3, 2, seed="first")
        self.more = [LayerNorm(2), Dropout(0.5, seed=1)]

    def forward(self, x: Variable) -> Variable:
        x = self.first(x)
        for one in self.more:
            x = one(x)
        return x


def test_parameters_have_names_in_the_order_of_definition() -> None:
    names = [name for name, _ in Pair().named_parameters()]
    assert names == ["first.weight", "first.bias", "more.0.weight", "more.0.bias"]


def test_the_decoder_has_the_parameters_of_the_model() -> None:
    model = Decoder(CONFIG)
    assert {name: one.shape for name, one in model.model_parameters().items()} == held_shapes(CONFIG)
    assert len(model.parameters()) == len(held_shapes(CONFIG))
    assert "layers.1.self_attn.q_proj.weight" in model.state_dict()
    given = initialise(CONFIG, seed=3, dtype=np.float32)
    model.load_model(given)
    assert all(np.array_equal(one.numpy(), given[name]) for name, one in model.model_parameters().items())


def test_training_and_evaluation_are_set_in_all_parts() -> None:
    pair = Pair()
    assert all(not module.training for module in pair.eval().modules())
    assert all(module.training for module in pair.train().modules())


def test_dropout_draws_the_header_s_masks_one_behind_the_other() -> None:
    drop, x = Dropout(0.5, seed=9), Variable(Tensor(np.ones((3, 2), np.float32)), requires_grad=True)
    first, second = drop(x), drop(x)
    due = [reference.dropout(np.ones(6, np.float32), np.array([9, offset], np.uint64), rate=0.5) for offset in (0, 2)]
    assert [first.numpy().reshape(-1).tolist(), second.numpy().reshape(-1).tolist()] == [one.tolist() for one in due]
    second.sum().backward()
    assert x.grad is not None
    assert np.array_equal(x.grad.numpy().reshape(-1), due[1])
    assert drop.eval()(x) is x


def test_a_state_goes_to_a_file_and_back(tmp_path: Path) -> None:
    one, other = Decoder(CONFIG, seed=1), Decoder(CONFIG, seed=2)
    one.save(tmp_path / "model.safetensors")
    other.load(tmp_path / "model.safetensors")
    assert [*tmp_path.iterdir()] == [tmp_path / "model.safetensors"]
    loss = [model.loss(TOKENS, TOKENS).total.item() for model in (one, other)]
    assert loss[0] == loss[1]
    assert safetensors.numpy.load_file(tmp_path / "model.safetensors").keys() == one.state_dict().keys()


REFUSED: dict[str, tuple[Any, str]] = {
    "missing": (lambda s: s.pop("first.bias"), "no first.bias"),
    "extra": (lambda s: s.update(third=np.zeros(1, np.float32)), "third, which there is not"),
    "shape": (
        lambda s: s.update({"first.bias": np.zeros(3, np.float32)}),
        r"first.bias \(3,\) of float32, not \(2,\) of float32",
    ),
    "type": (
        lambda s: s.update({"first.bias": np.zeros(2)}),
        r"first.bias \(2,\) of float64, not \(2,\) of float32",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_state_that_does_not_fit_is_refused_and_changes_nothing(name: str) -> None:
    pair, (change, said) = Pair(), REFUSED[name]
    before, state = pair.state_dict(), {key: array + 1 for key, array in pair.state_dict().items()}
    change(state)
    with pytest.raises(TensorError, match=f"load_state_dict: expected 4 parameters by name, got {said}"):
        pair.load_state_dict(state)
    assert all(np.array_equal(array, before[key]) for key, array in pair.state_dict().items())


def test_a_state_is_a_copy() -> None:
    pair = Pair()
    pair.state_dict()["first.weight"][...] = 7.0
    assert not np.any(pair.first.weight.numpy() == 7.0)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(TensorError, match=r"load: expected a safetensors file, got .*model\.safetensors"):
        Pair().load(tmp_path / "model.safetensors")


CALLS: dict[str, tuple[Any, str]] = {
    "linear": (lambda: Linear(3, 2, seed=0)(_zeros(2, 4)), r"Linear: expected \(\.\.\., 3\), got \(2, 4\)"),
    "embedding": (
        lambda: Embedding(3, 2, seed=0)(np.array([0, 3])),
        "Embedding: expected rows from 0 to 2, got 0",
    ),
    "no numbers": (lambda: Embedding(3, 2, seed=0)(np.array([0.5])), "Embedding: expected whole numbers, got float64"),
    "rate": (lambda: Dropout(1.0, seed=0), "Dropout: expected a rate from 0 up to below 1, got 1.0"),
    "heads": (
        lambda: Attention(8, 3, 2, 4, seed=0),
        "Attention: expected query heads in a multiple of 2",
    ),
    "experts": (lambda: MixtureOfExperts(8, 8, 2, 3, seed=0), "MixtureOfExperts: expected top_k from 1 to 2, got 3"),
    "targets": (lambda: Decoder(CONFIG).loss(TOKENS, TOKENS[0]), r"Decoder: expected targets \(2, 3\), got \(3,\)"),
    "tokens": (lambda: Decoder(CONFIG)(TOKENS[0]), r"Decoder: expected tokens \(batch, seq\), got \(3,\)"),
}


def _zeros(*shape: int) -> Variable:
    return Variable(Tensor(np.zeros(shape, np.float32)))


@pytest.mark.parametrize("name", CALLS)
def test_calls_that_do_not_fit_are_refused(name: str) -> None:
    call, said = CALLS[name]
    with pytest.raises(TensorError, match=said):
        call()


def test_feed_forward_is_a_mixture_of_one_expert() -> None:
    single, mixed = FeedForward(4, 6, seed=1), MixtureOfExperts(4, 6, 1, 1, seed=2)
    held = mixed.experts
    pairs = ((single.gate_proj, held.gate_proj), (single.up_proj, held.up_proj), (single.down_proj, held.down_proj))
    for one, of_experts in pairs:
        one.weight.value[...] = of_experts.value[0]
    x = Variable(Tensor(np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 4)))
    assert np.array_equal(single(x).numpy(), mixed(x)[0].numpy())
