"""What a library's own tools said of a call before it failed: sanitisers, and the emulator of CUDA."""

from __future__ import annotations

import re

_SAID = (
    re.compile(r"^SUMMARY: \w+Sanitizer: (.+)$", re.MULTILINE),
    re.compile(r"^(\S+:\d+:\d+: runtime error: .+)$", re.MULTILINE),
    re.compile(r"^CUDA emulator: (cuda\w+: .+)$", re.MULTILINE),
)
# An access that the emulator makes for an instruction or a function of CUDA's.
_OF_THE_EMULATOR = re.compile(r"\S*emulator/include/\S+ in .+$")
_FRAME = re.compile(r"^ +#\d+ (.+) (\S+:\d+)(?::\d+)? \(\S+\)$", re.MULTILINE)
_WHO = re.compile(r"^CUDA emulator: it happened in (.+)$", re.MULTILINE)


def printed(detail: str) -> str:
    """Return the line of what was printed that says what went wrong, and in which kernel, block and thread; else ""."""
    said = _in_a_kernel(next((found[1] for pattern in _SAID if (found := pattern.search(detail))), ""), detail)
    who = _WHO.search(detail)
    return f"{said}; in {who[1]}" if said and who else said


def _in_a_kernel(said: str, detail: str) -> str:
    """The same of the first place outside the emulator, where the access is the emulator's own."""
    own = _OF_THE_EMULATOR.search(said)
    frames = ((place, function) for function, place in _FRAME.findall(detail) if "emulator/include/" not in place)
    place, function = next(frames, ("", ""))
    return f"{said[: own.start()]}{place} in {function}" if own and place else said
