"""One training step in one call: forward, losses, backward, clipping by one norm, update."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reference.arrays import Array
from reference.namespace import Ops

from .errors import refuse
from .kinds.context import copied
from .optimizers import Optimizer, State, check_clip_norm, check_number
from .run import Backward, Forward, Run


@dataclass(frozen=True)
class Stepped:
    """What a step gives.

    parameters: all of them behind the step, running statistics too; state: where the optimiser stands; norm: of all
    gradients together before clipping, (1,), None where nothing clips; backward: its parameters' gradients are clipped.
    """

    forward: Forward
    backward: Backward
    parameters: dict[str, Array]
    state: State
    norm: Array | None

    @property
    def loss(self) -> float:
        """The sum of weight * loss."""
        return self.forward.loss


def train_step(
    run: Run,
    arrays: Mapping[str, Array],
    optimizer: Optimizer,
    state: State | None = None,
    *,
    clip_norm: float | None = None,
    lr: float | None = None,
    seed: int = 0,
    in_place: bool = False,
) -> Stepped:
    """Make one step; arrays: all inputs and parameters; state: what the step before gave, None for the first.

    clip_norm: what the norm of all gradients together is at most, by scaling them; lr: this step's rate, in place of
    the optimiser's. Dropout draws by the seed and the number of steps made. A parameter that no loss depends on stays
    as it is. in_place: a library writes over the parameters and moments given, as it does without copies of them.
    Raises GraphError, before anything is computed, for arrays as `run.forward` does, for numbers out of their bounds,
    and for a state that is not one of these parameters.
    """
    check_clip_norm("train_step", clip_norm)
    rate = optimizer.lr if lr is None else lr
    check_number("train_step: lr", rate)
    run.check(arrays)
    trained = {name: arrays[name] for name in run.checked.trainable}
    state = optimizer.start(trained) if state is None else state
    check_state("train_step", optimizer, state, trained)
    forward = run.forward(arrays, training=True, seed=seed, step=state.step)
    backward = run.backward(forward)
    norm = None if clip_norm is None else _clip(run.ops, backward, clip_norm)
    parameters, moments = dict(forward.parameters) | forward.state, dict(state.moments)
    for name, gradient in backward.parameters.items():
        if gradient is None:
            continue
        held = (parameters[name], *state.moments[name])
        flat = [(array if in_place else copied(run.ops, array)).reshape(-1) for array in held]
        new = optimizer.update(run.ops, flat[0], gradient.reshape(-1), tuple(flat[1:]), state.step + 1, float(rate))
        shape = parameters[name].shape
        parameters[name] = new[0].reshape(shape)
        moments[name] = tuple(moment.reshape(shape) for moment in new[1])
    return Stepped(forward, backward, parameters, State(state.step + 1, moments), norm)


def _clip(ops: Ops, backward: Backward, clip_norm: float) -> Array:
    """Scale all gradients in place of the ones there are, by one factor; returns their norm before."""
    held = {name: gradient for name, gradient in backward.parameters.items() if gradient is not None}
    gradients = [gradient.reshape(-1) for gradient in held.values()]
    if not gradients:
        raise refuse("train_step: clip_norm", "a graph that trains a parameter", "one without")
    norm, factor = ops.clip_scale(ops.multi_sum_squares(gradients), clip_norm=float(clip_norm))
    scaled = ops.multi_scale(gradients, factor)
    backward.parameters.update(
        {name: new.reshape(old.shape) for (name, old), new in zip(held.items(), scaled, strict=True)}
    )
    return norm


def check_state(where: str, optimizer: Optimizer, state: State, trained: Mapping[str, Array]) -> None:
    """Raise GraphError for a state that is not one of these parameters by this optimiser."""
    if state.moments.keys() != trained.keys():
        wrong = min(state.moments.keys() ^ trained.keys())
        what = "none" if wrong in trained else "some of an unknown one"
        raise refuse(f"{where}: state: {wrong}", "moments of every trained parameter and of no other", what)
    for name, moments in state.moments.items():
        shapes = [tuple(moment.shape) for moment in moments]
        due = [tuple(trained[name].shape)] * optimizer.count
        if shapes != due:
            raise refuse(f"{where}: state: {name}", f"moments of the shapes {due}", shapes)
