"""Frameworks of strided tensors behind a C boundary: storage, shape, strides and sizes as pointers and numbers.

In: a map in TOML from their entry points to the header's operations on strided tensors.  Out: a library of the header's
functions that calls theirs, and which calls they cannot be told of.  Used by: candidates, proof and commands.
"""

from .entry import Entry
from .library import Framework, Linked, compile_sources, link
from .map import FrameworkMap, is_of_framework, read_map

__all__ = [
    "Entry",
    "Framework",
    "FrameworkMap",
    "Linked",
    "compile_sources",
    "is_of_framework",
    "link",
    "read_map",
]
