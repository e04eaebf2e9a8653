"""What the tape holds: functions, what each call saved, and from where its inputs came."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensors.errors import TapeError
from tensors.layout import Shape
from tensors.tensor import Tensor

from .parts import Part

Gradients = tuple[Tensor | Part | None, ...]


class Context:
    """What forward leaves for backward: tensors by `save`, anything else as attributes of its own."""

    _saved: tuple[Tensor, ...] = ()
    _versions: Sequence[int] = ()

    def __init__(self, needs: tuple[bool, ...]) -> None:
        self.needs = needs  # for each input, whether its gradient is asked for

    def save(self, *tensors: Tensor) -> None:
        self._saved, self._versions = tensors, [tensor.storage.version for tensor in tensors]

    @property
    def saved(self) -> tuple[Tensor, ...]:
        """What was saved; raises TapeError where a storage was written since."""
        for tensor, version in zip(self._saved, self._versions, strict=True):
            unwritten(tensor, version)
        return self._saved

    if TYPE_CHECKING:  # of other names: whatever forward has left

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...


def unwritten(tensor: Tensor, version: int) -> Tensor:
    """Return a saved tensor; raises TapeError where its storage was written since it had this version."""
    if tensor.storage.version != version:
        raise TapeError(f"expected a saved tensor of shape {tensor.shape} as it was, got one written since")
    return tensor


class Function:
    """A differentiable function of tensors; subclasses say both ways, and `apply` calls them.

    backward returns a gradient of its input's shape for each input, or None where that is 0 or not asked for
    (context.needs); a Part says one that is 0 but where a view lies. It may return the gradient that it is given, and
    views of it, but writes nothing into it.
    """

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        raise NotImplementedError

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        raise NotImplementedError


next_number = itertools.count().__next__


class Leaf:
    """Where gradients are gathered."""

    __slots__ = ("grad",)

    def __init__(self) -> None:
        self.grad: Tensor | None = None


class Node:
    """One call on the tape; its number is larger than those of the calls that its inputs came from.

    Subclasses hold what is needed for the gradients: those of single functions in slots, as a step has many.
    """

    __slots__ = ("inputs", "number")
    inputs: Origins | None  # None once it is freed

    def __init__(self, inputs: Origins) -> None:
        self.inputs, self.number = inputs, next_number()

    @property
    def name(self) -> str:
        """What was called."""
        return type(self).__name__

    def freed(self) -> TapeError:
        """What is wrong where this is to be used again."""
        what = f"expected a graph that is not used yet, got one freed at {self.name}: retain_graph"
        return TapeError(f"backward: {what}")

    def free(self) -> None:
        """Let go of what was saved, and of what the inputs came from."""
        self.inputs = None

    def gradients(self, gradient: Tensor) -> Gradients:
        """Return each input's gradient, of its shape; None where there is none, or none is asked for."""
        raise NotImplementedError


Origins = tuple[Node | Leaf | None, ...]


class Call(Node):
    """A call of a Function."""

    __slots__ = ("_context", "_function", "_shapes")

    def __init__(self, inputs: Origins, function: type[Function], context: Context, shapes: Sequence[Shape]) -> None:
        super().__init__(inputs)
        self._function, self._shapes = function, shapes
        self._context: Context | None = context

    @property
    def name(self) -> str:
        return self._function.__name__

    def free(self) -> None:
        self.inputs = self._context = None

    def gradients(self, gradient: Tensor) -> Gradients:
        """Call backward.  Raises TapeError for another number of gradients, or other shapes, than its inputs have."""
        function, shapes, version = self._function, self._shapes, gradient.storage.version
        assert self._context is not None  # backward looks first
        found = function.backward(self._context, gradient)
        if not isinstance(found, tuple) or len(found) != len(shapes):
            count = len(found) if isinstance(found, tuple) else type(found).__name__
            raise self._wrong(f"expected a tuple of {len(shapes)} gradients, got {count}")
        for number, one in enumerate(found):
            if one is not None and one._layout.shape != shapes[number]:
                raise self._wrong(f"gradient {number}: expected shape {shapes[number]}, got {one.shape}")
        if gradient.storage.version != version:
            raise self._wrong("expected the gradient that it is given as it was, got it written")
        return found

    def _wrong(self, what: str) -> TapeError:
        return TapeError(f"{self.name}.backward: {what}")
