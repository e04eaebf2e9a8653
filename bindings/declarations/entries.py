"""What an entry of debug information says, as pyelftools hands it over: its name, its type, a number."""

from __future__ import annotations

from typing import Any

DEEPEST = 32  # types behind each other; a damaged file may lead round in a circle
_NAMES = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type")


def unnamed(entry: Any) -> Any:
    """What a typedef, or a type that may not be written, is of."""
    for _ in range(DEEPEST):
        if entry.tag not in _NAMES or (inner := type_of(entry)) is None:
            break
        entry = inner
    return entry


def origin_of(entry: Any) -> Any:
    """The entry that says of this one what does not change from place to place."""
    for attribute in ("DW_AT_specification", "DW_AT_abstract_origin"):
        if attribute in entry.attributes:
            return entry.get_DIE_from_attribute(attribute)
    return entry


def name_of(entry: Any) -> str:
    """The name by which it is linked, else that of the source; nothing where it has none."""
    for each in (entry, origin_of(entry)):
        for attribute in ("DW_AT_linkage_name", "DW_AT_name"):
            if attribute in each.attributes:
                name: str = each.attributes[attribute].value.decode(errors="replace")
                return name
    return ""


def type_of(entry: Any) -> Any:
    return entry.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in entry.attributes else None


def number_of(entry: Any, attribute: str, otherwise: int) -> int:
    return int(entry.attributes[attribute].value) if attribute in entry.attributes else otherwise
