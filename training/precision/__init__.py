"""Mixed precision: where a model computes in 16 bits, and how its loss is scaled."""

from training.precision.placed import Placed
from training.precision.policy import MIXED, Policy, Rule
from training.precision.precision import BF16, FLOAT32, FP16, PRECISIONS, Precision, read
from training.precision.scaling import DYNAMIC, NONE, Scaler, Scaling, fixed

__all__ = [
    "BF16",
    "DYNAMIC",
    "FLOAT32",
    "FP16",
    "MIXED",
    "NONE",
    "PRECISIONS",
    "Placed",
    "Policy",
    "Precision",
    "Rule",
    "Scaler",
    "Scaling",
    "fixed",
    "read",
]
