"""Which kernels a call launches, and with what grids: a table that a change of the launchers has to be seen in.

Two ways through a launcher may compute the same numbers, one of them ten times slower; no case tells these apart.

In: a library that is built for the emulated device, and the sizes of the catalogue's calls.
Out: the launches of each call on each architecture, and where they are not what `cuda/launches.tsv` says.
Used by: proof (mutants of the kernels), commands.
"""

from .plans import ARCHITECTURES, REFUSED, Plans, PlansError, calls, operation_of, plans, text_of
from .table import TABLE, Difference, TableError, chosen, differences, read, written

__all__ = [
    "ARCHITECTURES",
    "REFUSED",
    "TABLE",
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
