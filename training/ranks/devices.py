"""Which device each rank of a machine computes on."""

from __future__ import annotations

import os
import platform
from collections.abc import MutableMapping
from itertools import takewhile
from typing import Any, NamedTuple

import cffi

from .interface import Ranks

VISIBLE = "CUDA_VISIBLE_DEVICES"


class Place(NamedTuple):
    """A machine, and which of its devices a process sees: the text that CUDA reads."""

    machine: str
    devices: str

    @classmethod
    def here(cls) -> Place:
        return cls(platform.node(), os.environ.get(VISIBLE, ""))


def take_device(ranks: Ranks, environment: MutableMapping[str, str] = os.environ) -> None:
    """Let this process see one device: that of its number among the machine's ranks, modulo devices.

    To be called before a library is opened: CUDA looks at the environment once.  The devices are those the caller
    lets be seen, or all that NVIDIA's driver manages, which is asked without CUDA.
    """
    machines = ranks.gather(platform.node())
    number = machines[: ranks.rank].count(machines[ranks.rank])
    given = environment.get(VISIBLE)
    seen = _listed(given) if given is not None else [str(device) for device in range(_managed())]
    if ranks.size > 1 and seen:
        environment[VISIBLE] = seen[number % len(seen)]


def _listed(text: str) -> list[str]:
    """As CUDA reads it: what comes behind something that is no device is not seen."""
    return list(takewhile(lambda name: name not in {"", "-1"}, (name.strip() for name in text.split(","))))


def _managed(library: str = "libnvidia-ml.so.1") -> int:
    """Return how many devices the driver's management library finds, 0 where there is none."""
    ffi: Any = cffi.FFI()
    ffi.cdef("int nvmlInit_v2(void); int nvmlDeviceGetCount_v2(unsigned* count); int nvmlShutdown(void);")
    try:
        nvml = ffi.dlopen(library)
    except OSError:
        return 0
    count = ffi.new("unsigned*")
    if nvml.nvmlInit_v2() == 0:
        nvml.nvmlDeviceGetCount_v2(count)
        nvml.nvmlShutdown()
    return int(count[0])
