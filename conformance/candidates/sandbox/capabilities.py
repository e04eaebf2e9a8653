"""What root may do beyond others, given up: to read others' memory, to signal everybody, to mount, to load modules."""

from __future__ import annotations

import contextlib
import os
import struct

from .system import call, control

_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL = 24, 38, 47, 4  # <linux/prctl.h>
_VERSION_3 = 0x20080522  # <linux/capability.h>
_LAST = 63


def gain_no_more() -> None:
    """No program that the process starts gives it rights that it has not, as those with set-user-ID do."""
    control(_PR_SET_NO_NEW_PRIVS, 1)


def drop() -> None:
    """Give up all capabilities, for ever.  Raises OSError."""
    for number in range(_LAST + 1):
        try:
            control(_PR_CAPBSET_DROP, number)
        except OSError:  # beyond the last, or not root's to drop
            break
    with contextlib.suppress(OSError):
        control(_PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
    header, none = struct.pack("=Ii", _VERSION_3, 0), bytes(24)
    call("capset", header, none)


def any_left() -> bool:
    """Whether the process has a capability."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:  # noqa: PTH123
        held = dict(line.split(":", 1) for line in status)
    return os.name == "posix" and int(held.get("CapPrm", "0"), 16) != 0
