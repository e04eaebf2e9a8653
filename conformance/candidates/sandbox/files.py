"""Which files a candidate's process may read: the system's, Python's, its own; not the reader's, nor what judges it."""

from __future__ import annotations

import functools
import os
import site
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance.paths import CACHE, GOLDEN, ROOT

from .landlock import EVERYTHING, READ, READ_DIR, READ_FILE, WRITE_FILE, Rule

PREPARED = CACHE / "prepared"  # expectations, kept between runs
_CLOSED = (GOLDEN, PREPARED)
_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix/store", "/gnu/store", "/sys", "/proc")
_CONFIGURATION = (  # below /etc
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "timezone",
    "nsswitch.conf",
    "passwd",
    "group",
    "hosts",
    "mime.types",
    "locale.alias",
    "default/locale",
    "alternatives",
    "OpenCL",
    "vulkan",
    f"python{sys.version_info.major}",
    f"python{sys.version_info.major}.{sys.version_info.minor}",
    "ssl/openssl.cnf",
    "ssl/certs",
    "crypto-policies",
    "os-release",
)
_STREAMS = "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"
_DEVICES = "nvidia*", "dri", "kfd", "accel", "dxg", "infiniband"  # below /dev
_DRIVERS = "/run/nvidia-persistenced", "/run/nvidia-topologyd", "/run/opengl-driver", "/var/lib/dcgm-exporter"
READABLE = "ASSAYER_READABLE"
_NAMED = "LD_LIBRARY_PATH", "LD_PRELOAD", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", READABLE
SHARED_MEMORY = "/dev/shm"  # a folder of memory


def rules(candidate: Path, root: Path | None = None, readable: str = "") -> list[Rule]:
    """Return what the process of a candidate may do with files; root: where a module's imports are looked for.

    readable: more folders, separated as in ASSAYER_READABLE.
    """
    read = [*_SYSTEM, *_DRIVERS, *(f"/etc/{name}" for name in _CONFIGURATION)]
    own = [candidate.parent, candidate.resolve().parent, *([root] if root else [])]
    found = [Rule(path, READ) for path in read]
    found += [Rule(path, READ_FILE | WRITE_FILE) for path in _STREAMS]
    found += [Rule(str(path), EVERYTHING) for name in _DEVICES for path in Path("/dev").glob(name)]
    found += [Rule(SHARED_MEMORY, EVERYTHING), Rule("/dev", READ_DIR), *_of_python()]
    more = [Path(place) for place in readable.split(os.pathsep) if place]
    for folder in dict.fromkeys([*own, *_from_variables(), *more]):
        found += _within(folder)
    return [*dict.fromkeys(found), Rule(str(candidate), READ_FILE), Rule(str(candidate.resolve()), READ_FILE)]


@functools.cache
def _of_python() -> tuple[Rule, ...]:
    """Python, its packages, and this project's code."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values()}
    places = [*prefixes, str(Path(sys.executable).resolve().parents[1]), *site.getsitepackages(), *sys.path]
    return tuple(rule for place in dict.fromkeys([*places, str(ROOT)]) if place for rule in _within(Path(place)))


def _from_variables() -> Iterator[Path]:
    """The folders and files that variables name for the linker, for CUDA, and by ASSAYER_READABLE."""
    for name in _NAMED:
        for place in os.environ.get(name, "").split(os.pathsep):
            if place:
                yield Path(place)


def _within(folder: Path) -> Iterator[Rule]:
    """A folder and all that lies beneath, but for what is closed; of one that holds everything, the files alone."""
    folder = folder.absolute()
    if any(_is_in(folder, closed) for closed in _CLOSED):
        return
    if any(_is_in(wide, folder) for wide in _wide()):
        yield Rule(str(folder), READ_DIR)
        yield from (Rule(str(path), READ_FILE) for path in _listed(folder) if path.is_file())
    elif any(_is_in(closed, folder) for closed in _CLOSED):
        yield Rule(str(folder), READ_DIR)
        for path in _listed(folder):
            yield from _within(path) if path.is_dir() else [Rule(str(path), READ)]
    else:
        yield Rule(str(folder), READ)


@functools.cache
def _wide() -> tuple[Path, ...]:
    """Folders in which others' things lie: beneath them a candidate reads what is its own, never all."""
    return Path.home(), Path(tempfile.gettempdir()), CACHE


def _is_in(path: Path, folder: Path) -> bool:
    return folder in (path, *path.parents) or folder.resolve() in (path.resolve(), *path.resolve().parents)


def _listed(folder: Path) -> Iterable[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
