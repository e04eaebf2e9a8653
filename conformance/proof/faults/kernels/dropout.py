"""Faults of dropout's kernel."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault

_BOTH = ("dropout", "dropout_backward")

FAULTS = (
    Fault("dropout.cu: 7 rounds", _BOTH, "dropout.cu", "ROUNDS = 10", "ROUNDS = 7", "matches: .*7 rounds"),
    Fault("dropout.cu: key's halves exchanged", _BOTH, "dropout.cu",
          "low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32)",
          "low = static_cast<uint32_t>(key >> 32), high = static_cast<uint32_t>(key)",
          "matches: .*key's halves exchanged"),
    Fault("dropout.cu: offset ignored", _BOTH, "dropout.cu",
          "philox(key, offset + static_cast<uint64_t>(block))",
          "philox(key, 0 * offset + static_cast<uint64_t>(block))",
          "matches: .*offset ignored"),
    Fault("dropout.cu: the last elements left out", _BOTH, "dropout.cu",
          "if (at + i < n) y[at + i]", "if (at + 4 <= n) y[at + i]", "never written"),
)  # fmt: skip
