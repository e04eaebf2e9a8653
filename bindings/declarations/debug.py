"""Debug information (DWARF): what the compiler itself noted of each function, in a library of any language.

Machine code does not tell in which order whole numbers and floats were declared: they travel in registers of their own.
What `-g` adds does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bindings.errors import LibraryError
from bindings.shared_object.symbols import describe_file

from .by_address import is_by_address, is_descriptor, is_fortran
from .entries import DEEPEST, name_of, number_of, origin_of, type_of, unnamed
from .model import OURS, Argument, Declaration, Type

_FLOAT, _CHARACTERS, _UNSIGNED = 4, (6, 8), (7, 8)  # DW_ATE_float, signed_char and unsigned_char, unsigned
_ROOMS = ("DW_TAG_namespace", "DW_TAG_module")
_HALVES = {"assayer_fp16": "float16", "assayer_bf16": "bfloat16", "_Float16": "float16", "__bf16": "bfloat16"}
_MEMBERS = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")
_NOTHING, _ADDRESS = Type("void"), Type("void", 1)
_POINTERS = ("DW_TAG_pointer_type", "DW_TAG_reference_type")
_ARRAY = "DW_TAG_array_type"
_VALUE = "Fortran takes the address of what has no attribute `value`"
_DESCRIPTOR = "an array without bounds comes as a descriptor: declare it `(*)`, or by its sizes"
_NOT_THEIRS = "/rustc/"  # what Rust's own library was compiled from: it fills most of a library of Rust


def read_debug(path: Path) -> list[Declaration]:
    """Return the header's functions as a library's debug information declares them.

    Whether an array is const is not told: it changes no call.  Raises LibraryError where the file is no library, and
    ValueError where it has no such information, or none that can be read.
    """
    from elftools.elf.elffile import ELFFile  # here: few libraries carry it

    if problem := describe_file(path):
        raise LibraryError(f"{path}: {problem}")
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            units = elf.get_dwarf_info().iter_CUs() if elf.has_dwarf_info() else ()
            found = [declaration for unit in units for declaration in _of_unit(unit)]
    except Exception as error:  # it comes from anywhere, and its reader says in many ways that it is damaged
        raise ValueError(f"its debug information cannot be read: {error!r}") from error
    if not found:
        raise ValueError("expected debug information of the header's functions, found none: compile with -g")
    return found


def _of_unit(unit: Any) -> Iterator[Declaration]:
    top = unit.get_top_DIE()
    if top.tag != "DW_TAG_compile_unit" or name_of(top).startswith(_NOT_THEIRS):
        return
    for entry in _subprograms(top):
        name = name_of(entry)
        if OURS.fullmatch(name) and (found := _declaration(name, entry)):
            yield found


def _subprograms(entry: Any) -> Iterator[Any]:
    """Functions that are defined and seen from outside, also inside of namespaces."""
    for child in entry.iter_children():
        if child.tag in _ROOMS:
            yield from _subprograms(child)
        elif child.tag == "DW_TAG_subprogram" and _is_definition(child):
            yield child


def _is_definition(entry: Any) -> bool:
    """Whether it is a function with its code: where its arguments lie stands there, not where it is declared."""
    told = entry.attributes.keys()
    has_code = bool({"DW_AT_low_pc", "DW_AT_ranges"} & told) or not is_fortran(entry)
    return has_code and "DW_AT_declaration" not in told and "DW_AT_external" in origin_of(entry).attributes


def _declaration(symbol: str, entry: Any) -> Declaration | None:
    """None where no types are noted, as with -g1."""
    given = [child for child in entry.iter_children() if child.tag == "DW_TAG_formal_parameter"]
    if not given and "DW_AT_type" not in origin_of(entry).attributes:
        return None
    result = Argument(_type(type_of(origin_of(entry)), DEEPEST), "")
    return Declaration(symbol, tuple(map(_argument, given)), result, number_of(entry, "DW_AT_decl_line", 0))


def _argument(entry: Any) -> Argument:
    """One argument; gfortran notes no type of a c_ptr, and an array's where the address of one is passed."""
    given, name, note = type_of(origin_of(entry)), name_of(entry), ""
    type, by_address = _type(given, DEEPEST), is_by_address(entry)
    if type == _NOTHING:
        type = _ADDRESS
    elif given is not None and is_descriptor(given):
        type, note = Type("descriptor", 1), _DESCRIPTOR
        name = name.removeprefix("_")  # gfortran's own name of it
    elif by_address and type.element in _MEMBERS:
        type = _ADDRESS
    elif given is not None and unnamed(given).tag == _ARRAY:
        type = Type(type.element, type.stars + 1)
    elif by_address:
        type, note = Type(type.element, type.stars + 1), _VALUE * is_fortran(entry)
    return Argument(type, f"{type.element}{'*' * type.stars}{' ' * bool(name)}{name}", name, note)


def _type(entry: Any, deepest: int) -> Type:
    """Read a type; one that is made of a single member is passed as that member is."""
    if entry is None or name_of(entry) == "c_void":  # Rust's is an enumeration
        return _NOTHING
    if deepest == 0:
        raise ValueError("types lead round in a circle")
    inner = type_of(entry)
    if entry.tag in _POINTERS:
        to = _type(inner, deepest - 1)
        # A pointer to what has members is one to anything: a stream, or a vector of numbers.
        return _ADDRESS if to.element in _MEMBERS else Type(to.element, to.stars + 1)
    if entry.tag == "DW_TAG_typedef" and name_of(entry) in _HALVES:
        return Type(_HALVES[name_of(entry)])
    if entry.tag == "DW_TAG_base_type":
        return Type(_element(entry))
    if entry.tag == "DW_TAG_enumeration_type":
        return Type(f"int{8 * number_of(entry, 'DW_AT_byte_size', 4)}")
    if entry.tag in _MEMBERS:
        members = [child for child in entry.iter_children() if child.tag == "DW_TAG_member"]
        alone = type_of(members[0]) if len(members) == 1 else None
        return Type(entry.tag) if alone is None or unnamed(alone).tag == _ARRAY else _type(alone, deepest - 1)
    return _type(inner, deepest - 1)  # a typedef, const, volatile, the elements of an array


def _element(entry: Any) -> str:
    """The NumPy name of a number."""
    encoding, bits = number_of(entry, "DW_AT_encoding", 0), 8 * number_of(entry, "DW_AT_byte_size", 0)
    name = name_of(entry)
    if name in _HALVES:
        return _HALVES[name]
    if encoding in _CHARACTERS and name == "char":
        return "char"
    return f"float{bits}" if encoding == _FLOAT else f"{'u' * (encoding in _UNSIGNED)}int{bits}"
