"""Somebody's own CUDA sources as a library that can be judged: compiled for the emulator, or for a device.

In: .cu files, and a map in TOML from their functions to the header's.  Out: the path of a shared library, and which
operations it has by the map.  Used by: commands.
"""

from .entry import MapError
from .library import Compiled, compile_kernels
from .map import Boundary
from .project import MODES, Project

__all__ = ["MODES", "Boundary", "Compiled", "MapError", "Project", "compile_kernels"]
