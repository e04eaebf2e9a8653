"""What the tape holds: functions, what each call saved, and from where its inputs came."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tensors.errors import TapeError
from tensors.layout import Shape
from tensors.tensor import Tensor

Gradients = tuple[Tensor | None, ...]


class Context(SimpleNamespace):
    """What forward leaves for backward: tensors by `save`, anything else as attributes of its own."""

    def __init__(self, needs: tuple[bool, ...]) -> None:
        super().__init__()
        self.needs = needs  # for each input, whether its gradient is asked for
        self._saved: tuple[tuple[Tensor, int], ...] = ()

    def save(self, *tensors: Tensor) -> None:
        self._saved = tuple((tensor, tensor.storage.version) for tensor in tensors)

    @property
    def saved(self) -> tuple[Tensor, ...]:
        """What was saved; raises TapeError where a storage was written since."""
        for tensor, version in self._saved:
            if tensor.storage.version != version:
                raise TapeError(f"expected a saved tensor of shape {tensor.shape} as it was, got one written since")
        return tuple(tensor for tensor, _ in self._saved)


class Function:
    """A differentiable function of tensors; subclasses say both ways, and `apply` calls them.

    backward returns a gradient of its input's shape for each input, or None where that is 0 or not asked for
    (context.needs). It may return the gradient that it is given, and views of it, but writes nothing into it.
    """

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        raise NotImplementedError

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        raise NotImplementedError


class Leaf:
    """Where gradients are gathered."""

    __slots__ = ("grad",)

    def __init__(self) -> None:
        self.grad: Tensor | None = None


class Node:
    """One call on the tape."""

    __slots__ = ("context", "function", "inputs", "shapes")

    def __init__(
        self,
        function: type[Function],
        context: Context,
        inputs: tuple[Node | Leaf | None, ...],
        shapes: tuple[Shape, ...],
    ) -> None:
        self.function, self.shapes, self.inputs = function, shapes, inputs
        self.context: Context | None = context

    def free(self) -> None:
        """Let go of what was saved, and of what the inputs came from."""
        self.context, self.inputs = None, ()

    def gradients(self, gradient: Tensor) -> Gradients:
        """Call backward.  Raises TapeError for another number of gradients, or other shapes, than its inputs have."""
        name, version = self.function.__name__, gradient.storage.version
        assert self.context is not None  # backward looks first
        found = self.function.backward(self.context, gradient)
        if not isinstance(found, tuple) or len(found) != len(self.inputs):
            count = len(found) if isinstance(found, tuple) else type(found).__name__
            raise TapeError(f"{name}.backward: expected a tuple of {len(self.inputs)} gradients, got {count}")
        for number, (one, shape) in enumerate(zip(found, self.shapes, strict=True)):
            if one is not None and one.shape != shape:
                raise TapeError(f"{name}.backward: gradient {number}: expected shape {shape}, got {one.shape}")
        if gradient.storage.version != version:
            raise TapeError(f"{name}.backward: expected the gradient that it is given as it was, got it written")
        return found
