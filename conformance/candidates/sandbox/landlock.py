"""Landlock (Linux 5.13): a process gives up all files but those beneath some paths, and more in newer kernels.

The kernel's headers <linux/landlock.h> and <linux/prctl.h> give the numbers.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable
from typing import NamedTuple

from .system import IS_LINUX, address_of, call

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # alike on every machine
_VERSION, _PATH_BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL
_ALL = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}  # rights to files, by version
READ = EXECUTE | READ_FILE | READ_DIR
EVERYTHING = (1 << 16) - 1
_BIND_OR_CONNECT, _NETWORK_SINCE = 3, 4
_SIGNALS_AND_ABSTRACT_SOCKETS, SCOPES_SINCE = 3, 6


class Rule(NamedTuple):
    """What may be done with a file, or with all that lies beneath a folder."""

    path: str
    rights: int


def version() -> int:
    """Return the version that this kernel has, 0 where it has none."""
    if not IS_LINUX:
        return 0
    try:
        return call("syscall", _CREATE_RULESET, None, 0, _VERSION)
    except OSError:
        return 0


def restrict(rules: Iterable[Rule]) -> int:
    """Give up every file that no rule allows, for ever; return the version by which.  Raises OSError.

    PR_SET_NO_NEW_PRIVS has to be set.  Of paths that are not there nothing is allowed.  A restricted process can
    neither trace nor read the memory of one that is less so.  From version 4 on it reaches no TCP port, from 6 on no
    process outside by signals or abstract sockets.
    """
    known = version()
    if not known:
        raise OSError("no Landlock")
    handled = _ALL[max(since for since in _ALL if since <= known)]
    attributes = struct.pack(
        "=QQQ",
        handled,
        _BIND_OR_CONNECT if known >= _NETWORK_SINCE else 0,
        _SIGNALS_AND_ABSTRACT_SOCKETS if known >= SCOPES_SINCE else 0,
    )
    size = 24 if known >= SCOPES_SINCE else 16 if known >= _NETWORK_SINCE else 8
    ruleset = call("syscall", _CREATE_RULESET, attributes, size, 0)
    try:
        for rule in rules:
            _allow(ruleset, rule, handled)
        call("syscall", _RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return known


def _allow(ruleset: int, rule: Rule, handled: int) -> None:
    try:
        file = os.open(rule.path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        is_folder = stat.S_ISDIR(os.fstat(file).st_mode)
        rights = rule.rights & handled & (handled if is_folder else _OF_A_FILE)
        beneath = struct.pack("=Qi", rights, file)
        call("syscall", _ADD_RULE, ruleset, _PATH_BENEATH, address_of(beneath), 0)
    finally:
        os.close(file)
