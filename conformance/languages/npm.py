"""What compiles a port in TypeScript: npm fetches it once, and it is kept beside the builds."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from bindings.places import builds

_SECONDS = 180
# Nothing of a package runs while it is installed; a machine without a network is told so at once.
_INSTALL = ("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--fetch-retries=0")


class FetchError(RuntimeError):
    """npm could not fetch what a package.json names; the message holds the first error that it said."""


def fetched(package: Path) -> Path:
    """The folder node_modules with what this package.json pins, filled if it is not there.  Raises FetchError."""
    content = package.read_bytes()
    kept = builds() / "languages" / f"npm-{hashlib.sha256(content).hexdigest()[:12]}"
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as made:
            Path(made, package.name).write_bytes(content)
            _install(Path(made))
            _keep(Path(made, "node_modules"), kept)
    return kept / "node_modules"


def _install(folder: Path) -> None:
    try:
        done = subprocess.run(_INSTALL, cwd=folder, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FetchError(f"npm: {error}") from None
    if done.returncode:
        lines = (line for line in done.stderr.splitlines() if line.strip() and not line.startswith("npm warn"))
        raise FetchError(f"npm cannot fetch it: {next(lines, f'exit code {done.returncode}')}")


def _keep(modules: Path, kept: Path) -> None:
    """Whole or not at all, whoever else does the same meanwhile."""
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        whole = Path(folder, "whole")
        whole.mkdir()
        shutil.move(modules, whole / "node_modules")
        try:
            whole.rename(kept)
        except OSError:
            if not kept.is_dir():
                raise
