"""Arrays that lie where a library computes, and stay there from call to call.

In: a library's services, host arrays, arrays of other libraries.
Out: DeviceArray, and the memory that all of a library's arrays share.
Used by: calls, library.
"""

from .array import DeviceArray
from .memory import Memory, Statistics

__all__ = ["DeviceArray", "Memory", "Statistics"]
