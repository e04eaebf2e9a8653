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
        if not self._saved:
            return ()
        for number, tensor in enumerate(self._saved):
            if tensor.storage.version != self._versions[number]:
                raise TapeError(f"expected a saved tensor of shape {tensor.shape} as it was, got one written since")
        return self._saved

    if TYPE_CHECKING:  # of other names: whatever forward has left

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...


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


_NUMBERS = itertools.count()


class Leaf:
    """Where gradients are gathered."""

    __slots__ = ("grad",)

    def __init__(self) -> None:
        self.grad: Tensor | None = None


class Node:
    """One call on the tape; its number is larger than those of the calls that its inputs came from."""

    __slots__ = ("context", "function", "inputs", "number", "shapes")

    def __init__(
        self,
        function: type[Function],
        context: Context,
        inputs: Sequence[Node | Leaf | None],
        shapes: Sequence[Shape],
    ) -> None:
        self.function, self.inputs, self.shapes = function, inputs, shapes
        self.context: Context | None = context
        self.number = next(_NUMBERS)

    def free(self) -> None:
        """Let go of what was saved, and of what the inputs came from."""
        self.context, self.inputs = None, ()

    def gradients(self, gradient: Tensor) -> Gradients:
        """Call backward.  Raises TapeError for another number of gradients, or other shapes, than its inputs have."""
        function, shapes, version = self.function, self.shapes, gradient.storage.version
        assert self.context is not None  # backward looks first
        found = function.backward(self.context, gradient)
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
        return TapeError(f"{self.function.__name__}.backward: {what}")
