"""Builds of the kernels with one mistake in each, run by the emulator of CUDA."""

from .table import FAULTS

__all__ = ["FAULTS"]
