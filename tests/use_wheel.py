"""Installs the project's wheel in an environment of its own and uses its command in an empty folder.

    python tests/use_wheel.py FOLDER [--constraint FILE]

FOLDER holds the wheel, and is where environment, cache and working folder are made.  Ends with exit code 1 at the first
thing that is not as a user must find it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

PACKAGES = {"reference", "bindings", "training", "graph", "sequential", "tensors", "conformance"}
IMPORTS = """
import assayer.training, training
from assayer.bindings import Library, read_header
assert training.MINE, "the user's own package of that name is not the user's any more"
assert Library({library!r}).facts is not None and read_header().operations
"""


class Installation:
    """The wheel in a fresh environment, used from an empty folder."""

    def __init__(self, folder: Path, constraint: Path) -> None:
        self.environment, self.home = folder / "environment", folder / "empty"
        for old in (self.environment, self.home, folder / "cache"):
            shutil.rmtree(old, ignore_errors=True)
        self.home.mkdir()
        venv.create(self.environment, with_pip=True)
        # Nothing of the caller's is found: no variable of Python's, and no program beside those of the system.
        self.variables = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ASSAYER"))
        }
        self.variables["XDG_CACHE_HOME"] = str(folder / "cache")
        [wheel] = folder.glob("*.whl")
        self.said("pip", "install", "--quiet", "--constraint", str(constraint), f"{wheel}[build]")
        self.installed = self.files()

    @property
    def site_packages(self) -> Path:
        [found] = self.environment.glob("lib/python*/site-packages")
        return found

    def files(self) -> set[Path]:
        """What lies in site-packages, but for what Python itself keeps there."""
        found = self.site_packages.rglob("*")
        return {path for path in found if path.is_file() and path.suffix != ".pyc"}

    def said(self, program: str, *words: str, code: int = 0, within: str = "") -> str:
        """Run a program of the environment, print and return its output; another exit code ends it all.

        within: a folder of the working folder to run it in.
        """
        print("$", program, *words, flush=True)
        command = [str(self.environment / "bin" / program), *words]
        done = subprocess.run(
            command,
            cwd=self.home / within,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        right = done.returncode == code
        print(done.stdout[-300 if right else 0 :], flush=True)
        expect(right, f"exit code {code} of {program}, got {done.returncode}")
        return done.stdout

    def pretend_clone(self, folder: str) -> None:
        """Make a folder with a package of the installed one's name, as a clone has, and little in it."""
        package = self.home / folder / "assayer"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("", encoding="utf-8")


def expect(holds: bool, what: str) -> None:
    """End the program where something does not hold."""
    if not holds:
        sys.exit(f"expected {what}")


def use(installation: Installation) -> None:
    """Do what a user does."""
    expect(not PACKAGES & {path.name for path in installation.site_packages.iterdir()}, "no package but assayer")
    ids = installation.said("assayer", "list", "-k", "silu").split()
    expect(len(ids) > 40, f"cases of silu, got {len(ids)}")
    expect("catches" in installation.said("assayer", "explain", ids[0]), "what a case catches")
    golden = min((installation.site_packages / "assayer" / "golden" / "silu").rglob("*.safetensors"))
    installation.said("assayer", "inspect", str(golden))
    library = installation.said("assayer", "build", "stub").splitlines()[-1]
    expect(
        Path(library).is_relative_to(installation.variables["XDG_CACHE_HOME"]), f"a build in the cache, got {library}"
    )
    judged = installation.said("assayer", "run", "--library", library, "-k", "silu and plain or steps/resident")
    expect("conforms as far as it was judged" in judged, "a verdict")
    installation.pretend_clone("clone")
    beside = installation.said("assayer", "run", "--library", library, "-k", "silu/plain", within="clone")
    expect("conforms as far as it was judged" in beside, "a verdict in a clone, whose package is not what is installed")
    failed = installation.said("assayer", "run", "--library", library, "--case", "no/such/case", code=2)
    expect("`assayer list` shows all" in failed, "the command by the name that was typed")
    installation.said("assayer", "new", "--kind", "cuda", "mine")
    sources = ("--cuda", "mine/rmsnorm.cu", "--map", "mine/rmsnorm.toml", "--exported")
    kernels = installation.said("assayer", "run", *sources, "-k", "rmsnorm/plain")
    expect("rmsnorm.cu (forward, reverse, random) conforms as far as it was judged" in kernels, "a verdict on kernels")
    (installation.home / "training.py").write_text("MINE = True\n", encoding="utf-8")
    installation.said("python", "-c", IMPORTS.format(library=library))
    installation.said("python", "-m", "assayer.training.memory", "--config", "tiny")
    expect(installation.files() == installation.installed, "nothing written into site-packages")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--constraint", type=Path, required=True)
    options = parser.parse_args()
    use(Installation(options.folder.resolve(), options.constraint.resolve()))


if __name__ == "__main__":
    main()
