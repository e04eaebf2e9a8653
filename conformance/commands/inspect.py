"""`inspect`: look into a safetensors file, a golden or a repro."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from numpy.typing import NDArray
from rich.table import Table

from conformance.exit_codes import HARNESS, PASSED
from conformance.report.screen import Screen, say

from .options import add_command

_EXAMPLES = """\
  inspect FILE                     its tensors: types, shapes, ranges
  inspect FILE --tensor output     one tensor's values
"""
_EXIT = "exit code: 0 the file was read; 2 it is no safetensors file, or holds no such tensor"
_TYPES = {"F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1"}
_TYPES |= {"U64": "u8", "U32": "u4", "U16": "u2", "U8": "u1", "BOOL": "?"}


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "inspect", "look into a safetensors file", run, _EXAMPLES, _EXIT)
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--tensor", metavar="NAME", help="print this tensor's values")


def run(options: argparse.Namespace) -> int:
    """Print the tensors of a file, or the values of one."""
    try:
        content = options.file.read_bytes()
        tensors = dict(safetensors.deserialize(content))  # type: ignore[no-untyped-call]
    except (OSError, safetensors.SafetensorError) as error:
        say(f"{options.file}: {getattr(error, 'strerror', None) or error}", wrong=True)
        return HARNESS
    if options.tensor is not None:
        return _show_values(options.tensor, tensors)
    say(f"{options.file}: {len(tensors)} tensors, {len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}")
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("tensor", no_wrap=True)
    for heading in ("type", "shape", "from", "to", "mean", "zero", "NaN", "infinite"):
        table.add_column(heading, justify="left" if heading in ("type", "shape") else "right", no_wrap=True)
    for name, tensor in sorted(tensors.items()):
        table.add_row(name, *_row(tensor))
    Screen(width=None if sys.stdout.isatty() else 200).print(table)
    return PASSED


def _show_values(name: str, tensors: dict[str, Any]) -> int:
    if name not in tensors:
        say(f"no tensor {name}; there are {', '.join(sorted(tensors))}", wrong=True)
        return HARNESS
    values = _values(tensors[name])
    print(f"the type {tensors[name]['dtype']} has no numbers in NumPy" if values is None else values)
    return PASSED


def _row(tensor: dict[str, Any]) -> Iterator[str]:
    yield tensor["dtype"]
    yield " x ".join(map(str, tensor["shape"])) or "scalar"
    values = _values(tensor)
    if values is None or not values.size:
        return
    numbers = values[np.isfinite(values)].astype(np.float64)
    yield from (f"{f(numbers):.6g}" if numbers.size else "" for f in (np.min, np.max, np.mean))
    for count in (int((values == 0).sum()), int(np.isnan(values).sum()), int(np.isinf(values).sum())):
        yield str(count or "")


def _values(tensor: dict[str, Any]) -> NDArray[Any] | None:
    """The tensor as an array; bfloat16 as float32, whose upper half it is; None for types that NumPy does not have."""
    shape, data = tensor["shape"], bytes(tensor["data"])
    if tensor["dtype"] == "BF16":
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32).reshape(shape)
    kind = _TYPES.get(tensor["dtype"])
    return np.frombuffer(data, np.dtype(kind).newbyteorder("<")).reshape(shape) if kind else None
