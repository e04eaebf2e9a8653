"""Models of ONNX as graphs; needs the package onnx."""

from __future__ import annotations

from .importing import BUILDS, Imported, import_onnx
from .listing import imported, not_imported
from .package import OnnxMissingError

__all__ = ["BUILDS", "Imported", "OnnxMissingError", "import_onnx", "imported", "not_imported"]
