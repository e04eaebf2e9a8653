"""Namespaces (Linux): a process sees no network, no processes but its own, and has folders that vanish with it.

A machine may refuse them: containers do, and Ubuntu does to whoever is not root.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Collection
from pathlib import Path

from .system import MACHINE, call

USER, PROCESSES, NETWORK, IPC, MOUNTS = 0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x00020000  # <linux/sched.h>
NAMES = {USER: "user", PROCESSES: "processes", NETWORK: "network", IPC: "ipc", MOUNTS: "mounts"}
_PRIVATE, _RECURSIVE = 1 << 18, 1 << 14  # <linux/mount.h>
_NO_SUID, _NO_DEVICES = 2, 4
SHARED_MEMORY = "/dev/shm"  # a folder of memory
_SIZE = b"size=1g,nr_inodes=65536,mode=1777"
_CLONE = {"x86_64": 56, "aarch64": 220}


def leave() -> Collection[str]:
    """Leave the network, shared memory and mounts of the machine, for ever; return the names of those left.

    A user namespace comes first, which lets anybody leave the others; in it the user is the one that he was.
    """
    user, group = os.getuid(), os.getgid()
    left = []
    with contextlib.suppress(OSError):
        call("unshare", USER)
        left.append(NAMES[USER])
        _write("setgroups", "deny")
        _write("uid_map", f"{user} {user} 1")
        _write("gid_map", f"{group} {group} 1")
    for kind in (NETWORK, IPC, MOUNTS):
        with contextlib.suppress(OSError):
            call("unshare", kind)
            left.append(NAMES[kind])
            if kind == MOUNTS:  # what is mounted from now on, is so for nobody else
                call("mount", b"none\0", b"/\0", None, _PRIVATE | _RECURSIVE, None)
    return left


def _write(name: str, text: str) -> None:
    Path("/proc/self", name).write_text(text, encoding="ascii")


def fork_first(mounts: bool) -> tuple[int, bool]:
    """Fork; the child is the first process of a namespace of its own, where that can be: all others end with it.

    mounts: whether it gets mounts of its own.  Returns what fork returns, and whether it is so.
    """
    try:
        flags = PROCESSES | (MOUNTS if mounts else 0) | signal.SIGCHLD
        return call("syscall", _CLONE[MACHINE], flags, 0, 0, 0, 0), True
    except (OSError, KeyError):
        return os.fork(), False


def own_folders(scratch: str) -> bool:
    """Put folders of this process's own in place of the machine's: to write to, of shared memory, of processes.

    Returns whether that could be done.  They are bounded, and gone with the last process that sees them.
    """
    try:
        for folder in (scratch, SHARED_MEMORY):
            call("mount", b"tmpfs\0", folder.encode() + b"\0", b"tmpfs\0", _NO_SUID | _NO_DEVICES, _SIZE + b"\0")
    except OSError:
        return False
    with contextlib.suppress(OSError):  # where a container has covered parts of it, a new one is refused
        call("mount", b"proc\0", b"/proc\0", b"proc\0", _NO_SUID | _NO_DEVICES, None)
    return True
