"""Seccomp: calls of the kernel that are refused to a candidate's process, whatever other walls there are.

<linux/seccomp.h>, <linux/filter.h> and the tables of system calls give the numbers.  What is refused returns EPERM.
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .system import MACHINE, address_of, control

_PR_SET_SECCOMP, _FILTER = 22, 2
_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000  # x86-64: another table of calls begins here
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT, _ARGUMENT = 0, 4, 16, 8
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
NEW_NAMESPACES = 0x7E020000  # CLONE_NEW* of <linux/sched.h>

# name: its number on x86-64 and on aarch64.
_REFUSED = {
    # others' memory and descriptors
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "perf_event_open": (298, 241),
    # the network, and what reaches it otherwise
    "connect": (42, 203),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # walls
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    # the machine
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
}
# Where other processes are in sight: calls on a process that may be on this one alone, by the first argument.
_ON_A_PROCESS = {
    "kill": (62, 129),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "prlimit64": (302, 261),
    "pidfd_open": (434, 434),
}
_BY_THREAD = {"tkill": (200, 130)}  # refused where others are in sight: no library has used it for twenty years
CLONE, _CLONE3 = (56, 220), (435, 435)
_SOCKET, _UNIX, _NO_STREAM = (41, 198), 1, 2  # AF_UNIX; a bit of the types that are sent from without connecting


class Check(NamedTuple):
    """A call that is refused: its numbers on x86-64 and on aarch64, and what it returns.

    bits: only where the first argument has one of them.  own: only where that is neither 0 nor this number.
    streams: not where it is this family, and the second argument a type that has to be connected.
    """

    numbers: tuple[int, int]
    code: int = errno.EPERM
    bits: int = 0
    own: int = 0
    streams: int = 0


def restrict(sees_others: bool) -> None:
    """Refuse the calls to this process, for ever.  Raises OSError.

    PR_SET_NO_NEW_PRIVS has to be set.  sees_others: whether signals would reach processes outside.
    """
    checks = [Check(numbers) for numbers in _REFUSED.values()]
    checks.append(Check(_SOCKET, streams=_UNIX))  # CUDA's driver makes one at its start, and connects it to nothing
    checks.append(Check(_CLONE3, errno.ENOSYS))  # its flags lie in memory; C's library takes clone instead
    checks.append(Check(CLONE, bits=NEW_NAMESPACES))
    if sees_others:
        checks += [Check(numbers) for numbers in _BY_THREAD.values()]
        checks += [Check(numbers, own=os.getpid()) for numbers in _ON_A_PROCESS.values()]
    install(checks)


def install(checks: Sequence[Check]) -> None:
    """Refuse these calls to this process, for ever.  Raises OSError."""
    if MACHINE not in _ARCH:
        raise OSError(f"no table of system calls of {MACHINE}")
    filter = b"".join(_filter(checks))
    program = struct.pack("@HxxxxxxQ", len(filter) // 8, address_of(filter))
    control(_PR_SET_SECCOMP, _FILTER, address_of(program))


def _filter(checks: Sequence[Check]) -> Iterator[bytes]:
    yield _load(_ARCH_AT)
    yield _instruction(_EQUAL, _ARCH[MACHINE], 1, 0)
    yield _refuse()
    yield _load(_NUMBER_AT)
    if MACHINE == "x86_64":
        yield _instruction(_AT_LEAST, _X32, 0, 1)
        yield _refuse()
    for check in checks:
        inner = [*_of_argument(check), _refuse(check.code)]
        if len(inner) > 1:  # the number is no longer at hand
            inner.append(_instruction(_RETURN, _ALLOW))
        yield _instruction(_EQUAL, check.numbers[list(_ARCH).index(MACHINE)], 0, len(inner))
        yield from inner
    yield _instruction(_RETURN, _ALLOW)


def _of_argument(check: Check) -> Iterator[bytes]:
    """Instructions that skip the refusal which follows them, by the lower halves of arguments."""
    if check.streams:
        yield _load(_ARGUMENTS_AT)
        yield _instruction(_EQUAL, check.streams, 0, 2)
        yield _load(_ARGUMENTS_AT + _ARGUMENT)
        yield _instruction(_ANY_BIT, _NO_STREAM, 0, 1)
    elif check.bits:
        yield _load(_ARGUMENTS_AT)
        yield _instruction(_ANY_BIT, check.bits, 0, 1)
    elif check.own:
        yield _load(_ARGUMENTS_AT)
        yield _instruction(_EQUAL, 0, 2, 0)
        yield _instruction(_EQUAL, check.own, 1, 0)


def _refuse(code: int = errno.EPERM) -> bytes:
    return _instruction(_RETURN, _REFUSE | code)


def _load(offset: int) -> bytes:
    return _instruction(_LOAD, offset)


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """struct sock_filter: where a comparison holds, skip so many instructions, else so many."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
