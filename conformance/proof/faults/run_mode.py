"""How a library with a fault runs: how its kernels are compiled, and in what order their threads run."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass

from conformance.candidates.candidate import OF_A_DEVICE
from conformance.paths import CUDA

_PRELOAD = CUDA / "emulator" / "preload.py"


@dataclass(frozen=True)
class RunMode:
    """A mode of the emulator and a schedule of it, the C library knows the first alone; settings of its own."""

    mode: str = "fast"
    schedule: str = "forward"
    settings: tuple[tuple[str, str], ...] = ()  # variables of the environment

    def environment(self) -> dict[str, str]:
        """Return what a process in which the library runs so is told."""
        return {"ASSAYER_EMULATOR_SCHEDULE": self.schedule, **dict(self.settings)}

    def prefix(self) -> tuple[str, ...]:
        """Return the command that starts it: sanitisers have to be there before Python."""
        return () if self.mode == "fast" else (sys.executable, str(_PRELOAD), self.mode)


def cxx_compiler() -> list[str]:
    """Return the C++ compiler's command."""
    return shlex.split(os.environ.get("CXX", "c++"))


AS_IT_IS = RunMode()
BACKWARDS = RunMode(schedule="reverse")
WITH_STREAMS = RunMode(schedule="reverse", settings=tuple(OF_A_DEVICE.items()))
AT_RANDOM = RunMode(schedule="random")
BY_RACES = RunMode(mode="thread")
BY_ADDRESSES = RunMode(mode="address")
# Products of 16 bits in float32, whatever the processor has for them; and by AMX's tiles, on any processor.
WIDENED, BY_TILES = (
    RunMode(settings=tuple((f"ASSAYER_{format}", unit) for format in ("BF16", "FP16")))
    for unit in ("widened", "amx_emulated")
)
ON_SM_70, ON_SM_75, ON_SM_80 = (
    RunMode(settings=(("ASSAYER_EMULATOR_ARCH", arch),)) for arch in ("sm_70", "sm_75", "sm_80")
)
