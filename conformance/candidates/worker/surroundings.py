"""What belongs to a process and not to a library in it: a call leaves it as it was."""

from __future__ import annotations

import locale
import os
import resource
from collections.abc import Iterator, Sequence
from pathlib import Path

from bindings.shared_object.foreign import environment, of_process
from conformance.candidates.sandbox.keeper import descendants

_SELF = Path("/proc/self")  # of Linux
_STATUS = _SELF / "status"
_MASKS = {"SigBlk": "mask of signals", "Umask": "mask of new files' rights"}
_LIMITS = {name: number for name, number in vars(resource).items() if name.startswith("RLIMIT_")}
_STANDARD = (0, 1, 2)
_TOLD = 80  # characters of what something was and is


class Surroundings:
    """What the process is like in the moment in which it is made; files: descriptors that are not the candidate's."""

    def __init__(self, files: Sequence[int] = ()) -> None:
        self._files = (*_STANDARD, *files)
        self._held = {**_of_a_program(), **self._of_a_call()}

    def open(self) -> None:
        """Note that the candidate was opened, which may have changed what a call may not."""
        self._held |= self._of_a_call()

    def changed(self) -> Iterator[str]:
        """Yield a phrase for each that is no longer as it was."""
        for name, now in {**_of_a_program(), **self._of_a_call()}.items():
            if now != self._held[name]:
                before, after = _apart(self._held[name], now)
                yield f"the {name}, from {before} to {after}"

    def _of_a_call(self) -> dict[str, Sequence[str]]:
        return {
            "handling of subnormal numbers": [_subnormals()],
            "environment": sorted(variable.decode(errors="replace") for variable in environment()),
            "descriptors": [_file(number) for number in self._files],
            "limits": [f"{name} {resource.getrlimit(number)}" for name, number in _LIMITS.items()],
            "processes that it has started": _started(),
            **_status(),
        }


def _of_a_program() -> dict[str, Sequence[str]]:
    return {
        "working directory": [_directory()],
        "locale": [locale.setlocale(locale.LC_ALL)],
        "rounding mode": [str(of_process("fegetround", ())())],
    }


def _apart(before: Sequence[str], now: Sequence[str]) -> tuple[str, str]:
    """Both, without what they have in common."""
    gone = [each for each in before if each not in now]
    new = [each for each in now if each not in before]
    return _brief(gone), _brief(new)


def _brief(parts: Sequence[str]) -> str:
    text = ", ".join(parts) or "none"
    return text if len(text) <= _TOLD else f"{text[:_TOLD]}..."


def _directory() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return "one that was removed"


def _subnormals() -> str:
    """A processor can be told to take numbers below the least normal one for zero."""
    number = float.fromhex("0x1p-1022")
    for _ in range(2):  # not folded where this is compiled
        number *= 0.5
    return "kept" if number else "taken for zero"


def _file(number: int) -> str:
    try:
        status = os.fstat(number)
    except OSError:
        return f"{number} closed"
    return f"{number} of device {status.st_dev}, file {status.st_ino}"


def _status() -> dict[str, Sequence[str]]:
    try:
        lines = _STATUS.read_text(errors="replace").splitlines()
    except OSError:
        return {}
    told = dict(line.split(":", 1) for line in lines if ":" in line)
    return {name: [told[key].strip()] for key, name in _MASKS.items() if key in told}


def _started() -> list[str]:
    """How many are below this one, and beside it: what outlives its parent becomes its keeper's."""
    if not _STATUS.exists():
        return []
    if _SELF.resolve().name != str(os.getpid()):  # another namespace's /proc, which numbers them otherwise
        return []
    beside = len(list(descendants(str(os.getppid())))) - 1  # without this one, those below included
    return [str(beside)] if beside > 0 else []
