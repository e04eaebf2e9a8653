"""Folders for a while that outlive nobody: in the machine's folder for such, where they would pile up.

Whoever makes one holds a lock on it until it is removed, and so do the copies of its process; the kernel lets go of the
lock when the last of them has ended, however it has.  Folders that nobody holds are removed by whoever makes the next.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import stat
import subprocess
import tempfile
from pathlib import Path

_PREFIX = "assayer-held-"


class Scratch:
    """A folder, there until it is closed."""

    def __init__(self) -> None:
        remove_left()
        self.path, self._lock = _made()

    def close(self) -> None:
        """Remove the folder with all that is in it; a second time does nothing."""
        if self._lock >= 0:
            _remove(self.path)
            os.close(self._lock)
            self._lock = -1


@functools.cache
def remove_left() -> None:
    """Remove the folders whose makers have ended, once in each process."""
    remove_unheld()


def remove_unheld() -> None:
    """Remove this user's folders that no process holds."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            found = path.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
                continue
            path.chmod(stat.S_IRWXU)  # it may have been closed to reading
            if (lock := _locked(path)) is not None:
                _remove(path)
                os.close(lock)


def _made() -> tuple[Path, int]:
    """A new folder and the lock on it; another process may have taken one without a lock for left behind."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        with contextlib.suppress(FileNotFoundError):
            if (lock := _locked(path)) is not None:
                return path, lock


def _locked(path: Path) -> int | None:
    """The lock on a folder that stands under its name; None where another process holds it.  Raises OSError."""
    file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(file), path.lstat()):
            return file
    except BlockingIOError:
        pass
    except BaseException:
        os.close(file)
        raise
    os.close(file)
    return None


def _remove(path: Path) -> None:
    """Remove a folder, whatever was left there: nested deeper than Python can walk, or closed to reading."""
    with contextlib.suppress(OSError):
        path.rmdir()
        return
    for command in (("chmod", "-R", "u+rwX"), ("rm", "-rf")):
        subprocess.run([*command, "--", path], capture_output=True, check=False)
