"""What a header declares, as data: everything else is derived from these records."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .elements import ELEMENTS, Element
from .expressions import Expression

CUDA_ERRORS = {  # those that a call of a library meets
    1: "cudaErrorInvalidValue",
    9: "cudaErrorInvalidConfiguration",
    35: "cudaErrorInsufficientDriver",
    46: "cudaErrorDevicesUnavailable",
    98: "cudaErrorInvalidDeviceFunction",
    100: "cudaErrorNoDevice",
    209: "cudaErrorNoKernelImageForDevice",
    218: "cudaErrorInvalidPtx",
    222: "cudaErrorUnsupportedPtxVersion",
    400: "cudaErrorInvalidResourceHandle",
    401: "cudaErrorIllegalState",
    700: "cudaErrorIllegalAddress",
    701: "cudaErrorLaunchOutOfResources",
    702: "cudaErrorLaunchTimeout",
    710: "cudaErrorAssert",
    715: "cudaErrorIllegalInstruction",
    716: "cudaErrorMisalignedAddress",
    719: "cudaErrorLaunchFailure",
    801: "cudaErrorNotSupported",
    900: "cudaErrorStreamCaptureUnsupported",
    901: "cudaErrorStreamCaptureInvalidated",
}
Direction = Literal["in", "out", "updated", "workspace"]


@dataclass(frozen=True)
class Axis:
    """One entry of SHAPE; `or_zero`: it may be 0, and then the array has no element and is not looked at."""

    size: Expression
    at_least: bool = False
    or_zero: bool = False

    @property
    def text(self) -> str:
        return f"at least {self.size.text}" if self.at_least else self.size.text


@dataclass(frozen=True)
class Strides:
    """How a tensor lies in its storage: element (i_0, i_1, ...) at offset + the sum of i_k * strides[k].

    shape, strides: names of host arrays of whole numbers; `shape` may name more axes than there are strides.
    offset: the name of a number.
    """

    shape: str
    strides: str
    offset: str


@dataclass(frozen=True)
class Parameter:
    """One argument of a declared function.

    `element` is the NumPy name of the type pointed to ("void" for addresses); `stars` how many pointers deep it lies
    (0 scalar, 1 array, 2 a host array of arrays); `const` whether the innermost type is.  `read_if` is the condition
    under which an "updated" array or an optional input is read; `limit` bounds an index array's values: ("WITHIN" or
    "BELOW", n); `strided`: the array is the storage of a tensor that lies there so; `moving`: a number that changes
    from step to step.
    """

    name: str
    element: str
    stars: int
    const: bool
    ctype: str
    direction: Direction = "in"
    shape: tuple[Axis, ...] = ()
    each: tuple[str, str] | None = None
    host: bool = False
    read_if: Expression | None = None
    limit: tuple[Literal["WITHIN", "BELOW"], Expression] | None = None
    strided: Strides | None = None
    moving: bool = False

    @property
    def is_array(self) -> bool:
        return bool(self.shape)

    @property
    def is_list(self) -> bool:
        return self.each is not None

    @property
    def is_optional(self) -> bool:
        """Whether it is an input whose pointer may be null where the condition under which it is read does not hold."""
        return self.direction == "in" and self.read_if is not None

    def is_read(self, sizes: Mapping[str, Any]) -> bool:
        """Whether a call with these sizes and numbers reads the array, where it reads it at all."""
        return self.read_if is None or bool(self.read_if(sizes))

    @property
    def is_scalar(self) -> bool:
        return self.stars == 0

    @property
    def written(self) -> bool:
        return self.direction != "in"

    @property
    def type(self) -> Element:
        return ELEMENTS[self.element]

    @property
    def declaration(self) -> str:
        """The parameter in plain C."""
        return f"{self.ctype} {self.name}"

    @property
    def shape_text(self) -> str:
        return f"({', '.join(axis.text for axis in self.shape)})"


@dataclass(frozen=True)
class Function:
    """One declared function; `family` is the section it stands in, `line` where its declaration begins."""

    symbol: str
    parameters: tuple[Parameter, ...]
    requires: tuple[Expression, ...] = ()
    doc: str = ""
    family: str = ""
    line: int = 0

    @property
    def operation(self) -> str:
        return self.symbol.removeprefix("cuda_")

    @functools.cached_property
    def by_name(self) -> Mapping[str, Parameter]:
        return {parameter.name: parameter for parameter in self.parameters}

    @property
    def types(self) -> tuple[str, ...]:
        """The types of the arguments in C, every pointer a void*: then a call takes any buffer as it is."""
        return tuple(parameter.ctype if parameter.is_scalar else "void*" for parameter in self.parameters)

    @property
    def declaration(self) -> str:
        """The prototype in plain C."""
        return f"int32_t {self.symbol}({', '.join(p.declaration for p in self.parameters) or 'void'});"


@dataclass(frozen=True)
class Constant:
    """A #define of a whole number, with the comment beside it."""

    name: str
    value: int
    comment: str = ""


@dataclass(frozen=True)
class Header:
    """Operations by name (without `cuda_`), services by name (without `assayer_`), constants by name."""

    source: str
    operations: Mapping[str, Function]
    services: Mapping[str, Function]
    constants: Mapping[str, Constant]

    @property
    def declarations(self) -> str:
        """All prototypes in plain C."""
        return "\n".join(f.declaration for f in (*self.operations.values(), *self.services.values()))

    @property
    def version(self) -> int:
        return self.constants["ASSAYER_VERSION"].value

    def meaning(self, code: int) -> str:
        """Return what a return code stands for."""
        if code > 0:
            known = f": CUDA's {CUDA_ERRORS[code]}" if code in CUDA_ERRORS else ""
            return f"an error code of the device's runtime{known}"
        for constant in self.constants.values():
            if constant.value == code and constant.name != "ASSAYER_VERSION":
                return f"{constant.name} ({constant.comment})" if constant.comment else constant.name
        return "a code that the header does not know"
