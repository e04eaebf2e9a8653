"""Builds libraries with faults in them.

An object is kept under a name made of all that it depends on: its source, what that includes and how it is compiled.
So a build compiles what a fault has changed and links the rest as it was.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bindings.places import builds

from .fault import Fault, FaultError, RefusedError
from .recipes import CLibrary, Example, Kernels, reached


def build(*faults: Fault, folder: Path | None = None) -> Path:
    """Return the library with these faults in it, built under `folder` or builds().

    Without any fault it is the C library as it is; of the kernels it holds the operations that the faults are in.
    Several processes may build at once.  Raises FaultError where a text does not stand in its file exactly once, where
    the faults are of two libraries, and where the compiler is missing or refuses.
    """
    folder = folder or builds() / "faults"
    recipe = recipe_of(*faults)
    sources = recipe.read()
    units = recipe.units(sources, [name for fault in faults for name in fault.operations])
    for fault in faults:
        sources = fault.planted(sources)
    name = _name(faults)
    objects = compiled(recipe, name, units, sources, folder / "objects")
    return linked(recipe, name, objects.values(), folder / recipe.name / name / "libassayer_faulty.so")


def recipe_of(*faults: Fault) -> CLibrary:
    """Return what the library of these faults is built of.  Raises FaultError where that is not one."""
    recipes = {_recipe_name(fault) for fault in faults} or {CLibrary.name}
    if len(recipes) > 1:
        raise FaultError(f"expected faults of one library, got {' and '.join(sorted(recipes))}")
    [name] = recipes
    if name == Example.name:
        return Example()
    return CLibrary() if name == CLibrary.name else Kernels(name.removeprefix("kernels-"))


def _recipe_name(fault: Fault) -> str:
    if fault.is_of_a_framework:
        return Example.name
    return f"kernels-{fault.run_mode.mode}" if fault.is_of_a_kernel else CLibrary.name


def compiled(
    recipe: CLibrary,
    name: str,
    units: Iterable[str],
    sources: Mapping[str, str],
    folder: Path,
    options: Sequence[str] = (),
) -> dict[str, Path]:
    """Return an object in the folder for every unit, compiled where there is none yet.

    name: what a FaultError is about.  options: for the compiler, besides the recipe's.  Raises FaultError, and where it
    is the compiler that refuses, RefusedError.
    """
    objects = _objects(recipe, units, sources, folder, options)
    missing = [file for file, path in objects.items() if not path.exists()]
    with tempfile.TemporaryDirectory() as tree:
        for file in {*missing, *(each for unit in missing for each in reached(unit, sources))}:
            path = Path(tree) / file
            path.parent.mkdir(exist_ok=True)
            recipe.write(path, sources[file], file)
        for file in missing:
            run_compiler(recipe, name, objects[file], *recipe.options(file), *options, "-c", str(Path(tree) / file))
    return objects


def _objects(
    recipe: CLibrary, units: Iterable[str], sources: Mapping[str, str], folder: Path, options: Sequence[str]
) -> dict[str, Path]:
    """Where the object of every unit is kept, under a name made of all that it depends on."""
    beside = recipe.beside()
    objects = {}
    for file in units:
        command = [*recipe.compiler(), *recipe.options(file), *options]
        texts = [*command, *beside, file, sources[file], *(sources[each] for each in sorted(reached(file, sources)))]
        objects[file] = folder / f"{_digest(texts)}.o"
    return objects


def linked(recipe: CLibrary, name: str, objects: Iterable[Path], library: Path, options: Sequence[str] = ()) -> Path:
    """Link objects into a library and return its path.  Raises FaultError, RefusedError."""
    run_compiler(recipe, name, library, "-shared", *map(str, objects), *recipe.linked, *options)
    return library


def run_compiler(recipe: CLibrary, name: str, output: Path, *arguments: str) -> None:
    """Run a library's compiler; the output appears under its name when it is whole.

    name: what a FaultError is about, where there is no compiler.  Raises RefusedError where it refuses.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent) as folder:
        made = Path(folder) / output.name
        command = [*recipe.compiler(), *arguments, "-o", str(made)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise FaultError(f"{name}: expected a compiler, got: {error}; set CC or CXX to one") from None
        if done.returncode:
            raise RefusedError(f"{name}: {shlex.join(command)} failed:\n{done.stderr}")
        made.replace(output)


def _name(faults: Iterable[Fault]) -> str:
    """A folder's name: the fault's own, or for several how many and which."""
    names = [fault.name for fault in faults]
    if len(names) > 1:
        return f"{len(names)}-faults-{_digest(names)[:8]}"
    return re.sub(r"\W+", "-", names[0]).strip("-") if names else "no-fault"


def _digest(texts: Iterable[str]) -> str:
    """One number for texts in their order."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
