"""One parameter of a framework's function, as a map has it: its type in C, and what it is given.

"float* output"    "int* output_shape"    "int64_t* a_strides"    "int input_size - input_offset"    "double start"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from conformance.kernels import MapError

from .asked import NUMBERS, OF_OPERANDS, OPERANDS, Asked

# Whole numbers, by their type in C: the least and the largest that it holds.
_INT32, _INT64 = (-(2**31), 2**31 - 1), (-(2**63), 2**63 - 1)
_UINT32, _UINT64 = (0, 2**32 - 1), (0, 2**64 - 1)
WHOLE: Mapping[str, tuple[int, int]] = {
    "int": _INT32,
    "int32_t": _INT32,
    "long": _INT64,
    "long long": _INT64,
    "int64_t": _INT64,
    "ssize_t": _INT64,
    "ptrdiff_t": _INT64,
    "unsigned": _UINT32,
    "uint32_t": _UINT32,
    "size_t": _UINT64,
    "uint64_t": _UINT64,
}
LARGEST = _INT64[1]  # that the header knows
FLOATS = ("float", "double")
_TYPES = (*WHOLE, *FLOATS, "void")
STORAGE, ENTRIES, NUMBER, START, STREAM = "storage", "entries", "number", "start", "stream"
_FACTORS = 2  # of a product: of 64 bits each, it fits in 128
_SPELLED = re.compile(r"(?:const\s+)?([a-z][a-z0-9_]*(?:\s+long)?)\s*(\*?)\s*(?:const\s+)?(?<![a-z0-9_])(\S.*)")


@dataclass(frozen=True)
class Parameter:
    """type: in C, without its star.  kind: STORAGE ... STREAM.  text: what it is given; words: the names in that."""

    type: str
    kind: str
    text: str
    words: tuple[str, ...]

    @property
    def declared(self) -> str:
        """The type as the function's declaration has it."""
        return self.type if self.kind in (NUMBER, START) else f"{self.type}*"

    def unheld(self, call: Asked) -> str:
        """Say which number of a call the type does not hold; nothing where it holds all."""
        if self.kind not in (ENTRIES, NUMBER):
            return ""
        least, most = WHOLE[self.type]
        given = entries(self.text, call) if self.kind == ENTRIES else (value(self.text, call),)
        return next((f"{self.text} of {n} in {self.type}" for n in given if not least <= n <= most), "")


def read_parameter(where: str, operation: str, text: object) -> Parameter:
    """Read one entry of a map's `arguments`.  Raises MapError."""
    found = _SPELLED.fullmatch(text.strip()) if isinstance(text, str) else None
    if not found or " ".join(found[1].split()) not in _TYPES:
        types = f"a type of C ({', '.join(_TYPES)}), then what it is given"
        raise MapError(f'{where}: expected {types}, such as "int* output_shape", got {text!r}')
    kind_of_number, star, given = " ".join(found[1].split()), bool(found[2]), " ".join(found[3].split())
    if star:
        return _array(where, operation, kind_of_number, given)
    if given == "start" and operation == "reduce_strided":
        if kind_of_number not in FLOATS:
            raise MapError(f"{where}: expected float or double for start, got {kind_of_number}")
        return Parameter(kind_of_number, START, given, (given,))
    if kind_of_number not in WHOLE:
        raise MapError(f"{where}: expected a type of whole numbers ({', '.join(WHOLE)}) for {given}, got {text!r}")
    return Parameter(kind_of_number, NUMBER, given, _number(where, operation, given))


def _array(where: str, operation: str, type_: str, given: str) -> Parameter:
    operands = OPERANDS[operation]
    storage = re.fullmatch(r"(\w+)(?: \+ (\w+)_offset)?", given)
    if type_ == "void" and given == STREAM:
        return Parameter(type_, STREAM, given, ())
    if storage and storage[1] in operands and storage[2] in (None, storage[1]):
        if type_ != "float":
            raise MapError(f"{where}: expected float* for {given}, got {type_}*")
        return Parameter(type_, STORAGE, given, (storage[1], *([f"{storage[1]}_offset"] if storage[2] else [])))
    layouts = tuple(f"{operand}_{what}" for operand in operands for what in ("shape", "strides"))
    if given not in layouts or type_ not in WHOLE:
        known = (*operands, *(f"{operand} + {operand}_offset" for operand in operands), *layouts)
        raise _unknown(where, known, f"{type_}* {given}", given)
    return Parameter(type_, ENTRIES, given, (given,))


def _number(where: str, operation: str, text: str) -> tuple[str, ...]:
    """The names in an expression: numbers and names, added, subtracted or multiplied."""
    named = tuple(f"{operand}_{what}" for operand in OPERANDS[operation] for what in OF_OPERANDS)
    known = (*NUMBERS[operation], *named)
    terms = re.split(r"[+-]", text)
    factors = [[factor.strip() for factor in term.split("*")] for term in terms]
    if any(len(each) > _FACTORS for each in factors):
        raise MapError(f"{where}: expected products of at most {_FACTORS}, got {text!r}")
    found = []
    for factor in (factor for each in factors for factor in each):
        if re.fullmatch(r"0|[1-9][0-9]{0,17}", factor):
            continue
        if factor not in known:
            raise _unknown(where, known, text, factor)
        found.append(factor)
    return tuple(found)


def _unknown(where: str, known: tuple[str, ...], text: str, word: str) -> MapError:
    near = get_close_matches(word, known, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return MapError(f"{where}: expected one of {', '.join(known)}, got {text!r}{hint}")


def value(text: str, call: Asked) -> int:
    """Return what an expression comes to in a call."""
    total = 0
    for sign, term in re.findall(r"([+-]?)([^+-]+)", text):
        product = 1
        for factor in term.split("*"):
            word = factor.strip()
            product *= int(word) if word.isdigit() else call.number(word)
        total += -product if sign == "-" else product
    return total


def entries(text: str, call: Asked) -> tuple[int, ...]:
    """Return the entries of a shape or of strides in a call."""
    operand, _, what = text.rpartition("_")
    each = call.operands[operand]
    return each.lengths if what == "shape" else each.strides
