"""The whole model and its training against PyTorch in float64, written from the definition with autograd."""

from __future__ import annotations

import pytest

from conformance.limits.namespaces import Stored
from reference.step import TrainingConfig, accumulate, start, training_step
from tests.reference.model_samples import SMALL, assert_close, batch, in_float64, noisy, parameters

pytest.importorskip("torch", reason="PyTorch, the independent library, is not installed")

from tests.reference.torch_model import Model, Trainer

# Clipped in every update (the norms are above 1); five updates meet warm-up, cosine and the flat end. With so large an
# eps the noise of gradients near zero is not blown up to that of whole steps.
TRAINING = TrainingConfig(lr=1e-2, eps=1e-3, clip_norm=0.5, warmup=2, total=4)


def test_loss_and_every_gradient() -> None:
    model = Model(SMALL, parameters())
    with in_float64():
        loss, gradients, _ = accumulate(Stored(), SMALL, noisy(parameters()), *batch())
    cross_entropy, aux = model.loss(*batch())
    assert_close(cross_entropy.detach().reshape(1), loss.cross_entropy, "cross entropy")
    assert_close(aux.detach().reshape(1), loss.aux, "auxiliary loss")
    expected = model.gradients(*batch())
    assert expected.keys() == gradients.keys()
    for name, gradient in expected.items():
        assert_close(gradient, gradients[name], name)


@pytest.mark.slow
def test_updates_with_clipping_and_schedule() -> None:
    trainer = Trainer(Model(SMALL, parameters()), TRAINING)
    with in_float64():
        state = start(noisy(parameters()))
        for update in range(5):
            tokens, targets = batch(seed=update)
            state, metrics = training_step(Stored(), SMALL, TRAINING, state, tokens, targets)
            assert metrics.norm.v > TRAINING.clip_norm
            assert_close(trainer.step(tokens, targets).reshape(1), metrics.norm, f"norm of update {update + 1}")
    for name, parameter in trainer.model.parameters.items():
        assert_close(parameter.detach().numpy(), state.parameters[name], name)
        moments = trainer.optimizer.state[parameter]
        assert_close(moments["exp_avg"].numpy(), state.m[name], f"m of {name}")
        assert_close(moments["exp_avg_sq"].numpy(), state.v[name], f"v of {name}")
    assert metrics.learning_rate == 0.1 * TRAINING.lr
