"""Many processes as one trainer: who takes part, what they sum and trade, and that all hold the same numbers."""

from training.ranks.agreement import RanksError, agree, check_equal
from training.ranks.between import Nccl, between
from training.ranks.buckets import BUCKET_BYTES, Reduction
from training.ranks.devices import take_device
from training.ranks.experts import Experts
from training.ranks.interface import ALONE, Alone, Ranks, totals
from training.ranks.staged import Staged
from training.ranks.start import whole_run
from training.ranks.turns import taking_turns

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
    "take_device",
    "taking_turns",
    "totals",
    "whole_run",
]
