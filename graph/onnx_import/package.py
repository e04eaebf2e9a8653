"""The package `onnx`, which not everybody has."""

from __future__ import annotations

import importlib
from typing import Any


class OnnxMissingError(ImportError):
    """The package `onnx` is not installed; the message says how to get it."""


def onnx() -> Any:
    """Return the package with its helpers.  Raises OnnxMissingError."""
    try:
        module = importlib.import_module("onnx")
        for part in ("helper", "numpy_helper"):
            importlib.import_module(f"onnx.{part}")
    except ImportError as error:
        raise OnnxMissingError(f"needs the package onnx (pip install 'kernel-assayer[onnx]'): {error}") from None
    return module
