"""What a figure depends on beside the code: the lines that stand above every table."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMPILERS = re.compile(rb"GCC: \([^)\0]*\) [\d.]+|(?:[A-Za-z]+ )?clang version [\d.]+")
BUSY = 0.05  # cores: what a machine at rest spends on itself


def header(library: Path | None = None, packages: tuple[str, ...] = ("numpy",)) -> list[str]:
    """Return lines on processor, threads, versions, the library's compiler, date, commit and other programs' load."""
    versions = [f"Python {platform.python_version()}", *map(package_version, packages)]
    if library:
        versions.append(f"{library.name} by {compiler(library)}")
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    lines = [
        f"{processor()}, {os.cpu_count()} cores; OMP_NUM_THREADS {os.environ.get('OMP_NUM_THREADS', 'not set')}",
        ", ".join(versions),
        f"{now}, commit {commit(ROOT)}",
    ]
    if (busy := cores_in_use()) > BUSY:
        lines.append(f"other programs keep {busy:.2f} cores busy")
    return lines


def package_version(package: str) -> str:
    """Return the name and version of an installed package; that it is not installed, otherwise."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"


def compiler(library: Path) -> str:
    """Return what compiled a library, as the compiler notes in it (ELF's .comment section)."""
    found = COMPILERS.search(library.read_bytes())
    return found.group().decode() if found else "an unknown compiler"


def processor() -> str:
    """Return the processor's name, where the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.+)$", cpuinfo.read_text(), re.MULTILINE) if cpuinfo.exists() else []
    return str(names[0]) if names else platform.processor() or platform.machine()


def commit(checkout: Path) -> str:
    """Return the commit of a checkout, `-dirty` where files differ from it."""
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def cores_in_use(seconds: float = 0.5) -> float:
    """Return how many cores are busy while this process sleeps; 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0.0
    before = _busy_ticks()
    time.sleep(seconds)
    return (_busy_ticks() - before) / (os.sysconf("SC_CLK_TCK") * seconds)


def _busy_ticks() -> int:
    """Ticks that all cores have worked so far (proc_stat(5): user, nice, system)."""
    return sum(map(int, Path("/proc/stat").read_text().split()[1:4]))
