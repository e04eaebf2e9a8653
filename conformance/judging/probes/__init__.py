"""Probes: what precision a library really computes in, found without a tolerance."""

from .judge import judge_probe
from .properties import PROPERTIES, probe_ids

__all__ = ["PROPERTIES", "judge_probe", "probe_ids"]
