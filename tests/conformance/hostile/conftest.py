"""What hostile candidates aim at, and what has to be untouched behind each of them."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance import paths
from conformance.candidates.sandbox.files import PREPARED
from conformance.candidates.worker import process
from tests.compiler import compile_library

SOURCE = Path(__file__).with_name("hostile.c").read_text(encoding="utf-8")
_WAYS = SOURCE[SOURCE.index("enum way {") + 10 : SOURCE.index("};", SOURCE.index("enum way {"))]
_NAMES = ",".join(line for line in _WAYS.splitlines() if "/*" not in line).split(",")
WAY = {name: place for place, name in enumerate(name.strip().lower() for name in _NAMES if name.strip())}
_MARK = "HOSTILE_MARK"


@dataclass(frozen=True)
class Aims:
    """Variables that say what is aimed at, and the files among it, with what they hold."""

    variables: Mapping[str, str]
    files: Mapping[Path, bytes]
    absent: tuple[Path, ...]

    def are_untouched(self) -> bool:
        return all(path.read_bytes() == held for path, held in self.files.items()) and not any(
            path.is_symlink() or path.exists() for path in self.absent
        )

    def processes(self) -> set[int]:
        """All processes that have the mark in their environment, but the one that others are copies of."""
        found = set()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if self.variables[_MARK].encode() in (folder / "environ").read_bytes():
                    found.add(int(folder.name))
            except OSError:
                continue
        return found


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_library(SOURCE, tmp_path_factory.mktemp("hostile"), "hostile", "-pthread", "-lm")


@pytest.fixture(scope="session")
def listening(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """A TCP port and a local socket that anybody may connect to."""
    place = tmp_path_factory.mktemp("listening") / "socket"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(place))
        local.listen()
        yield server.getsockname()[1], place


@pytest.fixture(scope="session")
def aims(tmp_path_factory: pytest.TempPathFactory, listening: tuple[int, Path]) -> Aims:
    golden = min(paths.GOLDEN.rglob("*.safetensors"))
    source = Path(process.__file__)
    PREPARED.mkdir(parents=True, exist_ok=True)
    kept, private = PREPARED / "kept", tmp_path_factory.mktemp("home") / "private"
    for path in (kept, private):
        path.write_bytes(b"secret")
    absent = (
        Path(os.__file__).parent / "site-packages" / "hostile.pth",
        source.parent / "__pycache__" / "hostile.pyc",
        Path.cwd() / "hostile-report.html",
        Path("/dev/shm/hostile"),
        Path.cwd() / "pwned-by-a-candidate",
    )
    variables = {
        "JUDGE": str(os.getpid()),
        "GOLDEN": str(golden),
        "SOURCE": str(source),
        "CACHE": str(kept),
        "PRIVATE": str(private),
        "PTH": str(absent[0]),
        "PYCACHE": str(absent[1]),
        "PLACE": str(absent[2]),
        "PORT": str(listening[0]),
        "SOCKET": str(listening[1]),
        "ADDRESS": hex(id(golden)),
        "MARK": secrets.token_hex(8),
    }
    held = {path: path.read_bytes() for path in (golden, source, kept, private)}
    return Aims({f"HOSTILE_{name}": value for name, value in variables.items()}, held, absent)


@pytest.fixture(autouse=True)
def _unharmed(aims: Aims) -> Iterator[None]:
    yield
    assert aims.are_untouched()
