"""Whether faults compile: those of different texts are planted together, and each unit is tried once for them all."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from .build import recipe_of
from .fault import Fault, FaultError, RefusedError
from .recipes import CLibrary, reached

_CHECK = ("-fsyntax-only", "-w")  # types, names and templates as they are used: it is not run


def groups(faults: Iterable[Fault], sources: Mapping[str, str]) -> list[list[Fault]]:
    """Return the faults of a folder of sources in few groups, of each of which all can be planted at once.

    Raises FaultError where one cannot be planted by itself.
    """
    found: list[tuple[list[Fault], dict[str, str]]] = []
    for fault in faults:
        alone = fault.planted(sources)
        for group, planted in found:
            if fault.helpers and any(one.helpers for one in group if one.file == fault.file):
                continue  # they may define the same names
            try:
                recipe_of(group[0], fault)  # of one mode of the emulator
                planted |= fault.planted(planted)
            except FaultError:
                continue
            group.append(fault)
            break
        else:
            found.append(([fault], alone))
    return [group for group, _ in found]


def units_of(faults: Sequence[Fault]) -> list[str]:
    """Return the files of a library that any of its faults changes, itself or by what it includes."""
    sources = recipe_of(*faults).read()
    units = recipe_of(*faults).units(sources, [name for fault in faults for name in fault.operations])
    changed = {fault.file for fault in faults}
    return [unit for unit in units if not changed.isdisjoint({unit, *reached(unit, sources)})]


def refused(unit: str, faults: Sequence[Fault]) -> Iterator[tuple[Fault, str]]:
    """Yield those of a group that the compiler refuses in a unit, with what it says.

    Where it refuses them together, halves of them are tried: what it says of one alone is no other's.
    """
    recipe = recipe_of(*faults)
    sources = recipe.read()
    near = [fault for fault in faults if fault.file in {unit, *reached(unit, sources)}]
    try:
        _check(recipe, unit, near, sources)
    except RefusedError as error:
        if len(near) == 1:
            yield near[0], str(error)
            return
        half = len(near) // 2
        for some in (near[:half], near[half:]):
            yield from refused(unit, some)


def _check(recipe: CLibrary, unit: str, faults: Sequence[Fault], sources: dict[str, str]) -> None:
    """Raise RefusedError where a unit with these faults does not compile."""
    for fault in faults:
        sources = fault.planted(sources)
    with tempfile.TemporaryDirectory() as tree:
        for file in {unit, *reached(unit, sources)}:
            path = Path(tree) / file
            path.parent.mkdir(exist_ok=True)
            recipe.write(path, sources[file], file)
        command = [*recipe.compiler(), *recipe.options(unit), *_CHECK, str(Path(tree) / unit)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RefusedError(f"{unit}: {shlex.join(command)} failed:\n{done.stderr}")
