"""Arrays that lie where a library computes, and stay there from call to call."""

from .array import DeviceArray
from .memory import Memory, Statistics

__all__ = ["DeviceArray", "Memory", "Statistics"]
