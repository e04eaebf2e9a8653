"""Training and decoding with everything where the library computes."""

from training.resident.decoding import generate
from training.resident.step import ResidentStep, on_host

__all__ = ["ResidentStep", "generate", "on_host"]
