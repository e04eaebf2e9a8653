"""The units by which products are computed: which sources each runs, and which ones there are.

Of the C library those for 16 bits that this machine has; of kernels those of the generations of devices.

A library of the instructions that all processors have, which mutants are made of, uses none unless it is told to
(cuda/src/halves/unit.c): without being told it would run nothing of the sources below.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from conformance.proof.faults import FaultError

AS_IT_IS: Mapping[str, str] = MappingProxyType({})
_SETTINGS = ("ASSAYER_BF16", "ASSAYER_FP16")
# By the setting's word, those first that every processor has: the source that nothing else runs.
_OWN = {"amx_emulated": "halves/amx_emulated.c", "avx512_bf16": "halves/avx512_bf16.c", "amx": "halves/amx.c"}
_SHARED = (
    "unit.c unit.h tiles.h product.c plan.c plan.h block.c stores.c widened.c halves.h gemm.c gemm.h scores.c scores.h "
    "operations.c attention.h"
)
_BESIDE = ("vector/pairs.c", "attention_rows.c")
SOURCES = frozenset({*_OWN.values(), *(f"halves/{name}" for name in _SHARED.split()), *_BESIDE})
_ASKED = (
    "import sys, pathlib, bindings; print(bindings.Library(pathlib.Path(sys.argv[1])).services.fact('bf16_unit') or 0)"
)

# Headers of kernels of which a device before sm_80 runs what sm_80 does not, each with the architectures to ask.
_GENERATIONS = {"matrix_quads.cuh": ("sm_70", "sm_80"), "ptx_matrix.cuh": ("sm_80", "sm_75", "sm_70")}


def generations(file: str) -> Sequence[Mapping[str, str]]:
    """Return the settings of an emulated device in which a mutant of a kernel's source can differ."""
    return [emulating(arch) for arch in _GENERATIONS[file]] if file in _GENERATIONS else [AS_IT_IS]


def emulating(arch: str) -> Mapping[str, str]:
    """Return the settings of an emulated device of an architecture."""
    return {"ASSAYER_EMULATOR_ARCH": arch}


class Units:
    """The units that a library has on this machine; library: its path, as it is without a mutant."""

    def __init__(self, library: Path) -> None:
        self._here = [name for name in _OWN if _number(library, name)]

    def ways(self, file: str) -> list[Mapping[str, str]]:
        """Return the settings in which a mutant of a source can differ."""
        if file not in SOURCES:
            return [AS_IT_IS]
        ways: list[Mapping[str, str]] = [_asking(name) for name in self._here if owner(file) in ("", name)]
        return ways if owner(file) else [*ways, AS_IT_IS]


def _asking(name: str) -> Mapping[str, str]:
    """The settings by which both formats are multiplied by a unit, if it multiplies both."""
    return dict.fromkeys(_SETTINGS, name)


def owner(file: str) -> str:
    """Return the unit that alone runs a source, if one does."""
    return next((name for name, own in _OWN.items() if file == own), "")


def _number(library: Path, name: str) -> int:
    """What the library says that it multiplies by where it is told to use this unit; 0 where it has not got it.

    Raises FaultError where it says nothing.
    """
    command = [sys.executable, "-c", _ASKED, str(library)]
    told = subprocess.run(command, env={**os.environ, **_asking(name)}, capture_output=True, text=True, check=False)
    if told.returncode:
        [*_, said] = ["nothing", *told.stderr.strip().splitlines()]
        raise FaultError(f"{library.name}: expected the number of a unit, got {said}")
    return int(told.stdout)
