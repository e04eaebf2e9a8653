"""What a library's own tools said of a call before it failed: sanitisers, and the emulator of CUDA."""

from __future__ import annotations

import re

_SAID = (
    re.compile(r"^SUMMARY: \w+Sanitizer: (.+)$", re.MULTILINE),
    re.compile(r"^(\S+:\d+:\d+: runtime error: .+)$", re.MULTILINE),
    re.compile(r"^CUDA emulator: (cuda\w+: .+)$", re.MULTILINE),
)
_WHO = re.compile(r"^CUDA emulator: it happened in (.+)$", re.MULTILINE)


def printed(detail: str) -> str:
    """Return the line of what was printed that says what went wrong, and in which kernel, block and thread; else ""."""
    said = next((found[1] for pattern in _SAID if (found := pattern.search(detail))), "")
    who = _WHO.search(detail)
    return f"{said}; in {who[1]}" if said and who else said
