"""What the namespace says of itself."""

from __future__ import annotations

from typing import Any

from .dtypes import DEFAULT, DTYPES, isdtype


class _Info:
    """The standard's inspection functions."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 32}

    def default_device(self) -> str:
        return "cpu"

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """That of real numbers: there are no others."""
        return {"real floating": DEFAULT}

    def devices(self) -> list[str]:
        return ["cpu"]

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The types by name; kind: only those of it, or of one of several."""
        return {name: dtype for name, dtype in DTYPES.items() if kind is None or isdtype(dtype, kind)}


def __array_namespace_info__() -> _Info:  # noqa: N807 (the standard's name)
    return _Info()
