"""This project's own libraries, built by CMake: the C library, the kernels on the emulator, the kernels on a device.

In: the sources below cuda/, and what compilers the machine has.  Out: paths of shared libraries.
Used by: commands.
"""

from .device import DeviceError, device_builds, nvcc
from .library import TARGETS, BuildError, build

__all__ = ["TARGETS", "BuildError", "DeviceError", "build", "device_builds", "nvcc"]
