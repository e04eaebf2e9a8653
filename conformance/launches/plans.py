"""The launches of calls on each architecture, as an emulated device says them that runs no kernel."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

from conformance.catalogue.cases import CASES, DESIGNED
from conformance.catalogue.full import FULL
from conformance.operations import OPERATIONS, layout_arrays

ARCHITECTURES = ("sm_70", "sm_75", "sm_80", "sm_90")  # between them launchers choose otherwise
MOST_ELEMENTS = 1 << 31  # of an array, which takes no memory until something writes it
Sizes: TypeAlias = Mapping[str, Any]
Plan: TypeAlias = tuple[str, ...]  # a call's launches, in their order; last, where it is refused, how
Plans: TypeAlias = Mapping[str, Mapping[str, Plan]]  # by id, and by architecture

REFUSED = "refused: "  # begins what a plan says of a call that is not made
_LIMIT_S = 600.0  # all calls of the catalogue take a minute
_SAID = re.compile(
    r"CUDA emulator: launch of kernel `(?P<kernel>.*)`: \((?P<grid>[\d,]+)\) blocks of \((?P<block>[\d,]+)\) threads, "
    r"(?P<shared>\d+) bytes of dynamic shared memory"
)


class PlansError(RuntimeError):
    """A library whose launches cannot be had; the message says why."""


def calls(operations: Collection[str] = OPERATIONS) -> dict[str, Sizes]:
    """Return the calls of the catalogue, of its design and at full size, one for all cases of the same sizes."""
    found: dict[str, Sizes] = {}
    seen: set[tuple[str, str]] = set()
    for id, operation, sizes in _all(operations):
        key = (operation, repr(sorted(sizes.items())))
        if key not in seen:
            seen.add(key)
            found[id] = sizes
    return found


def _all(operations: Collection[str]) -> Iterator[tuple[str, str, Sizes]]:
    for operation in (name for name in OPERATIONS if name in operations):
        for case in (*CASES.of(operation).values(), *DESIGNED.of(operation).values()):
            yield case.id, operation, case.sizes
    for call in FULL.values():
        layouts = layout_arrays(OPERATIONS[call.operation])
        if call.operation in operations and layouts <= call.sizes.keys():  # elsewhere they come with what is drawn
            yield call.id, call.operation, call.sizes


def operation_of(id: str) -> str:
    """Return the operation of a case or of a call at full size."""
    return FULL[id].operation if id in FULL else id.partition("/")[0]


def sizes_of(id: str) -> Sizes:
    """Return the sizes and scalars of a case or of a call at full size.  Raises KeyError."""
    if id in FULL:
        return FULL[id].sizes
    return (CASES if id in CASES else DESIGNED)[id].sizes


def plans(library: Path, ids: Sequence[str], processes: int) -> Plans:
    """Return what calls launch on each architecture.  Raises PlansError."""
    with ThreadPoolExecutor(processes) as pool:
        by_architecture = list(pool.map(lambda arch: _said(library, ids, arch), ARCHITECTURES))
    return {id: {arch: by[id] for arch, by in zip(ARCHITECTURES, by_architecture, strict=True)} for id in ids}


def _said(library: Path, ids: Iterable[str], architecture: str) -> dict[str, Plan]:
    """What the emulated device says in a process of its own, by these settings and none of the caller's."""
    settings = {"LAUNCHES": "2", "FILL": "0", "ARCH": architecture}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ASSAYER_EMULAT")}
    environment |= {f"ASSAYER_EMULATOR_{name}": value for name, value in settings.items()}
    command = [sys.executable, "-m", f"{__package__}.ask", str(library)]
    try:
        done = subprocess.run(
            command,
            input=json.dumps([*ids]),
            capture_output=True,
            text=True,
            env=environment,
            check=False,
            timeout=_LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        raise PlansError(f"{library}: expected its launches on {architecture}, got none in {_LIMIT_S:g} s") from None
    if done.returncode:
        told = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        raise PlansError(f"{library}: expected its launches on {architecture}, got: {told[-1]}")
    return {id: tuple(plan) for id, plan in map(json.loads, done.stdout.splitlines())}


def text_of(said: str) -> str | None:
    """Return a launch that an emulated device has said as it stands in the table: kernel <<<grid, block, shared>>>.

    None for a line that says something else.
    """
    found = _SAID.fullmatch(said)
    if not found:
        return None
    words = [*map(_extent, found.group("grid", "block")), *([found["shared"]] if found["shared"] != "0" else [])]
    return f"{found['kernel']} <<<{', '.join(words)}>>>"


def _extent(numbers: str) -> str:
    """8,1,1 as 8, 8,2,1 as 8x2."""
    return re.sub(r"(,1)+$", "", numbers).replace(",", "x")
