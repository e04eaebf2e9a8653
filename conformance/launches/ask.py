"""Calls a library on an emulated device that says its launches and makes none; prints those of each case.

python -m conformance.launches.ask LIBRARY < IDS.json
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bindings import BindingError, Library
from bindings.header.records import Parameter
from bindings.shared_object.services import REFUSE_MEMORY
from conformance import operations

from .plans import MOST_ELEMENTS, REFUSED, Plan, Sizes, operation_of, sizes_of, text_of

_STDERR = 2


def _arguments(operation: str, sizes: Sizes) -> list[Any]:
    """Zeros of the shapes that a call has, which nothing reads: memory that is mapped and not there."""
    function = operations.OPERATIONS[operation]
    layouts = operations.layout_arrays(function)

    def zeros(parameter: Parameter) -> NDArray[Any] | list[NDArray[Any]]:
        if parameter.name in layouts:
            return np.array(sizes[parameter.name], np.int64)
        return operations.fill(parameter, sizes, lambda shape: _zeros(shape, parameter))

    arrays = {parameter.name: zeros(parameter) for parameter in operations.read_arrays(function)}
    return operations.ordered(function, {**sizes, **arrays})


def _zeros(shape: tuple[int, ...], parameter: Parameter) -> NDArray[Any]:
    if (count := int(np.prod(shape, dtype=object))) > MOST_ELEMENTS:
        raise ValueError(f"{parameter.name}: expected at most {MOST_ELEMENTS} elements, got {count}")
    return np.zeros(shape, parameter.type.dtype)


@contextmanager
def _standard_error(file: FileIO) -> Iterator[None]:
    """Let a file take what the library writes to standard error."""
    sys.stderr.flush()
    kept = os.dup(_STDERR)
    file.seek(0)
    file.truncate()
    os.dup2(file.fileno(), _STDERR)
    try:
        yield
    finally:
        os.dup2(kept, _STDERR)
        os.close(kept)


def _plan(library: Library, id: str, file: FileIO) -> Plan:
    operation = operation_of(id)
    arguments, refused = _arguments(operation, sizes_of(id)), ""
    with _standard_error(file):
        try:
            getattr(library, operation)(*arguments)
        except BindingError as error:
            refused = str(error)
    file.seek(0)
    lines = file.read().decode().splitlines()
    launches = tuple(text for text in map(text_of, lines) if text is not None)
    return (*launches, f"{REFUSED}{refused}") if refused else launches


def main(path: str) -> None:
    """Print a line of JSON for each id of the list of JSON that standard input holds: the id and its launches."""
    library = Library(Path(path))
    if library.entry(REFUSE_MEMORY, ("int32_t",)) is None:
        sys.exit(f"a library without {REFUSE_MEMORY}, which is none for the emulated device")
    with tempfile.TemporaryFile(buffering=0) as file:
        for id in json.load(sys.stdin):
            print(json.dumps([id, _plan(library, id, file)]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
