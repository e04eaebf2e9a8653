"""Which kernels a call launches, and with what grids: a table that a change of the launchers has to be seen in.

Two ways through a launcher may compute the same numbers, one of them ten times slower; no case tells these apart.
"""

from .plans import ARCHITECTURES, Calls, Plans, PlansError, calls, operation_of, plans, text_of
from .table import TABLE, Difference, TableError, chosen, differences, read, written

__all__ = [
    "ARCHITECTURES",
    "TABLE",
    "Calls",
    "Difference",
    "Plans",
    "PlansError",
    "TableError",
    "calls",
    "chosen",
    "differences",
    "operation_of",
    "plans",
    "read",
    "text_of",
    "written",
]
