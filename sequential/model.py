"""A model of layers one behind the other: built, compiled, its state handed out and taken back."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import reference
from graph import Graph, Run, check
from graph.optimizers import check_clip_norm
from reference import random
from reference.namespace import Ops

from . import saved, summary
from .batches import whole
from .blueprint import INPUT, LABEL, LOSS, Blueprint, blueprint
from .initial import initial
from .layers import Layer, Shape
from .losses import Loss, loss_of
from .metrics import metric_of
from .optimizers import optimizer_of
from .parts import Array, Compiled, Parts

DTYPES = ("float32", "float64")
_RUNS = 16  # graphs that are kept, one for each size of batch


class Model:
    """All of `Sequential` but training: layers, parameters, configuration."""

    def __init__(
        self,
        layers: Sequence[Layer] = (),
        *,
        input_shape: Shape | None = None,
        ops: Ops = reference,
        seed: int = 0,
        dtype: Any = "float32",
    ) -> None:
        """layers: in order; input_shape: of one sample, else that of the first samples that come.

        ops: what operations are carried out by, the reference or a library of `bindings`; seed: of parameters, shuffles
        and dropout; dtype: of parameters, float32 or, on the reference, float64.  Raises TypeError, ValueError.
        """
        if np.dtype(dtype).name not in DTYPES:
            raise ValueError(f"Sequential: dtype: expected {' or '.join(DTYPES)}, got {np.dtype(dtype).name}")
        self._parts = Parts([], ops, operator.index(seed), np.dtype(dtype))
        for layer in layers:
            self.add(layer)
        if input_shape is not None:
            self.build(input_shape)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers, in order."""
        return tuple(self._parts.layers)

    def add(self, layer: Layer) -> None:
        """Put a layer behind the others.  Raises TypeError for what is none, RuntimeError for a model that is built."""
        if not isinstance(layer, Layer):
            raise TypeError(f"Sequential: expected layers, got {type(layer).__name__}")
        if self._parts.built is not None:
            raise RuntimeError("Sequential.add: expected a model that is not built yet")
        self._parts.layers.append(layer)

    def build(self, input_shape: Shape) -> None:
        """Give every parameter its first values, for samples of this shape, which is without the batch (Keras' has it).

        Raises RuntimeError for a model that is built or has no layers, ValueError that names the layer that the shape
        does not fit.
        """
        if (built := self._parts.built) is not None:
            raise RuntimeError(f"Sequential.build: the model is built, for samples of {built.shapes[0]}")
        self._install(self._planned(input_shape))

    def compile(
        self, optimizer: Any, loss: Any, metrics: Sequence[str] = (), *, clip_norm: float | None = None
    ) -> None:
        """Say what training is by; it then starts anew, from the parameters as they are.

        optimizer: a name or one of `graph.optimizers`; loss: a name or one of `sequential.losses`; metrics: names;
        clip_norm: the largest norm of all gradients together (Keras: global_clipnorm).  Raises ValueError.
        """
        of_loss = loss_of(loss)
        if not isinstance(metrics, list | tuple) or not all(isinstance(name, str) for name in metrics):
            raise ValueError(f"compile: metrics: expected a list of names, got {metrics!r}")
        check_clip_norm("compile", clip_norm)
        compiled = Compiled(optimizer_of(optimizer), of_loss, {m: metric_of(m, of_loss) for m in metrics}, clip_norm)
        if self._parts.built:
            _graph(self._parts.built, of_loss)
        self._parts.compiled = compiled
        self._parts.runs = {}

    def graph(self) -> Graph:
        """The records of the model, with the loss where it is compiled.  Raises RuntimeError before it is built."""
        loss = self._parts.compiled.loss if self._parts.compiled else None
        return _graph(self._built("graph"), loss)

    def run(self, batch: int, *, loss: bool = False) -> Run:
        """The model's graph, checked for a size of batch, with the loss or without.  Raises RuntimeError."""
        parts, built = self._parts, self._built("run")
        of_loss = self._compiled("run").loss if loss else None
        key = (batch, of_loss)
        if key not in parts.runs:
            while len(parts.runs) >= _RUNS:
                del parts.runs[next(iter(parts.runs))]
            shapes = {INPUT: (batch, *built.shapes[0])} | {name: w.shape for name, w in built.parameters.items()}
            if of_loss:
                shapes[LABEL] = (batch, *of_loss.label_shape(built.shapes[-1]))
            parts.runs[key] = Run(check(_graph(built, of_loss), shapes), parts.ops)
        return parts.runs[key]

    def state_dict(self) -> dict[str, Array]:
        """Every parameter, running statistics too, as copies: by names like dense.weight.  Raises RuntimeError."""
        self._built("state_dict")
        return {name: np.array(array) for name, array in self._parts.parameters.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take parameters of these names and shapes; where one does not fit, none is taken.

        Raises RuntimeError before the model is built, KeyError for names, ValueError for shapes and numbers.
        """
        self._built("load_state_dict")
        self._parts.parameters = saved.checked(state, self._parts.parameters)

    def summary(self) -> None:
        """Print a table of the layers: output shapes, and how many numbers the parameters of each are."""
        summary.show(self._built("summary"), self.layers)

    def save(self, path: Path | str) -> None:
        """Write the model to a safetensors file: parameters, layers, and where training stands.

        A file that is there is replaced when the new one is whole.  Raises RuntimeError, OSError, ValueError for layers
        and optimisers of one's own, which `load` would not know.
        """
        self._built("save")
        saved.save_model(Path(path), self._parts)

    def _planned(self, input_shape: Shape) -> Blueprint:
        """What is built, or would be for samples of this shape."""
        parts = self._parts
        if parts.built is not None:
            return parts.built
        if not parts.layers:
            raise RuntimeError("Sequential.build: expected a layer, got none")
        if not isinstance(input_shape, list | tuple):
            raise ValueError(f"Sequential.build: input_shape: expected lengths of a sample's axes, got {input_shape!r}")
        planned = blueprint(parts.layers, tuple(whole("Sequential.build", "input_shape", n, 1) for n in input_shape))
        if parts.compiled:
            _graph(planned, parts.compiled.loss)
        return planned

    def _install(self, planned: Blueprint) -> None:
        """Give parameters their first values; nothing where that is done."""
        parts = self._parts
        if parts.built is not None:
            return
        for name, weight in planned.parameters.items():
            array = initial(weight.initializer, random.stream("initial", parts.seed, name), weight.shape)
            parts.parameters[name] = np.ascontiguousarray(array, parts.dtype)
        parts.built = planned

    def _built(self, where: str) -> Blueprint:
        if self._parts.built is None:
            how = "give input_shape, or call build or fit before"
            raise RuntimeError(f"Sequential.{where}: expected a built model: {how}")
        return self._parts.built

    def _compiled(self, where: str) -> Compiled:
        if self._parts.compiled is None:
            raise RuntimeError(f"Sequential.{where}: expected a compiled model: call compile before")
        return self._parts.compiled


def _graph(built: Blueprint, loss: Loss | None) -> Graph:
    """The records; a loss reads what the last of them writes, or what that reads."""
    records = list(built.records)
    if loss is not None:
        records.append(loss.record(built.names[-1], records[-1], LABEL, LOSS))
    return Graph.read(records)
