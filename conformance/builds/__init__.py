"""This project's own libraries, built by CMake: the C library, the kernels on the emulator, the kernels on a device.

In: the sources below cuda/, and what compilers the machine has.  Out: paths of shared libraries.
Used by: commands.
"""

from .device import DeviceError, device_builds, devices, nvcc
from .library import TARGETS, BuildError, build, build_target

__all__ = ["TARGETS", "BuildError", "DeviceError", "build", "build_target", "device_builds", "devices", "nvcc"]
