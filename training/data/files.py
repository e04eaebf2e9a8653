"""Files that are there complete or not at all, whatever happens while they are written."""

from __future__ import annotations

import json
import os
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

import numpy as np

from .documents import DataError

try:
    import fcntl
except ImportError:  # a system without it does not notice two runs on one folder
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import BinaryIO

    from numpy.typing import NDArray

BESIDE = ".new"  # the end of the name a file has until it is complete
_NPY = np.lib.format.magic(1, 0)  # what a `.npy` file begins with; then come two bytes, the header's length


def write_text(path: Path, text: str) -> None:
    """Replace the file by this text."""
    _write(path, lambda file: file.write(text.encode()))


def write_json(path: Path, content: Any) -> None:
    """Replace the file by this content."""
    write_text(path, json.dumps(content, indent=1) + "\n")


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Replace the file by this array as `.npy`."""
    _write(path, lambda file: np.save(file, array, allow_pickle=False))


def _write(path: Path, fill: Callable[[BinaryIO], Any]) -> None:
    beside = path.with_name(path.name + BESIDE)
    with beside.open("wb") as file:
        fill(file)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def to_disk(path: Path) -> None:
    """Wait until a file's content, or a folder's names, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_json(path: Path) -> Any:
    """Return the content. Raises DataError, with the place in it, for a file that is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON ({error})") from error


def map_array(path: Path, dtype: np.dtype[Any], size: int) -> NDArray[Any]:
    """Map a flat `.npy` file without reading it.

    Raises DataError for a file that is cut short, too long, or holds something else.
    """
    try:
        array: np.memmap[Any, Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        ends = path.stat().st_size
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValueError, EOFError, SyntaxError, TokenError, OverflowError) as error:  # all of a damaged header
        ended = f"the file ends at byte {path.stat().st_size}"
        raise DataError(f"{path}: not a whole .npy file: {ended} ({error})") from error
    if array.dtype != dtype or array.shape != (size,):
        expected = f"expected {size} values of {dtype} in one row"
        raise DataError(f"{path}: {expected}, as the manifest says, got {array.dtype} of shape {array.shape}")
    if ends != array.offset + array.nbytes:
        raise DataError(f"{path}: expected an end at byte {array.offset + array.nbytes}, found {ends} bytes")
    _check_header(path, array)
    return array


def _check_header(path: Path, array: np.memmap[Any, Any]) -> None:
    """NumPy reads headers of many spellings: it wrote this one, filled up with spaces and ended by a newline."""
    length = array.offset - len(_NPY) - 2
    text = f"{{'descr': {array.dtype.str!r}, 'fortran_order': False, 'shape': {array.shape}, }}"
    header = _NPY + length.to_bytes(2, "little") + text.ljust(length - 1).encode() + b"\n"
    with path.open("rb") as file:
        found = file.read(array.offset)
    if found != header:
        place = next(i for i, (due, got) in enumerate(zip(header, found, strict=True)) if due != got)
        raise DataError(f"{path}: expected the header that np.save writes, found byte {place} changed")


def lock_folder(folder: Path) -> int:
    """Hold the folder until what is returned is closed, or this process ends.

    Raises DataError where another process holds it.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise DataError(f"{folder}: another process is working on it") from error
    return descriptor
