"""Faults of dropout."""

from __future__ import annotations

from .fault import Fault

_BOTH = ("dropout", "dropout_backward")

FAULTS = (
    Fault("dropout: kept below the rate", _BOTH, "vector/dropout.c", "u >= rate ?", "u < rate ?",
          "matches: .*kept below the rate"),
    Fault("dropout: dropped at the rate", _BOTH, "vector/dropout.c", "u >= rate ?", "u > rate ?",
          "matches: .*dropped at the rate"),
    Fault("dropout: 7 rounds", _BOTH, "vector/dropout.c", "ROUNDS = 10", "ROUNDS = 7", "matches: .*7 rounds"),
    Fault("dropout: counter of 32 bits", _BOTH, "vector/dropout.c",
          "b[i] = (uint32_t)((first + (uint64_t)i) >> 32);", "b[i] = (uint32_t)(first >> 32);",
          "matches: .*counter of 32 bits|elements? "),
    Fault("dropout: not scaled", ("dropout",), "dropout.c", "(float)(1.0 / (1.0 - (double)rate))", "1.0f",
          "matches: .*not scaled"),
)  # fmt: skip
