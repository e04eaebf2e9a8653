"""Other languages' declarations: read, compared with the header, and written from it.

In: text of C, Rust, Go or ctypes.  Out: differences from the header; declarations for those languages.
Used by: library's command, the judge.

A run cannot see every mistake in a declaration: floats travel in other registers than pointers, so a caller that swaps
`scale` and `output` still gets right answers, and one that passes two floats too many is never noticed.
"""

from .compare import compare, compare_each, differences
from .model import Argument, Declaration, Type
from .read import DeclarationError, read, read_file
from .write import LANGUAGES, write

__all__ = [
    "LANGUAGES",
    "Argument",
    "Declaration",
    "DeclarationError",
    "Type",
    "compare",
    "compare_each",
    "differences",
    "read",
    "read_file",
    "write",
]
