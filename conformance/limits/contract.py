"""A contract: for every operation, the formats it computes in and how it rounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import Any, TypeVar

from conformance.unsupported import UnsupportedCalls
from reference.cpu_matrix_unit import FACTORS, UNITS

from .k_order import KOrder, instructions
from .noise import ACCUMULATORS, FLOAT32, FORMATS, Arithmetic, Precision, cutting
from .supports import Condition

NEAREST, TOWARD_ZERO = "nearest", "toward zero"
ROUNDINGS = (NEAREST, TOWARD_ZERO)
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Declaration:
    """What is declared of one operation.  Formats and roundings go by name: FORMATS and ROUNDINGS."""

    inputs: str = FLOAT32.name  # that factors of matrix products are rounded to before they are multiplied
    accumulator: str = FLOAT32.name  # that every partial sum is rounded to, or a matrix unit (ACCUMULATORS)
    output: str = FLOAT32.name  # that results are rounded to before they are stored
    intermediate: str = FLOAT32.name  # that each step of the formula rounds the array to which the next one reads
    rounding: str = NEAREST  # of partial sums
    input_rounding: str = NEAREST  # of the factors
    flush_to_zero: bool = False  # subnormal numbers may be read as zero, and stored as zero
    deterministic: bool = True  # the same call gives the same bits
    supports: str = ""  # a condition on sizes: a call that does not meet it may return ASSAYER_UNSUPPORTED
    k_order: KOrder | None = None  # in which products' sums are formed: then their bits are due
    functions: tuple[tuple[str, float], ...] = ()  # units in the last place that a function may err by, by name

    @property
    def arithmetic(self) -> Arithmetic:
        """The same as the noise numbers count it.  Raises ValueError where a matrix unit has no such inputs."""
        return Arithmetic(
            accumulator=self.sums,
            inputs=_shorter(self.inputs),
            output=_shorter(self.output),
            intermediate=_shorter(self.intermediate),
            truncates=self.rounding == TOWARD_ZERO,
            truncates_inputs=self.input_rounding == TOWARD_ZERO,
            flushes=self.flush_to_zero,
            flushes_products=self.flushes_products,
            functions=self.functions,
            cuts=cutting(self.accumulator, self.inputs),
        )

    @property
    def flushes_products(self) -> bool:
        """Whether the unit that forms sums of products takes subnormal numbers for zero.

        What an operation computes besides keeps them: a softmax between two products, or all of an operation that
        multiplies no matrices.  Raises ValueError where the unit has no such inputs.
        """
        if self.accumulator not in UNITS:
            return False
        own = FACTORS[self.accumulator]
        if self.inputs not in (*own, FLOAT32.name):  # numbers that lie in 16 bits are multiplied as they are
            raise ValueError(f"{self.accumulator}: expected inputs of {' or '.join(own)}, got {self.inputs}")
        return True

    @property
    def sums(self) -> Precision:
        """The format of partial sums; of a matrix unit that of its results, which it cuts."""
        return FORMATS.get(self.accumulator, FLOAT32)

    @property
    def truncates(self) -> bool:
        """Whether sums may be rounded toward zero."""
        return self.rounding == TOWARD_ZERO or self.accumulator in ACCUMULATORS

    def check_order(self, operands: str) -> None:
        """Raise ValueError where no order over k can be: of a product whose factors are stored in a format."""
        if self.k_order is None:
            return
        multiplied = operands if self.inputs == FLOAT32.name else self.inputs
        known = instructions(self.accumulator, multiplied)
        if not known:
            unit = f"a matrix unit that multiplies {multiplied}, an instruction at a time"
            raise ValueError(f"accumulator: expected {unit}, got {self.accumulator}")
        if self.k_order.instruction not in known:
            depths = " or ".join(map(str, known))
            raise ValueError(f"instruction: expected {depths} of {multiplied}, got {self.k_order.instruction}")
        for name, value in (("deterministic", True), ("rounding", NEAREST), ("intermediate", FLOAT32.name)):
            if getattr(self, name) != value:
                raise ValueError(f"{name}: expected {str(value).lower()} beside an order, got {self.said(name)}")

    def __str__(self) -> str:
        """What differs from the header, in words."""
        plain = Declaration()
        names = (one.name for one in fields(self) if getattr(self, one.name) != getattr(plain, one.name))
        return ", ".join(f"{name.replace('_', ' ')} {self.said(name)}" for name in names) or FLOAT32.name

    def said(self, key: str) -> str:
        """What is declared of one key, or of the unit that forms sums, in a word."""
        value = getattr(self, "accumulator" if key == "matrix_unit" else key)
        if key == "functions":
            return _listed(value)
        if key == "supports":
            return value or "every size"
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _shorter(name: str) -> Precision | None:
    """The format, unless it is the one that arrays are stored in: then nothing is rounded."""
    return None if name == FLOAT32.name else FORMATS[name]


def _listed(units: Iterable[tuple[str, float]]) -> str:
    return " and ".join(f"{name} to {count:g} units" for name, count in units) or "as libraries do"


@dataclass(frozen=True)
class Contract:
    """Declarations by operation: the defaults, then what each pattern changes, in order.

    entry_points: what tells which calls a candidate's own functions cannot be told of, where a map stands before them.
    """

    name: str
    defaults: Declaration = Declaration()
    changes: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = field(default=())
    entry_points: UnsupportedCalls | None = None

    def of(self, operation: str) -> Declaration:
        """Return what is declared of an operation."""
        declared = self.defaults
        for pattern, changed in self.changes:
            if fnmatchcase(operation, pattern):
                declared = replace(declared, **dict(changed))
        return declared

    def rounded_inputs(self, operations: Iterable[str]) -> dict[Precision, frozenset[str]]:
        """Return the formats that the factors of products are rounded to, each with its operations."""
        return _by_kind((self.of(operation).arithmetic.inputs, operation) for operation in operations)

    def inexact_functions(self, operations: Iterable[str]) -> dict[tuple[tuple[str, float], ...], frozenset[str]]:
        """Return the units that functions are declared to err by, each with its operations."""
        return _by_kind((self.of(operation).functions or None, operation) for operation in operations)

    def rounded_between(self, operations: Iterable[str]) -> dict[Precision, frozenset[str]]:
        """Return the formats that steps store their results in, each with its operations."""
        return _by_kind((self.of(operation).arithmetic.intermediate, operation) for operation in operations)

    def unsupported(self, operation: str, sizes: Mapping[str, int]) -> str:
        """Return the condition that the sizes of a call do not meet, or nothing where they are supported."""
        condition = self.of(operation).supports
        return "" if not condition or Condition.read(condition).holds(sizes) else condition

    def unsaid(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Say what of a call the candidate cannot be told, or nothing."""
        return self.entry_points.unsaid(operation, arguments) if self.entry_points else ""

    @property
    def is_header(self) -> bool:
        """Whether all operations compute as the header asks, whatever sizes they support."""
        changes = {key for _, changed in self.changes for key, _ in changed}
        return self.defaults == Declaration() and changes <= {"supports"}


def _by_kind(declared: Iterable[tuple[Kind | None, str]]) -> dict[Kind, frozenset[str]]:
    found: dict[Kind, set[str]] = {}
    for kind, operation in declared:
        if kind is not None:
            found.setdefault(kind, set()).add(operation)
    return {kind: frozenset(few) for kind, few in found.items()}


HEADER = Contract(FLOAT32.name)


def changed(pattern: str, values: Mapping[str, Any]) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """One entry of `Contract.changes`."""
    return pattern, tuple(values.items())
