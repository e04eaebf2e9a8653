"""In which order a matrix product adds over k: where that is declared, bits follow.

    [operations."gemm_tn_bf16"]
    accumulator = "tensor core sm_80"
    k_order = { instruction = 16, promotion_interval = 16, split_k = "(K + 1) / 2" }

The products of one instruction are formed by the unit that the accumulator names, k ascending, and added to one
accumulator, which begins at zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from reference.cpu_matrix_unit import FACTORS, TILE_DEPTH
from reference.tensor_core import matrix_unit

from .noise.cutting import ACCUMULATORS, architecture_of
from .supports import Condition, WholeNumber, read_for

EACH_ROUNDED, ALPHA_FUSED, BETA_FUSED = (
    "alpha * sum + beta * C",
    "fma(alpha, sum, beta * C)",
    "fma(beta, C, alpha * sum)",
)
EPILOGUES = (EACH_ROUNDED, ALPHA_FUSED, BETA_FUSED)
_OF_PROCESSORS = {"amx": TILE_DEPTH, "avx512_bf16": 2}
_SHAPES = {"tf32": (4, 8)}  # k of mma.sync (PTX ISA), by its operands
_OLDER = {70: (4, 16), 75: (8,)}  # m8n8k4 and wmma, m16n8k8
_SIXTEEN_BIT = (8, 16)


class OrderError(ValueError):
    """No order over k; the message says what was expected and what came."""


@dataclass(frozen=True)
class KOrder:
    """How the products of an output element are added.

    instruction         k of one instruction
    promotion_interval  k that is summed from zero before it is added, as float32 is, to nearest; 0: all of it
    split_k             k of a part (a whole number, of sizes): parts are summed apart, then added in their order, as
                        float32 is; none where it divides by zero or is no positive number
    epilogue            what is rounded of alpha and beta
    where               a condition on sizes: of calls that do not meet it the order is not known; none: of every call
    """

    instruction: int
    promotion_interval: int = 0
    split_k: str = ""
    epilogue: str = EACH_ROUNDED
    where: str = ""

    def is_of(self, sizes: Mapping[str, int]) -> bool:
        """Whether the order is that of a call with these sizes."""
        return not self.where or Condition.read(self.where).holds(sizes)

    def part(self, sizes: Mapping[str, int], k: int) -> int:
        """Return how much of k one part has."""
        part = WholeNumber.read(self.split_k).value(sizes) if self.split_k else 0
        return part if 0 < part < k else max(k, 1)

    def __str__(self) -> str:
        """The table as it is declared."""
        given = ((one.name, getattr(self, one.name)) for one in fields(self) if getattr(self, one.name) != one.default)
        return ", ".join(f"{name} = {value}" for name, value in given)


_KEYS = tuple(field.name for field in fields(KOrder))


def read_order(given: Any, sizes_of: Mapping[str, Sequence[str]]) -> KOrder:
    """Read a table.  sizes_of: the operations that it is declared of, with their sizes.  Raises OrderError."""
    if not isinstance(given, dict):
        raise OrderError(f"expected a table such as {{ instruction = 16 }}, got {given!r}")
    for key in given:
        if key not in _KEYS:
            raise OrderError(f"{key}: expected one of {', '.join(_KEYS)}")
    if "instruction" not in given:
        raise OrderError(f"instruction: expected the k of one instruction, got {', '.join(given) or 'an empty table'}")
    for key in ("instruction", "promotion_interval"):
        value = given.get(key, 1)
        if type(value) is not int or value < 1:
            raise OrderError(f"{key}: expected a positive whole number, got {value!r}")
    if (epilogue := given.get("epilogue", EACH_ROUNDED)) not in EPILOGUES:
        raise OrderError(f"epilogue: expected one of {'; '.join(EPILOGUES)}; got {epilogue!r}")
    step = given["instruction"]
    if (interval := given.get("promotion_interval", 0)) % step:
        raise OrderError(f"promotion_interval: expected whole instructions of {step}, got {interval}")
    split_k, where = _split(given.get("split_k", ""), step, sizes_of), _where(given.get("where", ""), sizes_of)
    return KOrder(step, interval, split_k, epilogue, where)


def _split(given: Any, step: int, sizes_of: Mapping[str, Sequence[str]]) -> str:
    if type(given) is int and (given < 1 or given % step):
        raise OrderError(f"split_k: expected whole instructions of {step}, got {given}")
    if type(given) not in (int, str):
        raise OrderError(f"split_k: expected the k of a part, a whole number of sizes, got {given!r}")
    if given == "":
        return ""
    return _of_sizes("split_k", WholeNumber, str(given), sizes_of)


def _where(given: Any, sizes_of: Mapping[str, Sequence[str]]) -> str:
    if not isinstance(given, str):
        raise OrderError(f"where: expected a condition on sizes, got {given!r}")
    return _of_sizes("where", Condition, given, sizes_of) if given else ""


def _of_sizes(
    key: str, kind: type[Condition] | type[WholeNumber], text: str, sizes_of: Mapping[str, Sequence[str]]
) -> str:
    try:
        return read_for(kind, text, sizes_of)
    except ValueError as error:
        raise OrderError(f"{key}: {error}") from None


def instructions(accumulator: str, operands: str) -> tuple[int, ...]:
    """Return what k the instructions of a unit have for operands of a format; none where it does not multiply them."""
    if accumulator in _OF_PROCESSORS:
        return (_OF_PROCESSORS[accumulator],) if operands in FACTORS[accumulator] else ()
    if accumulator not in ACCUMULATORS or accumulator.endswith("fp8"):  # no array of the header's holds fp8
        return ()
    architecture = architecture_of(accumulator)
    try:
        matrix_unit(architecture, operands)
    except ValueError:
        return ()
    return _OLDER.get(architecture) or _SHAPES.get(operands, _SIXTEEN_BIT)
