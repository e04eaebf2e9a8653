"""A map of cells as an image of one pixel for each, in a data URI: a hundredth of what as many SVG rectangles take."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

from conformance.judging.evidence import AT_LIMIT, BEYOND, LEVELS, NO_NUMBER

Colour = tuple[int, int, int]

# Blue up to the limit, orange to brown beyond it: told apart without red and green, and by lightness alone as well.
_NONE, _FAINT, _FULL = (246, 248, 250), (222, 235, 247), (49, 110, 176)
_OVER, _FAR, _NO_NUMBER = (253, 174, 76), (140, 45, 4), (0, 0, 0)


def _between(first: Colour, last: Colour, share: float) -> Colour:
    r, g, b = (round(a + (z - a) * share) for a, z in zip(first, last, strict=True))
    return r, g, b


def palette() -> list[Colour]:
    """One colour for each of LEVELS."""
    within = [_between(_FAINT, _FULL, (level - 1) / (AT_LIMIT - 1)) for level in range(1, AT_LIMIT + 1)]
    steps = BEYOND - AT_LIMIT - 1
    beyond = [_between(_OVER, _FAR, (level - AT_LIMIT - 1) / steps) for level in range(AT_LIMIT + 1, NO_NUMBER)]
    return [_NONE, *within, *beyond, _NO_NUMBER]


def data_uri(cells: Sequence[str]) -> str:
    """Return the map as a PNG (RFC 2083: signature, header, palette, rows that each begin with filter 0, end)."""
    header = struct.pack(">IIBBBBB", len(cells[0]), len(cells), 8, 3, 0, 0, 0)
    rows = b"".join(b"\0" + bytes(LEVELS.index(cell) for cell in row) for row in cells)
    colours = bytes(part for colour in palette() for part in colour)
    parts = ((b"IHDR", header), (b"PLTE", colours), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    content = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)
    return "data:image/png;base64," + base64.b64encode(content).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
