"""Whether an argument is passed by its address where debug information names the type of what lies there.

Most languages note a pointer or a reference.  Fortran notes the type alone, with and without the attribute `value`:
that an address came shows in where the number lies (DWARF 5, 2.6.1: location descriptions).
"""

from __future__ import annotations

from typing import Any

from .entries import name_of

_FORTRAN = (0x07, 0x08, 0x0E, 0x22, 0x23, 0x2D)  # DW_LANG_Fortran77, 90, 95, 03, 08, 18
# Registers that hold a place in the stack, by machine, as its ABI numbers them for DWARF: stack pointer, frame pointer.
_STACK = {"x64": (7, 6), "AArch64": (31, 29), "RISC-V": (2, 8)}


def is_fortran(entry: Any) -> bool:
    """Whether an entry is of a unit in Fortran."""
    language = entry.cu.get_top_DIE().attributes.get("DW_AT_language")
    return language is not None and language.value in _FORTRAN


def is_by_address(entry: Any) -> bool:
    """Whether an argument is the address of what its type says; False where that is not told."""
    if "DW_AT_variable_parameter" in entry.attributes:
        return True
    return is_fortran(entry) and _lies_elsewhere(_at_entry(entry), _STACK.get(_machine(entry), ()))


def _machine(entry: Any) -> str:
    machine: str = entry.dwarfinfo.config.machine_arch
    return machine


def is_descriptor(entry: Any) -> bool:
    """Whether a type is what Fortran hands over for an array without bounds, CFI_cdesc_t (Fortran 2018, 18.5.3)."""
    members = [child for child in entry.iter_children() if child.tag == "DW_TAG_member"]
    return entry.tag == "DW_TAG_structure_type" and bool(members) and name_of(members[0]) == "base_addr"


def _at_entry(entry: Any) -> list[Any]:
    """The operations that say where an argument lies when its function begins; none where that is not noted."""
    from elftools.dwarf.dwarf_expr import DWARFExprParser
    from elftools.dwarf.locationlists import LocationParser

    given = entry.attributes.get("DW_AT_location")
    if given is None:
        return []
    parser: Any = LocationParser(entry.dwarfinfo.location_lists())
    found = parser.parse_from_attribute(given, entry.cu["version"], entry)
    places = found if isinstance(found, list) else [found]
    expression: list[int] = next((place.loc_expr for place in places if hasattr(place, "loc_expr")), [])
    return list(DWARFExprParser(entry.cu.structs).parse_expr(expression))


def _lies_elsewhere(operations: list[Any], stack: tuple[int, ...]) -> bool:
    """Whether what is described lies in memory that an argument leads to, rather than in a register or on the stack."""
    match [(each.op_name, each.args) for each in operations]:
        case [*_, ("DW_OP_deref", _)]:
            return True
        case [(("DW_OP_entry_value" | "DW_OP_GNU_entry_value"), _)]:
            return True
        case [(name, _)] if name.startswith("DW_OP_breg"):
            return bool(stack) and int(name.removeprefix("DW_OP_breg")) not in stack
    return False
