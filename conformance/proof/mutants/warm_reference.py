"""The judge's handle on the process that has the reference loaded (warm.py)."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from bindings.places import module
from conformance.paths import ROOT


class BrokenError(RuntimeError):
    """What is asked of mutants fails without one, so that it would kill them all."""


class WarmReference:
    """A process that judges mutants in copies of itself; it ends with this object.

    tests: what pytest collects.  Raises BrokenError where a check fails without a mutant.
    """

    def __init__(self, tests: Sequence[str]) -> None:
        ours, theirs = socket.socketpair()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "OPENBLAS_NUM_THREADS": "1"}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module("conformance.proof.mutants.warm"), str(theirs.fileno()), *tests],
                cwd=ROOT,
                env=environment,
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=subprocess.STDOUT,
            )
        self._link = Connection(ours.detach())
        kind, *why = self._reply()
        if kind != "ready":
            self.close()
            raise BrokenError(f"expected that all passes without a mutant: {' '.join(filter(None, map(str, why)))}")

    def asked(self, file: str, text: str, first: Sequence[str] = ()) -> tuple[str, str] | None:
        """Return what kills a mutant and how, ("", what was asked) where nothing does, None where that is not known.

        file: of the reference, below its folder.  text: the mutated file.  first: checks that are asked first.
        """
        self._link.send((file, text, tuple(first)))
        kind, *rest = self._reply()
        if kind == "cold":
            return None
        by, said = rest if kind == "killed" else ("", f"{rest[0]} goldens and tests")
        return by, said

    def _reply(self) -> tuple[Any, ...]:
        try:
            reply: tuple[Any, ...] = self._link.recv()
        except EOFError:
            self._said.seek(0)
            said = self._said.read().decode(errors="replace").strip().splitlines()
            raise BrokenError(f"the process that has the reference loaded has ended: {' '.join(said[-3:])}") from None
        return reply

    def close(self) -> None:
        """End the process."""
        self._link.close()
        self._process.wait()
        self._said.close()

    def __del__(self) -> None:
        if self._process.returncode is None:
            self.close()
