"""What CUDA devices this machine has: a line for each, its architecture and its name.

    python cuda/tools/devices.py

Asks the driver, so nothing has to be compiled or installed first.  Prints nothing where there is none.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

_MAJOR, _MINOR = 75, 76  # CUdevice_attribute


def devices() -> Iterator[tuple[str, str]]:
    """Yield the architecture, sm_90, and the name of each device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return
    for ordinal in range(count.value):
        device, name = ctypes.c_int(), ctypes.create_string_buffer(256)
        driver.cuDeviceGet(ctypes.byref(device), ordinal)
        driver.cuDeviceGetName(name, len(name), device)
        major, minor = (_attribute(driver, device, number) for number in (_MAJOR, _MINOR))
        yield f"sm_{10 * major + minor}", name.value.decode()


def _attribute(driver: ctypes.CDLL, device: ctypes.c_int, number: int) -> int:
    value = ctypes.c_int()
    driver.cuDeviceGetAttribute(ctypes.byref(value), number, device)
    return value.value


if __name__ == "__main__":
    for architecture, name in devices():
        print(architecture, name)
