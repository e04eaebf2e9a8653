"""Builds with one mistake in each: what the bindings, the workers and the guard zones must find."""

from .build import build
from .fault import Fault, FaultError, RefusedError
from .products import TF32_INPUTS
from .table import FAULTS
from .trial import FaultResult, judge

__all__ = ["FAULTS", "TF32_INPUTS", "Fault", "FaultError", "FaultResult", "RefusedError", "build", "judge"]
