"""What networks are built of: parameters by name, training or evaluation, and the state as a dict or a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

import reference
from reference.namespace import Ops
from tensors.errors import TensorError, check
from tensors.tape import Variable
from tensors.tensor import Tensor

Array = np.ndarray[Any, Any]


class Module:
    """Attributes that are Variables which require a gradient are parameters, those that are modules its parts.

    Names are those of attributes, joined by dots; members of a list go by their numbers: `layers.0.mlp.gate.weight`.
    Subclasses say `forward`, which calling the module runs.
    """

    def __init__(self) -> None:
        self.training = True

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.forward(*args, **named)

    def forward(self, *args: Any, **named: Any) -> Any:
        raise NotImplementedError

    def children(self) -> Iterator[tuple[str, Module]]:
        """The parts, by name."""
        for name, value in vars(self).items():
            if isinstance(value, Module):
                yield name, value
            elif isinstance(value, list | tuple):
                yield from ((f"{name}.{n}", one) for n, one in enumerate(value) if isinstance(one, Module))

    def modules(self) -> Iterator[Module]:
        """This and all its parts."""
        yield self
        for _, child in self.children():
            yield from child.modules()

    def named_parameters(self) -> Iterator[tuple[str, Variable]]:
        """Every parameter by its name, in the order of definition."""
        for name, value in vars(self).items():
            if isinstance(value, Variable) and value.requires_grad:
                yield name, value
            elif isinstance(value, list | tuple):
                members = ((f"{name}.{n}", one) for n, one in enumerate(value) if isinstance(one, Variable))
                yield from ((number, one) for number, one in members if one.requires_grad)
        for part, child in self.children():
            yield from ((f"{part}.{name}", parameter) for name, parameter in child.named_parameters())

    def parameters(self) -> list[Variable]:
        return [parameter for _, parameter in self.named_parameters()]

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for parameter in self.parameters():
            parameter.zero_grad()

    def train(self, training: bool = True) -> Self:
        """Set this and all parts to training, or to evaluation."""
        for module in self.modules():
            module.training = training
        return self

    def eval(self) -> Self:
        return self.train(False)

    def state_dict(self) -> dict[str, Array]:
        """A copy of every parameter by name."""
        return {name: np.array(parameter.numpy()) for name, parameter in self.named_parameters()}

    def load_state_dict(self, state: Mapping[str, Array]) -> None:
        """Take every parameter from the state; raises TensorError, and changes nothing, where it does not fit."""
        own = dict(self.named_parameters())
        problems = [f"no {name}" for name in own if name not in state]
        problems += [f"{name}, which there is not" for name in state if name not in own]
        for name in own.keys() & state.keys():
            wanted, given = own[name].value, np.asarray(state[name])
            if given.shape != wanted.shape or given.dtype != wanted.dtype:
                problems.append(f"{name} {given.shape} of {given.dtype}, not {wanted.shape} of {wanted.dtype}")
        check(not problems, "load_state_dict", f"{len(own)} parameters by name", "; ".join(sorted(problems)))
        for name, parameter in own.items():
            parameter.value[...] = Tensor(np.asarray(state[name]), parameter.value.ops)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a safetensors file, whole or not at all."""
        target = Path(path)
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as unfinished:
            try:
                unfinished.write(safetensors.numpy.save(self.state_dict()))
                unfinished.flush()
                os.fsync(unfinished.fileno())
                Path(unfinished.name).chmod(_readable())
                Path(unfinished.name).replace(target)
            except BaseException:
                Path(unfinished.name).unlink(missing_ok=True)
                raise

    def load(self, path: str | os.PathLike[str]) -> None:
        """Take the state from a safetensors file; raises TensorError, and changes nothing, where it does not fit."""
        try:
            state = safetensors.numpy.load_file(path)
        except SafetensorError as error:
            raise TensorError(f"load: expected a safetensors file, got {path}: {error}") from None
        self.load_state_dict(state)


def parameter(array: Array, ops: Ops = reference) -> Variable:
    """Return a leaf that requires a gradient, in a storage of its own."""
    return Variable(Tensor(np.array(array, order="C"), ops), requires_grad=True)


def _readable() -> int:
    """The rights that a file made in the usual way has."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
