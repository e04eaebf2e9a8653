"""Mixed precision: where a model computes in 16 bits, and how its loss is scaled."""

from training.precision.precision import FLOAT32, Precision
from training.precision.scaling import DYNAMIC, NONE, Scaler, Scaling, fixed

__all__ = ["DYNAMIC", "FLOAT32", "NONE", "Precision", "Scaler", "Scaling", "fixed"]
