"""Runs a command as on a machine that lacks restrictions: `without.py namespaces,landlock COMMAND ...`.

An older kernel has no Landlock; in a container, and where Ubuntu's settings say so, nobody can leave namespaces.
"""

from __future__ import annotations

import errno
import os
import sys

from conformance.candidates.sandbox import capabilities, seccomp
from conformance.candidates.sandbox.seccomp import Check

_UNSHARE, _LANDLOCK = (272, 97), (444, 444)  # on x86-64, on aarch64
_LACKING = {
    "namespaces": [Check(_UNSHARE), Check(seccomp.CLONE, bits=seccomp.NEW_NAMESPACES)],
    "landlock": [Check(_LANDLOCK, code=errno.ENOSYS)],
}


def main() -> None:
    lacking, *command = sys.argv[1:]
    capabilities.gain_no_more()
    seccomp.install([check for name in lacking.split(",") for check in _LACKING[name]])
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
