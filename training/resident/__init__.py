"""Training and decoding with everything where the library computes."""

from .decoding import generate
from .step import ResidentStep, on_host

__all__ = ["ResidentStep", "generate", "on_host"]
