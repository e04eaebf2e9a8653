"""Many processes as one trainer: who takes part, what they sum and trade, and that all hold the same numbers."""

from .agreement import RanksError, agree, check_equal
from .between import Nccl, between
from .buckets import BUCKET_BYTES, Reduction
from .devices import take_device
from .diary import now_at
from .experts import Experts
from .interface import ALONE, Alone, Ranks, totals
from .staged import Staged
from .start import whole_run
from .turns import taking_turns

__all__ = [
    "ALONE",
    "BUCKET_BYTES",
    "Alone",
    "Experts",
    "Nccl",
    "Ranks",
    "RanksError",
    "Reduction",
    "Staged",
    "agree",
    "between",
    "check_equal",
    "now_at",
    "take_device",
    "taking_turns",
    "totals",
    "whole_run",
]
