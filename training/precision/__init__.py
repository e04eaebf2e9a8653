"""Mixed precision: where a model computes in 16 bits, and how its loss is scaled."""

from .autocast import Autocast
from .policy import MIXED, Policy, Rule
from .precision import BF16, FLOAT32, FP16, PRECISIONS, Precision, read
from .scaling import DYNAMIC, NONE, Scaler, Scaling, fixed

__all__ = [
    "BF16",
    "DYNAMIC",
    "FLOAT32",
    "FP16",
    "MIXED",
    "NONE",
    "PRECISIONS",
    "Autocast",
    "Policy",
    "Precision",
    "Rule",
    "Scaler",
    "Scaling",
    "fixed",
    "read",
]
