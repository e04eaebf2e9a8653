"""Builds of the C library with one mistake in each: what the bindings, the workers and the guard zones must find."""

from .build import build
from .fault import Fault, FaultError
from .products import BFLOAT16_INPUTS, TF32_INPUTS

__all__ = ["BFLOAT16_INPUTS", "TF32_INPUTS", "Fault", "FaultError", "build"]
