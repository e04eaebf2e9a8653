"""What every kind of record is: its declaration, the shapes it makes, its forward and its backward."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from graph.attributes import Attribute
from graph.errors import refuse
from graph.records import Record
from reference.arrays import Array
from reference.namespace import Ops

from .context import Context

Shape: TypeAlias = tuple[int, ...]
Shapes: TypeAlias = Sequence[Shape]
Open: TypeAlias = tuple[int | None, ...]  # a shape with lengths that only a given array tells
Arrays: TypeAlias = Sequence[Array]
Saved: TypeAlias = tuple[Any, ...]
Result: TypeAlias = tuple[Array, Saved]
Gradients: TypeAlias = tuple[tuple[Array | None, ...], tuple[Array | None, ...]]  # of inputs, of parameters


@dataclass(frozen=True)
class Names:
    """The names of what a record reads, in order: those it must have, then those it may have, all or none."""

    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()

    def fits(self, count: int) -> bool:
        return count in (len(self.needed), len(self.needed) + len(self.optional))

    def of(self, count: int) -> tuple[str, ...]:
        return (self.needed + self.optional)[:count]

    def __str__(self) -> str:
        needed = ", ".join(self.needed) or "none"
        return f"{needed}[, {', '.join(self.optional)}]" if self.optional else needed


class Kind(ABC):
    """A kind of record.

    `forward` and `backward` are written against a namespace of operations and run unchanged on float64, float32, the
    judge's noise numbers and libraries: only operations, and reshapes of their arrays.
    """

    name: ClassVar[str]
    attributes: ClassVar[tuple[Attribute, ...]] = ()
    is_loss: ClassVar[bool] = False
    integers: ClassVar[frozenset[str]] = frozenset()  # inputs that hold int32
    without_gradient: ClassVar[frozenset[str]] = frozenset()  # inputs that have none: labels, indices
    state: ClassVar[frozenset[str]] = frozenset()  # parameters that training updates by itself: running statistics

    def complete(self, where: str, attributes: dict[str, Any]) -> dict[str, Any]:
        """Fill in defaults that depend on other attributes, and check what concerns several. Raises GraphError."""
        return attributes

    def input_names(self, record: Record) -> Names:
        return Names(("input",))

    def parameter_names(self, record: Record) -> Names:
        return Names(())

    def check_counts(self, where: str, record: Record) -> None:
        """Raise GraphError unless the record has as many inputs and parameters as its kind takes."""
        for what, names, given in (
            ("inputs", self.input_names(record), record.inputs),
            ("parameters", self.parameter_names(record), record.parameters),
        ):
            if not names.fits(len(given)):
                raise refuse(f"{where}: {what}", str(names), f"{len(given)} ({', '.join(given) or 'none'})")

    def integer_inputs(self, record: Record) -> tuple[str, ...]:
        """The values read that hold int32."""
        names = self.input_names(record).of(len(record.inputs))
        return tuple(v for v, name in zip(record.inputs, names, strict=True) if self.holds_integers(record, name))

    def holds_integers(self, record: Record, name: str) -> bool:
        return name in self.integers

    def state_parameters(self, record: Record, state: bool = True) -> tuple[str, ...]:
        """The parameters that have no gradient, as training updates them by itself; or those that have one."""
        names = self.parameter_names(record).of(len(record.parameters))
        held = zip(record.parameters, names, strict=True)
        return tuple(parameter for parameter, name in held if (name in self.state) == state)

    def differentiable(self, record: Record) -> tuple[str, ...]:
        """The values read that have a gradient."""
        names = self.input_names(record).of(len(record.inputs))
        held = zip(record.inputs, names, strict=True)
        return tuple(v for v, name in held if name not in self.without_gradient)

    def parameter_shapes(self, where: str, record: Record, inputs: Shapes) -> tuple[Open, ...]:
        """What shapes the parameters must have; None where neither attributes nor inputs tell a length."""
        return ()

    def check_training(self, where: str, record: Record, inputs: Shapes) -> None:  # noqa: B027  (most have none)
        """Raise GraphError for shapes that a record can be evaluated on, but not trained."""

    @abstractmethod
    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        """Return the output's shape; the parameters' are those that parameter_shapes allows. Raises GraphError."""

    @abstractmethod
    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        """Return the output, and what backward needs beside it."""

    @abstractmethod
    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        """Return the gradients of the inputs and those of the parameters, None where there is none.

        output and saved: what forward gave. A loss has no d_output; its gradients are those of weight * loss.
        """


def of_rank(where: str, name: str, shape: Shape, axes: str) -> Shape:
    """Return a shape that has as many axes as are named. Raises GraphError for another."""
    if len(shape) != axes.count(",") + 1:
        raise refuse(f"{where}: {name}", f"shape ({axes})", shape)
    return shape


def same(where: str, name: str, shape: Shape, expected: Shape, whose: str) -> None:
    """Raise GraphError unless a shape is the expected one."""
    if shape != expected:
        raise refuse(f"{where}: {name}", f"the shape of {whose}, {expected}", shape)


def rows_of(array: Array) -> Array:
    """An array as rows of its last axis."""
    return array.reshape(-1, array.shape[-1])


def flat(array: Array) -> Array:
    return array.reshape(-1)
